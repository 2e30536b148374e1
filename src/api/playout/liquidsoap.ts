import { renderAnnotatedUri, renderScript, type ScriptStation } from '../../broadcast/liquidsoap.ts'
import { parseStreamedTitle } from '../../broadcast/streamed-title.ts'
import { notePlayout } from '../../playout/playouts/commands.ts'
import { sendNextSong, type SentSong } from '../../playout/playouts/send-next-song.ts'
import { reportTrack } from '../../playout/plays/report-track.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { ApiError } from '../../runtime/errors.ts'
import { parseId } from '../core/parse.ts'
import { type ApiRoute, json } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'
import { locateSong, findMediaFolder } from '../library/media-folder.ts'
import { idOf, reportedTime, playoutRoutesOf } from './playout-caller.ts'

const text = { type: 'string' }
const ago = 'Seconds since it happened; without it, it happened now.'
const done = { type: 'boolean', const: true }

const nextSong = playoutRoutesOf({
  name: 'nextsong',
  summary: 'The next song for a playout; asked again, the same one',
  body: {
    last: 'The sq_id of the last song it got; empty after a start. A playout that does not send it is guessed at.'
  },
  answer: exactly({
    uri: { type: 'string', description: 'Empty where the next thing is a stream.' },
    sq_id: text,
    stream_url: text,
    stream_seconds: { type: 'string', description: 'How long it is to be played.' },
    stream_buffer: { type: 'string', description: 'Seconds to load ahead.' }
  }),
  errors: [409],
  async handle({ station, body }, services) {
    const { last } = body
    const song = await sendNextSong(services, station.id, last === undefined ? null : (idOf(last) ?? 0))
    if (!song) throw new ApiError('not-found', 'The queue is empty.')
    return json(sentSong(song))
  }
})

function sentSong(song: SentSong) {
  const { queueId, path, durationMs, stream } = song
  return {
    uri: stream ? '' : renderAnnotatedUri(song),
    sq_id: String(queueId),
    stream_url: stream ? path : '',
    stream_seconds: stream ? String(Math.ceil(durationMs / 1000)) : '0',
    stream_buffer: String(stream?.bufferSeconds ?? 0)
  }
}

const feedback = playoutRoutesOf({
  name: 'feedback',
  summary: 'A track has begun',
  body: {
    sq_id: 'What nextsong said of it.',
    media_id: 'The id of a media.',
    playlist_id: 'The id of a playlist.',
    song_id: 'Not read: it follows from artist and title.',
    artist: 'Its artist.',
    title: 'Its title; alone, `Artist - Title`.',
    ago
  },
  answer: done,
  errors: [409],
  async handle({ station, body }, services) {
    const nowMs = engineTimeMs()
    const queueId = idOf(body['sq_id'])
    const { artist, title } = parseStreamedTitle({
      artist: body['artist'] ?? '',
      title: body['title'] ?? ''
    })
    const mediaText = body['media_id'] ?? ''
    const mediaId = idOf(mediaText)
    if (mediaText !== '' && mediaId === null && queueId === null)
      throw problem('media_id', 'is no id of a media.')
    if (queueId === null && mediaId === null && artist === '' && title === '')
      throw problem('title', 'is required where no song is named otherwise.')
    await notePlayout(services.sql, station.id, nowMs)
    await reportTrack(services, station.id, {
      queueId,
      mediaId,
      playlistId: idOf(body['playlist_id']),
      artist,
      title,
      startedAtMs: reportedTime(body['ago'], nowMs),
      isTimed: body['ago'] !== undefined
    })
    return json(true)
  }
})

function problem(field: string, sentence: string): ApiError {
  return ApiError.ofFields([{ field, code: 'required', message: `${field} ${sentence}` }])
}

const mostPath = 4_096
/** A network file system can hang. */
const lookMs = 5_000

const file = playoutRoutesOf({
  name: 'cp',
  summary: 'Where a media of the library lies on this machine',
  body: { uri: 'Its path, as nextsong gave it.' },
  answer: exactly({ uri: text, isTemp: { type: 'boolean', const: false } }),
  async handle({ station, body }, { reads: sql, config }) {
    const path = (body['uri'] ?? '').replace(/^media:/, '').slice(0, mostPath)
    const [media] = await sql`select from media where station_id = ${station.id} and path = ${path}`
    if (!media) throw new ApiError('not-found')
    const folder = await sql.begin(tx => findMediaFolder(tx, station.id, config.DATA_DIR))
    const uri = await withDeadline(lookMs, 'looking for a song', () => locateSong(path, folder, config))
    if (uri !== null) return json({ uri, isTemp: false })
    const message = folder === null ? 'The media of this station are not on this machine.' : undefined
    throw new ApiError('not-found', message)
  }
})

export const liquidsoapRoutes = [...nextSong, ...feedback, ...file]

const script: ApiRoute = {
  method: 'GET',
  path: '/api/admin/station/:id/liquidsoap',
  access: 'administer stations',
  operation: {
    id: 'getLiquidsoapScript',
    tag: 'Playout',
    summary: 'The Liquidsoap script that plays the station; it holds no secret',
    answer: { type: 'string' },
    contentTypes: ['text/plain']
  },
  async handle({ params }, { reads: sql, config }) {
    const [station] = await sql<ScriptStation[]>`
      select s.id, s.name, s.description, s.url, s.crossfade_type as "crossfadeType", s.crossfade::float8 as crossfade,
        s.frontend_url as "frontendUrl", coalesce((
          select jsonb_agg(jsonb_build_object('path', x.name, 'format', x.autodj_format, 'bitrate', x.autodj_bitrate,
            'isListed', x.is_public) order by x.id)
          from hls_streams x where x.station_id = s.id and x.enable_autodj and x.relay_url = ''), '[]') as mounts
      from stations s where s.id = ${parseId(params['id'])}`
    if (!station) throw new ApiError('not-found')
    return {
      body: renderScript(station, config.BASE_URL),
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
    }
  }
}

export const liquidsoapScriptRoutes = [script]
