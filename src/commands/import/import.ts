import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'

import { readAudioFile } from '../../library/media/audio-file.ts'
import {
  assertPathsReadable,
  resolveRootFolders,
  scanMedia,
  type ScannedItem
} from '../../library/media/scan.ts'
import { UnusableFileError } from '../../library/media/unusable-file.ts'
import { toStoredPath } from '../../library/storage/media-folder.ts'
import type { MediaStore } from '../../library/uploads/media-store.ts'
import { buildRemoteSong } from '../../model/songs/remote-list.ts'
import type { ImportedSong } from '../../model/songs/song.ts'
import { listUnicodeForms, unicodeNameKey } from '../../platform/text/unicode-names.ts'
import {
  type Cover,
  findMediaByPaths,
  findMediaIdsByPaths,
  getOrCreatePlaylist,
  storeCovers,
  type KnownSong,
  lockImports,
  upsertMedia
} from '../../stores/db/library/media-rows.ts'
import { appendMissingEntries } from '../../stores/db/library/playlist-entries.ts'
import { findStoredSongs } from '../../stores/db/library/stored-names.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { copyFileIntoStore, describeCopyError, pathInStore } from './take-in.ts'

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
  /**
   * The media storage of the station, by which files that it has, or that were copied into it, are the same songs. Null
   * if it cannot be used: then changed copies are not copied again.
   */
  media?: MediaStore | null
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
  await assertPathsReadable(options.paths)
  const realRoots = await resolveRootFolders(options.paths, options.allowed ?? [])
  const counts = { ...noCounts }
  let items: ScannedItem[] = []
  for await (const item of scanMedia(options.paths, realRoots)) {
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
  scanned: ScannedItem[],
  counts: ImportCounts
): Promise<void> {
  const items = await placeItems(sql, options, scanned)
  const paths = items.filter(item => item.type !== 'unusable').map(item => item.path)
  const known = await findMediaByPaths(sql, options.stationId, paths)
  const others = await findOtherForms(
    sql,
    options,
    paths.filter(path => !known.has(path))
  )
  const movedSongs = await findMediaByPaths(sql, options.stationId, [...others.moved.values()])
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
      options.onProgress?.({ path: result.source ?? result.path, counts, ...remark })
    }
    if (batch.coverBytes < batchCoverBytes) continue
    await writeBatch(sql, options, batch, counts)
    batch = emptyBatch()
  }
  await writeBatch(sql, options, batch, counts)
}

type PlacedItem = ScannedItem & {
  /** The file, if its song is stored with another path. */
  readonly source?: string
  readonly isCopy?: boolean
}

/** Replaces the paths of files that are in the media storage, or were copied into it, by those of their songs. */
async function placeItems(
  sql: Sql,
  { stationId, media = null }: ImportOptions,
  items: readonly ScannedItem[]
): Promise<PlacedItem[]> {
  const files = items.flatMap(item => (item.type === 'file' ? [item.path] : []))
  const copies = await sql<{ path: string; importedFrom: string }[]>`
    select path, imported_from as "importedFrom" from media
    where station_id = ${stationId} and imported_from = any(${files.flatMap(listUnicodeForms)}::text[])`
  const copyOf = new Map<string, string>()
  for (const { path, importedFrom } of copies) copyOf.set(importedFrom, path)
  for (const file of files) {
    const former = listUnicodeForms(file).find(form => copyOf.has(form))
    // The same file under another form of its name.
    if (former !== undefined && former !== file && !(await exists(former)))
      copyOf.set(file, copyOf.get(former) ?? file)
  }
  // Until they are taken in, songs have absolute paths.
  const absolute = new Set((await findMediaByPaths(sql, stationId, files)).keys())
  return items.map(item => {
    if (item.type !== 'file') return item
    const { path: source } = item
    const copy = copyOf.get(source)
    if (copy !== undefined) return { ...item, path: copy, source, isCopy: true }
    const inner = media === null || absolute.has(source) ? null : pathInStore(source, media)
    return inner === null ? item : { ...item, path: inner, source }
  })
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false
  )

/**
 * Finds songs whose path is one name with that of a new file. `moved`: the former path of a file that is now stored
 * under the new one, as after a copy to macOS and back; it is the same song. `pairs`: both files exist, and are two
 * songs.
 */
async function findOtherForms(sql: Sql, { stationId, media }: ImportOptions, paths: readonly string[]) {
  const moved = new Map<string, string>()
  const pairs = new Map<string, string>()
  const taken = new Set<string>()
  for (const [path, song] of await findStoredSongs(sql, stationId, paths)) {
    const isThere = isAbsolute(song.path)
      ? await exists(song.path)
      : !media || toStoredPath(song.path, null) === null || (await media.files.stat(song.path)) !== null
    if (isThere || taken.has(song.path)) pairs.set(path, song.path)
    else moved.set(path, song.path)
    taken.add(song.path)
  }
  const first = new Map<string, string>()
  for (const path of paths) {
    const other = first.get(unicodeNameKey(path))
    if (other === undefined) first.set(unicodeNameKey(path), path)
    else if (other !== path && !pairs.has(path)) pairs.set(path, other)
  }
  return { moved, pairs }
}

interface UsableItem {
  readonly path: string
  readonly source?: string | undefined
  readonly occurrence: number
  /** Null if the library has the file unchanged. */
  readonly song: ImportedSong | null
  readonly cover?: Cover | null
  readonly notice?: string
}

async function readItem(
  item: PlacedItem,
  known: Map<string, KnownSong>,
  realRoots: readonly string[],
  { replacesCorrections = false, media }: ImportOptions
): Promise<UsableItem | { readonly path: string; readonly source?: string; readonly reason: string }> {
  if (item.type === 'unusable') return item
  const { path, occurrence, source = path, isCopy = false } = item
  const old = known.get(path)
  if (item.type === 'remote') return { path, occurrence, song: buildRemoteSong(item.entry, old) }
  const { sizeBytes, modifiedMs } = item
  const isSame = old?.sizeBytes === sizeBytes && old.modifiedMs === modifiedMs
  // A copy that is newer was replaced by an upload.
  const isReplaced = isCopy && (old?.modifiedMs ?? 0) > modifiedMs
  if ((isSame || isReplaced) && old?.isRead && (isReplaced || !replacesCorrections))
    return {
      path,
      source,
      occurrence,
      song: null,
      ...(isReplaced && old.sizeBytes !== sizeBytes && { notice: keptCopy })
    }
  if (isCopy && !media) return { path, source, reason: 'its copy in the media storage cannot be replaced' }
  try {
    const { cover, coverNotice: notice, ...tags } = await readAudioFile(source, realRoots)
    if (isCopy && media && !isSame) await copyFileIntoStore(media, source, path)
    const song = { ...tags, path, sizeBytes, modifiedMs, coverHash: cover?.hash ?? null }
    return { path, source, occurrence, song, cover, notice }
  } catch (error) {
    if (error instanceof UnusableFileError) return { path, source, reason: error.message }
    if (isCopy) return { path, source, reason: describeCopyError(error) }
    throw error
  }
}

const keptCopy =
  'its copy in the media storage is newer and differs, so it was kept; touch the file to replace the copy'

type Batch = ReturnType<typeof emptyBatch>

/** The content of the next transaction: entries in their order, new or changed songs, covers by hash. */
const emptyBatch = () => ({
  entries: [] as Pick<UsableItem, 'path' | 'occurrence'>[],
  paths: new Set<string>(),
  /** Songs whose file has another form of its name, with the former path. */
  moved: new Map<string, string>(),
  songs: [] as ImportedSong[],
  covers: new Map<string, Cover>(),
  coverBytes: 0
})

/**
 * Returns false if the batch already contains the path. `former` is the path of a song whose file has a new form of its
 * name.
 */
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
    await storeCovers(tx, [...covers.values()])
    for (const [path, former] of moved)
      await tx`update media set path = ${path}
        where station_id = ${stationId} and path = ${former} and remote_playlist_id is null
          and not exists (select from media where station_id = ${stationId} and path = ${path} and remote_playlist_id is null)`
    const upserted = await upsertMedia(tx, stationId, songs, { replacesCorrections })
    const playlistId = await getOrCreatePlaylist(tx, stationId, playlistName)
    const ids = await findMediaIdsByPaths(tx, stationId, [...paths])
    const listed = entries.flatMap(({ path, occurrence }) => {
      const mediaId = ids.get(path)
      return mediaId === undefined ? [] : [{ mediaId, occurrence }]
    })
    await appendMissingEntries(tx, playlistId, listed)
    return upserted
  })
  counts.added += written.added
  counts.updated += written.updated
  counts.unchanged += written.unchanged + paths.size - songs.length
}
