import { appendTracks, lockImports, matchMedia, mediaIdsOf, upsertMedia } from '../../db/media-rows.ts'
import type { Sql, Tx } from '../../db/sql.ts'
import { refillQueueLater } from '../../playout/queue/queue.ts'
import { ApiError } from '../../runtime/errors.ts'
import { candidatesOf } from '../../songs/location.ts'
import {
  type ListedSong,
  maxPlaylistBytes,
  type PlaylistFormat,
  playlistTypes,
  renderPlaylist
} from '../../songs/playlist-file.ts'
import { remoteSong } from '../../songs/remote-list.ts'
import type { ImportedSong } from '../../songs/song.ts'
import { redactedLocation } from '../../webhooks/redact.ts'
import { maySeeWholeAddresses } from '../auth/access.ts'
import { recordAudit } from '../core/audit.ts'
import { attachment } from '../core/csv.ts'
import { parseId } from '../core/parse.ts'
import { type ApiRoute, json, stationOf } from '../core/route.ts'
import { mediaFolderOf } from '../library/media-folder.ts'
import { parseWanted, type Wanted, wantedSchema } from './playlist-entries.ts'

/** What became of one entry: the id of the song in the playlist, null where there is none. */
interface ImportResult {
  readonly path: string
  readonly match: number | null
}

const insertAtOnce = 1_000

/** What programs call M3U and PLS files. */
const importTypes = [
  ...Object.values(playlistTypes),
  'audio/mpegurl',
  'application/x-mpegurl',
  'application/vnd.apple.mpegurl',
  'text/plain'
]

const importList: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/playlist/:id/import',
  access: 'manage station media',
  textTypes: importTypes,
  maxBodyBytes: maxPlaylistBytes,
  operation: {
    id: 'importPlaylist',
    tag: 'Playlists',
    summary:
      'Append the songs that an M3U, M3U8, PLS or JSON list names; addresses are registered, not fetched',
    body: wantedSchema,
    answer: { $ref: '#/components/schemas/PlaylistImport' }
  },
  async handle(request, services) {
    const station = stationOf(request)
    const playlistId = parseId(request.params['id'])
    const wanted = parseWanted(request.body)
    // Without the station's row, so that a long list does not hold the engine up.
    const results = await services.sql.begin(async tx => {
      await lockImports(tx, station.id)
      const [playlist] = await tx`
        select from playlists where id = ${playlistId} and station_id = ${station.id} for key share`
      if (!playlist) throw new ApiError('not-found')
      const matched = await match(tx, station.id, wanted, services.config.DATA_DIR)
      const ids = new Set(matched.flatMap(({ match: id }) => (id === null ? [] : [id])))
      await appendTracks(tx, playlistId, [...ids])
      await recordAudit(tx, request, { record: 'Playlist', id: playlistId, fields: ['tracks'] })
      return matched
    })
    await refillQueueLater(services, station.id)
    const count = results.filter(({ match: id }) => id !== null).length
    const message = `${count} of ${results.length} entries were matched to songs.`
    return json({ success: true, message, formatted_message: message, import_results: results })
  }
}

async function match(
  tx: Tx,
  stationId: number,
  wanted: readonly Wanted[],
  dataDir: string
): Promise<ImportResult[]> {
  const known = await pathsOf(
    tx,
    stationId,
    wanted.flatMap(each => ('id' in each ? [each.id] : []))
  )
  const folder = await mediaFolderOf(tx, stationId, dataDir)
  const listed = wanted.map(each => candidatesOf('entry' in each ? each.entry.location : '', folder))
  const found = await matchMedia(tx, stationId, listed)
  const missing = new Map<string, ImportedSong>()
  for (const [index, each] of wanted.entries()) {
    const url = listed[index]?.url ?? null
    if (!('entry' in each) || url === null || found[index] !== null || missing.has(url)) continue
    missing.set(url, remoteSong({ ...each.entry, location: url }, undefined))
  }
  const made = await register(tx, stationId, [...missing.values()])
  return wanted.map((each, index) => {
    if ('id' in each)
      return { path: known.get(each.id) ?? String(each.id), match: known.has(each.id) ? each.id : null }
    const url = listed[index]?.url ?? ''
    return { path: each.entry.location, match: found[index] ?? made.get(url) ?? null }
  })
}

async function pathsOf(tx: Tx, stationId: number, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await tx<{ id: number; path: string }[]>`
    select id, path from media
    where station_id = ${stationId} and remote_playlist_id is null and id = any(${[...ids]}::bigint[])`
  return new Map(rows.map(({ id, path }) => [id, path]))
}

/** Makes songs of distinct addresses; gives their ids by address. */
async function register(
  tx: Tx,
  stationId: number,
  songs: readonly ImportedSong[]
): Promise<Map<string, number>> {
  for (let start = 0; start < songs.length; start += insertAtOnce)
    await upsertMedia(tx, stationId, songs.slice(start, start + insertAtOnce))
  const paths = songs.map(({ path }) => path)
  const ids = await mediaIdsOf(tx, stationId, paths)
  return new Map(paths.flatMap((path, index) => (ids[index] === undefined ? [] : [[path, ids[index]]])))
}

const exportList: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/playlist/:id/export/:format',
  access: 'view station management',
  operation: {
    id: 'exportPlaylist',
    tag: 'Playlists',
    summary: 'The songs of a playlist as a file: m3u or pls',
    answer: { type: 'string' },
    contentTypes: ['audio/x-mpegurl', 'audio/x-scpls']
  },
  async handle(request, { reads: sql }) {
    const station = stationOf(request)
    const format = formatOf(request.params['format'])
    const playlistId = parseId(request.params['id'])
    const [playlist] = await sql<{ name: string }[]>`
      select name from playlists where id = ${playlistId} and station_id = ${station.id}`
    if (!playlist) throw new ApiError('not-found')
    const songs = await tracksOf(sql, playlistId)
    const isWhole = maySeeWholeAddresses(request.caller?.key ?? null, 'manage station media', station.id)
    return {
      body: renderPlaylist(
        format,
        isWhole ? songs : songs.map(song => ({ ...song, path: redactedLocation(song.path) }))
      ),
      headers: {
        'Content-Type': playlistTypes[format],
        'Content-Disposition': attachment(`${playlist.name}.${format}`)
      }
    }
  }
}

function formatOf(text: string | undefined): PlaylistFormat {
  if (text === 'm3u' || text === 'pls') return text
  throw new ApiError('not-found')
}

function tracksOf(sql: Sql, playlistId: number): Promise<ListedSong[]> {
  return sql<ListedSong[]>`
    select m.path, m.artist, m.title, m.duration_ms as "durationMs"
    from playlist_tracks t join media m on m.id = t.media_id
    where t.playlist_id = ${playlistId} and m.remote_playlist_id is null order by t.position, t.id`
}

export const playlistFileRoutes = [importList, exportList]
