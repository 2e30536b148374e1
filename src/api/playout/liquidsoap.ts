import { recordPlayoutCall } from '../../engine/playouts/commands.ts'
import { sendNextSong, type PlayoutSong } from '../../engine/playouts/send-next-song.ts'
import { recordTrackReport } from '../../engine/plays/report-track.ts'
import { stationFilePath } from '../../library/uploads/station-audio.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import {
  renderAnnotatedUri,
  renderLiquidsoapScript,
  renderStandbyScript,
  type LiquidsoapStation
} from '../../radio/liquidsoap.ts'
import { parseStreamedTitle } from '../../radio/streamed-title.ts'
import { parsePathId } from '../core/parse.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { exactObject, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { openSongUrlGuard } from '../core/url-checks.ts'
import { definePlayoutRoutes, parseReportedTime, parseRowId } from './playout-caller.ts'

const nextSong = definePlayoutRoutes({
  name: 'nextsong',
  summary: 'The next song for a playout; a repeated request returns the same song',
  body: {
    last: 'The sq_id of the last song received; empty after a start. If it is absent, the engine estimates it.'
  },
  response: exactObject({
    uri: { type: 'string', description: 'Empty if the next song is a stream.' },
    sq_id: string,
    stream_url: string,
    stream_seconds: { type: 'string', description: 'Seconds to play.' },
    stream_buffer: { type: 'string', description: 'Seconds to buffer.' }
  }),
  errors: [409],
  async handle({ station, body }, services) {
    const { last } = body
    const lastId = last === undefined ? null : (parseRowId(last) ?? 0)
    const song = await sendNextSong(services, station.id, lastId, openSongUrlGuard(services))
    if (!song) throw new ApiError('not-found', 'The queue is empty.')
    return jsonReply(renderSentSong(song))
  }
})

function renderSentSong(song: PlayoutSong) {
  const { queueId, path, durationMs, stream } = song
  return {
    uri: stream ? '' : renderAnnotatedUri(song),
    sq_id: String(queueId),
    stream_url: stream ? path : '',
    stream_seconds: stream ? String(Math.ceil(durationMs / 1000)) : '0',
    stream_buffer: String(stream?.bufferSeconds ?? 0)
  }
}

const feedback = definePlayoutRoutes({
  name: 'feedback',
  summary: 'Report that a track started',
  body: {
    sq_id: 'The sq_id from nextsong.',
    media_id: 'The id of the song in the library.',
    playlist_id: 'The id of the playlist.',
    song_id: 'Ignored: derived from artist and title.',
    artist: 'The artist.',
    title: 'The title; without an artist, `Artist - Title`.',
    ago: 'Seconds since the start; the default is 0.'
  },
  response: { type: 'boolean', const: true },
  errors: [409],
  async handle({ station, body }, services) {
    const nowMs = engineTimeMs()
    const queueId = parseRowId(body['sq_id'])
    const { artist, title } = parseStreamedTitle({ artist: body['artist'] ?? '', title: body['title'] ?? '' })
    const mediaText = body['media_id'] ?? ''
    const mediaId = parseRowId(mediaText)
    if (mediaText !== '' && mediaId === null && queueId === null)
      refuseField('media_id', 'required', 'is not the id of a song.')
    if (queueId === null && mediaId === null && artist === '' && title === '')
      refuseField('title', 'required', 'is required if the song is not identified otherwise.')
    await recordPlayoutCall(services.sql, station.id, nowMs)
    await recordTrackReport(services, station.id, {
      queueId,
      mediaId,
      playlistId: parseRowId(body['playlist_id']),
      artist,
      title,
      startedAtMs: parseReportedTime(body['ago'], nowMs),
      isTimed: body['ago'] !== undefined
    })
    return jsonReply(true)
  }
})

export const liquidsoapSongRoutes = [...nextSong, ...feedback]

/** Reads the settings of a station's script. Throws 404. */
async function readScriptStation(
  { reads: sql, config }: ApiServices,
  id: number
): Promise<LiquidsoapStation> {
  const [station] = await sql<(Omit<LiquidsoapStation, 'fallbackFile'> & { readonly fallback: string })[]>`
    select s.id, s.fallback_path as fallback, s.name, s.description, s.url, s.live_text as "liveText", s.crossfade_type as "crossfadeType",
      s.crossfade::float8 as crossfade, s.frontend_url as "frontendUrl", coalesce((
        select jsonb_agg(jsonb_build_object('path', x.name, 'format', x.autodj_format, 'bitrate', x.autodj_bitrate,
          'isListed', x.is_public) order by x.id)
        from hls_streams x where x.station_id = s.id and x.enable_autodj and x.relay_url = ''), '[]') as mounts
    from stations s where s.id = ${id}`
  if (!station) throw new ApiError('not-found')
  const { fallback, ...settings } = station
  return { ...settings, fallbackFile: stationFilePath({ config }, id, fallback) }
}

/** Renders the Liquidsoap script of a station. Throws 404. */
export async function renderStationScript(services: ApiServices, id: number): Promise<string> {
  return renderLiquidsoapScript(await readScriptStation(services, id), services.config.BASE_URL)
}

/** A route that renders a script of a station. */
const scriptRoute = (
  path: string,
  doc: { readonly id: string; readonly summary: string },
  render: (station: LiquidsoapStation, baseUrl: string) => string
) =>
  apiRoute('GET', `/api/admin/station/:id/${path}`, 'administer stations', {
    ...doc,
    tag: 'Playout',
    response: { type: 'string' },
    contentTypes: ['text/plain'],
    async handle({ params }, services) {
      const station = await readScriptStation(services, parsePathId(params['id']))
      return {
        body: render(station, services.config.BASE_URL),
        headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
      }
    }
  })

export const liquidsoapScriptRoutes = [
  scriptRoute(
    'liquidsoap',
    { id: 'getLiquidsoapScript', summary: 'The Liquidsoap script of the station, without secrets' },
    renderLiquidsoapScript
  ),
  scriptRoute(
    'liquidsoap/standby',
    {
      id: 'getStandbyScript',
      summary: 'The Liquidsoap script of its standby, which is heard while the other one does not run'
    },
    renderStandbyScript
  )
]
