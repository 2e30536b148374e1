import {
  appendTracks,
  findMedia,
  findOrCreatePlaylist,
  insertArtwork,
  lockImports,
  mediaIdsOf,
  upsertMedia
} from '../db/media-rows.ts'
import type { Sql } from '../db/sql.ts'
import { remoteSong } from '../songs/remote-list.ts'
import type { ImportedSong } from '../songs/song.ts'
import { readAudioFile } from './audio-file.ts'
import type { Cover } from './cover.ts'
import { UnusableFile } from './file-tokenizer.ts'
import { checkPaths, type Found, rootsOf, scan } from './scan.ts'

/** `found` is the sum of the four after it; each thing skipped is a problem, named in an event. */
export interface ImportCounts {
  found: number
  added: number
  updated: number
  unchanged: number
  skipped: number
  problems: number
}

/** What an import tells while it runs; `path` is a path or URL. */
export type ImportEvent =
  | { type: 'file-looked-at'; path: string; counts: Readonly<ImportCounts> }
  | { type: 'problem-found'; path: string; reason: string }

export interface ImportOptions {
  stationId: number
  playlistName: string
  /**
   * Files, folders and playlist files. One that cannot be read is an `OperatorError` before anything is
   * written.
   */
  paths: string[]
  /** Folders beside those of `paths` into which symbolic links and entries of playlist files may lead. */
  allowed?: readonly string[]
  onProgress?: (event: ImportEvent) => void
  /** Once aborted, the import returns after the batch it is at. */
  signal?: AbortSignal
}

/** What a batch looks at before it writes. */
const batchItems = 100
/** Covers wait in memory for their batch; beyond this it is written early. */
const batchCoverBytes = 16 * 1024 * 1024
const readsAtOnce = 4

/**
 * Brings audio files into the library and a playlist of a station. Files whose size and time of change are
 * known are not opened again, so the same import twice changes nothing. A file that cannot be used costs
 * itself only. Each batch is one transaction; two imports into one station take turns.
 */
export async function importMedia(sql: Sql, options: ImportOptions): Promise<ImportCounts> {
  await checkPaths(options.paths)
  const realRoots = await rootsOf(options.paths, options.allowed ?? [])
  const counts: ImportCounts = { found: 0, added: 0, updated: 0, unchanged: 0, skipped: 0, problems: 0 }
  let batch: Found[] = []
  for await (const found of scan(options.paths, realRoots)) {
    batch.push(found)
    if (batch.length < batchItems) continue
    await importBatch(sql, { ...options, realRoots }, batch, counts)
    batch = []
    if (options.signal?.aborted) return counts
  }
  await importBatch(sql, { ...options, realRoots }, batch, counts)
  await sql`update storage_locations set measure_at = now()
    where id = (select media_storage_location_id from stations where id = ${options.stationId})`
  return counts
}

async function importBatch(
  sql: Sql,
  options: ImportOptions & { readonly realRoots: readonly string[] },
  batch: Found[],
  counts: ImportCounts
): Promise<void> {
  const paths = batch.filter(found => found.type !== 'unusable').map(found => found.path)
  const known = await findMedia(sql, options.stationId, paths)
  let pending = nothingPending()
  for (let at = 0; at < batch.length; at += readsAtOnce) {
    const group = batch.slice(at, at + readsAtOnce)
    const looks = await Promise.all(group.map(async found => look(found, known, options.realRoots)))
    for (const result of looks) {
      counts.found += 1
      if (result.type === 'unusable') {
        counts.skipped += 1
        counts.problems += 1
        options.onProgress?.({ type: 'problem-found', path: result.path, reason: result.reason })
      } else if (!addPending(pending, result)) {
        counts.unchanged += 1
      }
      options.onProgress?.({ type: 'file-looked-at', path: result.path, counts })
    }
    if (pending.coverBytes < batchCoverBytes) continue
    await write(sql, options, pending, counts)
    pending = nothingPending()
  }
  await write(sql, options, pending, counts)
}

/** A song to write, a song that is in the library as it is, or what cannot be used. */
type Look =
  | { type: 'song'; path: string; song: ImportedSong; cover: Cover | null }
  | { type: 'known'; path: string }
  | { type: 'unusable'; path: string; reason: string }

async function look(
  found: Found,
  known: Map<string, ImportedSong>,
  realRoots: readonly string[]
): Promise<Look> {
  if (found.type === 'unusable') return found
  const { path } = found
  const old = known.get(path)
  if (found.type === 'remote') return { type: 'song', path, song: remoteSong(found.entry, old), cover: null }

  const { sizeBytes, modifiedMs } = found
  if (old?.sizeBytes === sizeBytes && old.modifiedMs === modifiedMs) return { type: 'known', path }
  try {
    const { cover, ...tags } = await readAudioFile(path, realRoots)
    const song = { ...tags, path, sizeBytes, modifiedMs, coverHash: cover?.hash ?? null }
    return { type: 'song', path, song, cover }
  } catch (error) {
    if (error instanceof UnusableFile) return { type: 'unusable', path, reason: error.message }
    throw error
  }
}

/**
 * What the next transaction writes: the tracks in their order, the songs that are new or changed, their
 * covers.
 */
interface Pending {
  paths: Set<string>
  songs: ImportedSong[]
  covers: Map<string, Cover>
  coverBytes: number
}

function nothingPending(): Pending {
  return { paths: new Set(), songs: [], covers: new Map(), coverBytes: 0 }
}

/** Adds what is usable; false for a path that is in the batch already. */
function addPending(pending: Pending, result: Exclude<Look, { type: 'unusable' }>): boolean {
  if (pending.paths.has(result.path)) return false
  pending.paths.add(result.path)
  if (result.type === 'known') return true
  pending.songs.push(result.song)
  if (result.cover && !pending.covers.has(result.cover.hash)) {
    pending.covers.set(result.cover.hash, result.cover)
    pending.coverBytes += result.cover.bytes.length
  }
  return true
}

async function write(
  sql: Sql,
  { stationId, playlistName }: ImportOptions,
  { songs, paths, covers }: Pending,
  counts: ImportCounts
): Promise<void> {
  if (paths.size === 0) return
  const done = await sql.begin(async tx => {
    await lockImports(tx, stationId)
    await insertArtwork(tx, [...covers.values()])
    const written = await upsertMedia(tx, stationId, songs)
    const playlistId = await findOrCreatePlaylist(tx, stationId, playlistName)
    await appendTracks(tx, playlistId, await mediaIdsOf(tx, stationId, [...paths]))
    return written
  })
  counts.added += done.added
  counts.updated += done.updated
  counts.unchanged += done.unchanged + paths.size - songs.length
}
