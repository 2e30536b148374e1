import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'

import {
  type Artwork,
  findMedia,
  findMediaIds,
  findOrCreatePlaylist,
  insertArtwork,
  type KnownSong,
  lockImports,
  upsertMedia
} from '../db/media-rows.ts'
import { appendEntries } from '../db/playlist-entries.ts'
import type { Sql } from '../db/sql.ts'
import { findStoredSongs } from '../db/stored-names.ts'
import { nameKey } from '../runtime/name-key.ts'
import { buildRemoteSong } from '../songs/remote-list.ts'
import type { ImportedSong } from '../songs/song.ts'
import { readAudioFile } from './audio-file.ts'
import { checkPaths, resolveRoots, scan, type ScannedItem } from './scan.ts'
import { UnusableFileError } from './unusable-file.ts'

const noCounts = { found: 0, added: 0, updated: 0, unchanged: 0, skipped: 0 }

/** `found` is the sum of the others. */
export type ImportCounts = typeof noCounts

/** An item was read. `path` is a path or URL; `skipReason` is set if the item cannot be imported. */
export interface ImportEvent {
  readonly path: string
  readonly counts: Readonly<ImportCounts>
  readonly skipReason?: string
  /** A sentence about an imported file that an operator should know. */
  readonly notice?: string
}

export interface ImportOptions {
  stationId: number
  playlistName: string
  /** Files, folders and playlist files. An unreadable one fails the import before anything is written. */
  paths: string[]
  /** Additional folders into which symbolic links and playlist entries may lead. */
  allowed?: readonly string[]
  /** Whether all files are read, and their tags replace what a person set, except cue points. */
  replacesCorrections?: boolean
  onProgress?: (event: ImportEvent) => void
  /** If aborted, the import returns after the current batch. */
  signal?: AbortSignal
}

const batchItems = 100
/** Covers are kept in memory until their batch is written; beyond this it is written early. */
const batchCoverBytes = 16 * 1024 * 1024
const readConcurrency = 4

/**
 * Imports audio files into the library and a playlist of a station. Idempotent: files of known size and
 * modification time are not opened again. An unusable file is skipped. Each batch is one transaction;
 * concurrent imports into a station write one after the other.
 */
export async function importMedia(sql: Sql, options: ImportOptions): Promise<ImportCounts> {
  await checkPaths(options.paths)
  const realRoots = await resolveRoots(options.paths, options.allowed ?? [])
  const counts = { ...noCounts }
  let items: ScannedItem[] = []
  for await (const item of scan(options.paths, realRoots)) {
    items.push(item)
    if (items.length < batchItems) continue
    await importItems(sql, options, realRoots, items, counts)
    items = []
    if (options.signal?.aborted) return counts
  }
  await importItems(sql, options, realRoots, items, counts)
  await sql`update storage_locations set measure_at = now()
    where id = (select media_storage_location_id from stations where id = ${options.stationId})`
  return counts
}

async function importItems(
  sql: Sql,
  options: ImportOptions,
  realRoots: readonly string[],
  items: ScannedItem[],
  counts: ImportCounts
): Promise<void> {
  const paths = items.filter(item => item.type !== 'unusable').map(item => item.path)
  const known = await findMedia(sql, options.stationId, paths)
  const others = await findOtherForms(
    sql,
    options.stationId,
    paths.filter(path => !known.has(path))
  )
  const movedSongs = await findMedia(sql, options.stationId, [...others.moved.values()])
  for (const [path, former] of others.moved) {
    const song = movedSongs.get(former)
    if (song) known.set(path, { ...song, path })
  }
  let batch = emptyBatch()
  for (let at = 0; at < items.length; at += readConcurrency) {
    const group = items.slice(at, at + readConcurrency)
    for (const result of await Promise.all(group.map(item => readItem(item, known, realRoots, options)))) {
      counts.found += 1
      if ('reason' in result) counts.skipped += 1
      else if (!addToBatch(batch, result, others.moved.get(result.path))) counts.unchanged += 1
      const pair = others.pairs.get(result.path)
      const notices =
        pair === undefined ? [] : [`Another song has this name in another form of Unicode: ${pair}`]
      const remark =
        'reason' in result
          ? { skipReason: result.reason }
          : { notice: [...notices, result.notice ?? ''].join(' ').trim() }
      options.onProgress?.({ path: result.path, counts, ...remark })
    }
    if (batch.coverBytes < batchCoverBytes) continue
    await writeBatch(sql, options, batch, counts)
    batch = emptyBatch()
  }
  await writeBatch(sql, options, batch, counts)
}

/**
 * Finds songs whose path is one name with that of a new file. `moved`: the former path of a file that is now stored under
 * the new one, as after a copy to macOS and back; it is the same song. `pairs`: both files exist, and are two songs.
 */
async function findOtherForms(sql: Sql, stationId: number, paths: readonly string[]) {
  const moved = new Map<string, string>()
  const pairs = new Map<string, string>()
  const taken = new Set<string>()
  for (const [path, song] of await findStoredSongs(sql, stationId, paths)) {
    const isThere = !isAbsolute(song.path) || (await stat(song.path).catch(() => null)) !== null
    if (isThere || taken.has(song.path)) pairs.set(path, song.path)
    else moved.set(path, song.path)
    taken.add(song.path)
  }
  const first = new Map<string, string>()
  for (const path of paths) {
    const other = first.get(nameKey(path))
    if (other === undefined) first.set(nameKey(path), path)
    else if (other !== path && !pairs.has(path)) pairs.set(path, other)
  }
  return { moved, pairs }
}

interface UsableItem {
  readonly path: string
  readonly occurrence: number
  /** Null if the library has the file unchanged. */
  readonly song: ImportedSong | null
  readonly cover?: Artwork | null
  readonly notice?: string
}

async function readItem(
  item: ScannedItem,
  known: Map<string, KnownSong>,
  realRoots: readonly string[],
  { replacesCorrections = false }: ImportOptions
): Promise<UsableItem | { readonly path: string; readonly reason: string }> {
  if (item.type === 'unusable') return item
  const { path, occurrence } = item
  const old = known.get(path)
  if (item.type === 'remote') return { path, occurrence, song: buildRemoteSong(item.entry, old) }
  const { sizeBytes, modifiedMs } = item
  const isSame = old?.sizeBytes === sizeBytes && old.modifiedMs === modifiedMs
  if (isSame && old.isRead && !replacesCorrections) return { path, occurrence, song: null }
  try {
    const { cover, coverNotice: notice, ...tags } = await readAudioFile(path, realRoots)
    const song = { ...tags, path, sizeBytes, modifiedMs, coverHash: cover?.hash ?? null }
    return { path, occurrence, song, cover, notice }
  } catch (error) {
    if (error instanceof UnusableFileError) return { path, reason: error.message }
    throw error
  }
}

type Batch = ReturnType<typeof emptyBatch>

/** The content of the next transaction: entries in their order, new or changed songs, covers by hash. */
const emptyBatch = () => ({
  entries: [] as Pick<UsableItem, 'path' | 'occurrence'>[],
  paths: new Set<string>(),
  /** Songs whose file has another form of its name, with the former path. */
  moved: new Map<string, string>(),
  songs: [] as ImportedSong[],
  covers: new Map<string, Artwork>(),
  coverBytes: 0
})

/** Returns false if the batch already contains the path. `former` is the path of a song whose file has a new form of its name. */
function addToBatch(
  batch: Batch,
  { path, occurrence, song, cover }: UsableItem,
  former: string | undefined
): boolean {
  batch.entries.push({ path, occurrence })
  if (batch.paths.has(path)) return false
  batch.paths.add(path)
  if (former !== undefined) batch.moved.set(path, former)
  if (song) batch.songs.push(song)
  if (cover && !batch.covers.has(cover.hash)) {
    batch.covers.set(cover.hash, cover)
    batch.coverBytes += cover.bytes.length
  }
  return true
}

async function writeBatch(
  sql: Sql,
  { stationId, playlistName, replacesCorrections = false }: ImportOptions,
  { entries, songs, paths, moved, covers }: Batch,
  counts: ImportCounts
): Promise<void> {
  if (paths.size === 0) return
  const written = await sql.begin(async tx => {
    await lockImports(tx, stationId)
    await insertArtwork(tx, [...covers.values()])
    for (const [path, former] of moved)
      await tx`update media set path = ${path}
        where station_id = ${stationId} and path = ${former} and remote_playlist_id is null
          and not exists (select from media where station_id = ${stationId} and path = ${path} and remote_playlist_id is null)`
    const upserted = await upsertMedia(tx, stationId, songs, { replacesCorrections })
    const playlistId = await findOrCreatePlaylist(tx, stationId, playlistName)
    const ids = await findMediaIds(tx, stationId, [...paths])
    const listed = entries.flatMap(({ path, occurrence }) => {
      const mediaId = ids.get(path)
      return mediaId === undefined ? [] : [{ mediaId, occurrence }]
    })
    await appendEntries(tx, playlistId, listed)
    return upserted
  })
  counts.added += written.added
  counts.updated += written.updated
  counts.unchanged += written.unchanged + paths.size - songs.length
}
