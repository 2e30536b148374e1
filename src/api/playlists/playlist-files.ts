import * as v from 'valibot'

import { refillStationQueue } from '../../engine/queue/queue.ts'
import { findMediaFolder } from '../../library/storage/media-folder.ts'
import {
  integerField,
  type JsonSchema,
  maxElementsCheck,
  formatCheckMessage
} from '../../model/fields/field.ts'
import { findSongCandidates } from '../../model/songs/entry-location.ts'
import {
  isPlaylistTruncated,
  type ListedSong,
  maxPlaylistEntries,
  maxPlaylistBytes,
  parsePlaylistInSlices,
  type PlaylistEntry,
  playlistMimeTypes,
  renderPlaylistFile
} from '../../model/songs/playlist-file.ts'
import { buildRemoteSong } from '../../model/songs/remote-list.ts'
import { cleanLine, type ImportedSong, maxTagLengths } from '../../model/songs/song.ts'
import { ApiError, refuseBody } from '../../platform/runtime/errors.ts'
import { mapInTimeSlices, visitInTimeSlices } from '../../platform/runtime/time-slices.ts'
import {
  findMediaIdsByPaths,
  lockImports,
  matchEntriesToMedia,
  upsertMedia
} from '../../stores/db/library/media-rows.ts'
import { appendMissingEntries, countOccurrences } from '../../stores/db/library/playlist-entries.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { redactLocation } from '../../webhooks/redact.ts'
import { maySeeUnredactedUrls } from '../auth/access.ts'
import { recordAudit, changedWithoutValues } from '../core/audit.ts'
import { formatContentDisposition } from '../core/csv.ts'
import { parseBody, parseListElements, parsePathId } from '../core/parse.ts'
import { actionResultFields, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { findSongUrlProblem } from '../core/url-checks.ts'

/** An element of an imported list: the id of a song in the library, or an entry of a playlist file. */
type ImportItem = { readonly id: number } | { readonly entry: PlaylistEntry }

const maxPathLength = 4_096
const sliceMs = 8
const id = integerField({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'id' }).input
const path = v.pipe(
  v.string(formatCheckMessage('invalid_type', 'must be text.')),
  v.check(value => value.trim() !== '', formatCheckMessage('blank', 'must not be empty.')),
  v.maxLength(maxPathLength, formatCheckMessage('too_long', `must have at most ${maxPathLength} characters.`))
)
const tag = v.nullish(v.string(formatCheckMessage('invalid_type', 'must be text.')), '')
const seconds = v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(2_147_483)), 0)

const importItem: v.GenericSchema<unknown, ImportItem> = v.union(
  [
    v.pipe(
      v.number(),
      v.safeInteger(formatCheckMessage('invalid_type', 'must be a whole number.')),
      v.minValue(1, formatCheckMessage('out_of_range', 'must be at least 1.')),
      v.transform(value => ({ id: value }))
    ),
    v.pipe(
      path,
      v.transform(value => toItem({ path: value, artist: '', title: '', length: 0 }))
    ),
    v.object({ id }),
    v.pipe(v.object({ path, artist: tag, title: tag, length: seconds }), v.transform(toItem))
  ],
  formatCheckMessage('invalid_type', 'must be a path, an id, or an object with one of them.')
)

function toItem(given: { path: string; artist: string; title: string; length: number }): ImportItem {
  const artist = cleanLine(given.artist, maxTagLengths.artist)
  const title = cleanLine(given.title, maxTagLengths.title)
  return { entry: { location: given.path, artist, title, durationMs: Math.round(given.length * 1000) } }
}

const importElements = v.pipe(
  v.unknown(),
  maxElementsCheck(maxPlaylistEntries),
  v.array(
    v.unknown(),
    formatCheckMessage('invalid_type', 'must be a list, or the text of an M3U or PLS file.')
  )
)

/** Reads the text of an M3U, M3U8 or PLS file, or a JSON list. Throws 400 with the problem. */
async function parseImport(body: unknown): Promise<ImportItem[]> {
  if (typeof body !== 'string') return parseListElements(importItem, parseBody(importElements, body), '')
  const file = await parsePlaylistInSlices(body)
  const { entries, problems } = file
  if (entries.length === 0 && problems[0] !== undefined)
    refuseBody('invalid_format', `The playlist cannot be imported: ${problems[0]}.`)
  if (isPlaylistTruncated(file))
    refuseBody('too_long', `The playlist has more than ${maxPlaylistEntries} entries.`)
  return entries.map(entry => ({ entry }))
}

const importSchema: JsonSchema = {
  type: 'array',
  maxItems: maxPlaylistEntries,
  items: {
    oneOf: [
      { type: 'string', minLength: 1, maxLength: maxPathLength, description: 'A path or URL.' },
      { type: 'integer', format: 'int64', minimum: 1, description: 'The id of a song of the library.' },
      {
        type: 'object',
        properties: {
          id: { type: 'integer', format: 'int64', minimum: 1 },
          path: { type: 'string', minLength: 1, maxLength: maxPathLength },
          artist: { type: 'string' },
          title: { type: 'string' },
          length: { type: 'number', minimum: 0, description: 'Seconds.' }
        }
      }
    ]
  },
  examples: [['ishizaka/aria.mp3', 12, { path: 'https://example.com/live.mp3', title: 'Live' }]]
}

/** Content types that programs send for M3U and PLS files. */
const importTypes = [
  ...Object.values(playlistMimeTypes),
  'audio/mpegurl',
  'application/x-mpegurl',
  'application/vnd.apple.mpegurl',
  'text/plain'
]

const importList = apiRoute('POST', '/api/station/:station_id/playlist/:id/import', 'manage station media', {
  id: 'importPlaylist',
  tag: 'Playlists',
  summary:
    'Append the songs of an M3U, M3U8, PLS or JSON list that the playlist has less often than the list; URLs are added without being fetched',
  body: importSchema,
  response: schemaRef('PlaylistImport'),
  textTypes: importTypes,
  maxBodyBytes: maxPlaylistBytes,
  maxBodyValues: 2 * maxPlaylistEntries,
  async handle(request, services) {
    const station = getRequestStation(request)
    const playlistId = parsePathId(request.params['id'])
    const items = await parseImport(request.body)
    // The station is not locked, so that a long list does not delay playback.
    const results = await services.sql.begin(async tx => {
      await lockImports(tx, station.id)
      const [playlist] = await tx<{ name: string }[]>`
        select name from playlists where id = ${playlistId} and station_id = ${station.id} for key share`
      if (!playlist) throw new ApiError('not-found')
      const matched = await matchOrAdd(tx, station.id, items, services)
      await appendMissingEntries(
        tx,
        playlistId,
        countOccurrences(matched.flatMap(({ match }) => match ?? []))
      )
      await recordAudit(tx, request, {
        record: 'Playlist',
        id: playlistId,
        name: playlist.name,
        changes: changedWithoutValues('tracks')
      })
      return matched
    })
    await refillStationQueue(services, station.id)
    const count = results.filter(({ match }) => match !== null).length
    const message = `${count} of ${results.length} entries are songs of the library.`
    return jsonReply({ ...actionResultFields(message), import_results: results })
  }
})

/**
 * Finds the song of each item, and adds a song for each new URL that may be reached. `match` is the id of the song,
 * null if there is none.
 */
async function matchOrAdd(
  tx: Tx,
  stationId: number,
  items: readonly ImportItem[],
  services: Pick<ApiServices, 'config'>
) {
  const ids = items.flatMap(item => ('id' in item ? [item.id] : []))
  const pathsById = await findPaths(tx, stationId, ids)
  const folder = await findMediaFolder(tx, stationId, services.config.DATA_DIR)
  const candidates = await mapInTimeSlices(sliceMs, items, item =>
    findSongCandidates('entry' in item ? item.entry.location : '', folder)
  )
  const found = await matchEntriesToMedia(tx, stationId, candidates)
  const missing = new Map<string, ImportedSong>()
  await visitInTimeSlices(sliceMs, items, (item, index) => {
    const url = candidates[index]?.url ?? null
    if (!('entry' in item) || url === null || found[index] !== null || missing.has(url)) return
    if (findSongUrlProblem(services, url) !== null) return
    missing.set(url, buildRemoteSong({ ...item.entry, location: url }, undefined))
  })
  const added = await addSongs(tx, stationId, [...missing.values()])
  return mapInTimeSlices(sliceMs, items, (item, index) => {
    if ('entry' in item) {
      const match = found[index] ?? added.get(candidates[index]?.url ?? '') ?? null
      return { path: item.entry.location, match }
    }
    const known = pathsById.get(item.id)
    return { path: known ?? String(item.id), match: known === undefined ? null : item.id }
  })
}

async function findPaths(tx: Tx, stationId: number, ids: number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await tx<{ id: number; path: string }[]>`
    select id, path from media
    where station_id = ${stationId} and remote_playlist_id is null and id = any(${ids}::bigint[])`
  return new Map(rows.map(row => [row.id, row.path]))
}

const insertBatch = 1_000

/** Inserts songs with distinct URLs. Returns their ids by URL. */
async function addSongs(tx: Tx, stationId: number, songs: ImportedSong[]) {
  for (let start = 0; start < songs.length; start += insertBatch)
    await upsertMedia(tx, stationId, songs.slice(start, start + insertBatch))
  return findMediaIdsByPaths(
    tx,
    stationId,
    songs.map(song => song.path)
  )
}

const exportList = apiRoute(
  'GET',
  '/api/station/:station_id/playlist/:id/export/:format',
  'view station management',
  {
    id: 'exportPlaylist',
    tag: 'Playlists',
    summary: 'The songs of a playlist as a file: m3u or pls',
    response: { type: 'string' },
    contentTypes: ['audio/x-mpegurl', 'audio/x-scpls'],
    async handle(request, { reads: sql }) {
      const station = getRequestStation(request)
      const { format } = request.params
      const playlistId = parsePathId(request.params['id'])
      const [playlist] = await sql<{ name: string }[]>`
      select name from playlists where id = ${playlistId} and station_id = ${station.id}`
      if (!playlist || (format !== 'm3u' && format !== 'pls')) throw new ApiError('not-found')
      const songs = await sql<ListedSong[]>`
      select m.path, m.artist, m.title, m.duration_ms as "durationMs"
      from playlist_entries t join media m on m.id = t.media_id
      where t.playlist_id = ${playlistId} and m.remote_playlist_id is null order by t.position, t.id`
      const isWhole = maySeeUnredactedUrls(request.caller?.key ?? null, 'manage station media', station.id)
      const shown = isWhole ? songs : songs.map(song => ({ ...song, path: redactLocation(song.path) }))
      return {
        body: renderPlaylistFile(format, shown),
        headers: {
          'Content-Type': playlistMimeTypes[format],
          'Content-Disposition': formatContentDisposition(`${playlist.name}.${format}`)
        }
      }
    }
  }
)

export const playlistFileRoutes = [importList, exportList]
