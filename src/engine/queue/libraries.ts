import type { Tx } from '../../stores/db/sql.ts'
import { packLibrary, type StationLibrary, unpackLibrary } from './packed-library.ts'

/** Maximum size of all cached libraries. */
const bytesAtMost = 400_000_000
/** Libraries above this number are packed, the least recently used ones first; all of them if the memory is full. */
const unpackedAtMost = 1_000

/** Sizes in memory, as measured: columns of 56 bytes per track, and the objects around them. */
const bytesPerTrack = 56
const bytesPerPlaylist = 1_500
const bytesPerPlay = 300
/** The objects around a packed library. */
const bytesPerPacked = 500

/** Cached libraries. */
export interface LibraryCache {
  /** By station, least recently used first. */
  readonly copies: Map<number, Copy>
  /** The stations whose copies are not packed, least recently used first. */
  readonly unpacked: Set<number>
  /** The size of all of them in bytes. */
  bytes: number
  readonly bytesAtMost: number
  readonly unpackedAtMost: number
}

interface Copy {
  readonly version: number
  /** 0: the library has no play. */
  readonly newestPlayId: number
  readonly content: StationLibrary | Uint8Array
  /** The size when it was last used. */
  readonly bytes: number
}

export const openLibraryCache = (limits: Partial<Limits> = {}): LibraryCache => ({
  copies: new Map(),
  unpacked: new Set(),
  bytes: 0,
  bytesAtMost,
  unpackedAtMost,
  ...limits
})

type Limits = Pick<LibraryCache, 'bytesAtMost' | 'unpackedAtMost'>

export const hasCachedLibrary = (libraries: LibraryCache, stationId: number) =>
  libraries.copies.has(stationId)

/**
 * The cached library of a station, which may be out of date; null if there is none. It must be cached again
 * if it is changed.
 */
export function findCachedLibrary(libraries: LibraryCache, stationId: number): StationLibrary | null {
  const content = libraries.copies.get(stationId)?.content ?? null
  return content instanceof Uint8Array ? unpackLibrary(content) : content
}

/** Whether the cached library of a locked station is current. */
export const isLibraryCurrent = (
  libraries: LibraryCache,
  station: { readonly id: number; readonly libraryVersion: number }
) => libraries.copies.get(station.id)?.version === station.libraryVersion

/** The id of the newest cached play, from which on plays must be read; null if nothing is cached. */
export const newestCachedPlayId = (libraries: LibraryCache, stationId: number) =>
  libraries.copies.get(stationId)?.newestPlayId ?? null

/**
 * Caches a library. Packs the least recently used ones above the limits, and evicts those above the maximum
 * size, but not this one.
 */
export function cacheLibrary(libraries: LibraryCache, stationId: number, library: StationLibrary): void {
  forget(libraries, stationId)
  const newestPlayId = library.past.plays.at(-1)?.id ?? 0
  keep(libraries, stationId, {
    version: library.version,
    newestPlayId,
    content: library,
    bytes: sizeOf(library)
  })
  libraries.unpacked.add(stationId)
  const isFull = () => libraries.bytes > libraries.bytesAtMost
  for (const id of libraries.unpacked) {
    if (libraries.unpacked.size <= libraries.unpackedAtMost && !isFull()) break
    pack(libraries, id)
  }
  for (const id of libraries.copies.keys()) {
    if (!isFull() || id === stationId) break
    forget(libraries, id)
  }
}

/** Adds a copy, or replaces that of a station in its place. */
function keep(libraries: LibraryCache, stationId: number, copy: Copy): void {
  libraries.bytes += copy.bytes - (libraries.copies.get(stationId)?.bytes ?? 0)
  libraries.copies.set(stationId, copy)
}

function pack(libraries: LibraryCache, stationId: number): void {
  libraries.unpacked.delete(stationId)
  const copy = libraries.copies.get(stationId)
  if (!copy || copy.content instanceof Uint8Array) return
  const content = packLibrary(copy.content)
  keep(libraries, stationId, { ...copy, content, bytes: content.byteLength + bytesPerPacked })
}

function forget(libraries: LibraryCache, stationId: number): void {
  libraries.bytes -= libraries.copies.get(stationId)?.bytes ?? 0
  libraries.copies.delete(stationId)
  libraries.unpacked.delete(stationId)
}

const sizeOf = ({ playlists, past }: StationLibrary) =>
  playlists.reduce(
    (sum, { tracks: { ids, overlaps } }) =>
      sum + bytesPerPlaylist + ids.length * bytesPerTrack + (overlaps?.byteLength ?? 0),
    past.plays.length * bytesPerPlay
  )

/**
 * Raises the version of a library for a change that is not listed, so that cached copies are read again as a
 * whole.
 */
export async function raiseLibraryVersion(tx: Tx, stationId: number): Promise<void> {
  await tx`select count_library_change(${stationId})`
}

/**
 * Lists a past play that was removed, or inserted before others, and its track (null: none), so that processes
 * read the past plays and the track again.
 */
export async function recordPlayChange(tx: Tx, stationId: number, trackId: number | null): Promise<void> {
  await tx`select record_play_change(${stationId}, ${trackId})`
}
