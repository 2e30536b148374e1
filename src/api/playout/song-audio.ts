import { findMediaFolder, locateSong, toStoredPath } from '../../library/storage/media-folder.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { type ApiRequest, apiRoute, jsonReply } from '../core/route.ts'
import { exactObject, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { audioResponseDescription, sendMediaFile } from '../library/file-content.ts'
import { definePlayoutRoutes, parseRowId } from './playout-caller.ts'
import type { LinkedSong } from './song-links.ts'

/* The audio of songs for playouts: a path on this machine, or a link that needs no key. */

/** A network file system can hang. */
const locateTimeoutMs = 5_000

/** A playout loads a song when it gets the link. */
const linkSeconds = 15 * 60

const locate = definePlayoutRoutes({
  name: 'cp',
  summary:
    'The audio of a song of the library: a path on this machine, or the address of a file that is stored remotely',
  body: {
    uri: 'The path from nextsong.',
    as: '`link`: an address, also for a file on this machine. It is valid for 15 minutes.'
  },
  response: exactObject({ uri: string, isTemp: { type: 'boolean', const: false } }),
  async handle({ station, body, request }, services) {
    const { reads: sql, config } = services
    const path = (body['uri'] ?? '').replace(/^media:/, '')
    const [media] = await sql<{ id: number }[]>`
      select id from media where station_id = ${station.id} and path = ${path}`
    if (!media) throw new ApiError('not-found')
    const folder = await sql.begin(tx => findMediaFolder(tx, station.id, config.DATA_DIR))
    const isLinked = folder === null || body['as'] === 'link'
    if (isLinked && toStoredPath(path, folder) !== null) {
      const until = Math.floor(engineTimeMs() / 1_000) + linkSeconds
      const uri = linkTo({ stationId: station.id, mediaId: media.id, until }, request, services)
      return jsonReply({ uri, isTemp: false })
    }
    const uri = await withDeadline(locateTimeoutMs, 'locating a song', () => locateSong(path, folder, config))
    if (uri === null) throw new ApiError('not-found')
    return jsonReply({ uri, isTemp: false })
  }
})

/** Renders the link to a song. It has the host that the playout called, which may not reach the public one. */
function linkTo(song: LinkedSong, { host }: ApiRequest, { config, songLinks }: ApiServices): string {
  const isPublicAddress = host === '' || host === new URL(config.BASE_URL).host
  const base = isPublicAddress ? config.BASE_URL : `http://${host}`
  const query = new URLSearchParams({ until: String(song.until), signature: songLinks.sign(song) })
  return `${base}/api/internal/${song.stationId}/song/${song.mediaId}?${query.toString()}`
}

/** The number in a link; 0, which is never signed, for anything else. */
const numberOf = (value: string | null | undefined) => parseRowId(value ?? '') ?? 0

const send = apiRoute('GET', '/api/internal/:station_id/song/:id', 'public', {
  id: 'getLinkedSong',
  tag: 'Playout',
  summary:
    'The audio of a song by a link from `cp`; ranges are possible. 404 if the link is invalid or expired',
  query: {
    until: { ...string, description: 'When the link expires, in Unix seconds.' },
    signature: { ...string, description: 'The signature of the link.' }
  },
  ...audioResponseDescription,
  async handle(request, services) {
    const { params, query } = request
    const song = {
      stationId: numberOf(params['station_id']),
      mediaId: numberOf(params['id']),
      until: numberOf(query.get('until'))
    }
    const isValid =
      services.songLinks.isSigned(song, query.get('signature') ?? '') && engineTimeMs() < song.until * 1_000
    if (!isValid) throw new ApiError('not-found')
    const [media] = await services.reads<{ path: string }[]>`
      select m.path from media m join stations s on s.id = m.station_id and s.deleted_at is null
      where m.id = ${song.mediaId} and m.station_id = ${song.stationId} and m.remote_playlist_id is null`
    if (!media) throw new ApiError('not-found')
    return sendMediaFile(request, services, song.stationId, media.path)
  }
})

export const songAudioRoutes = [...locate, send]
