import type { Playlist } from '../../autodj/library.ts'
import type { Tx } from '../../db/sql.ts'
import type { CachedPast } from './library-past.ts'

/** Playlists and past plays of a station, as the AutoDJ uses them. */
export interface StationLibrary {
  readonly version: number
  readonly playlists: readonly Playlist[]
  readonly past: CachedPast
}

/** Maximum size of all cached libraries. */
const bytesAtMost = 400_000_000

/** Sizes in memory, as measured: columns of 56 bytes per track, and the objects around them. */
const bytesPerTrack = 56
const bytesPerPlaylist = 1_500
const bytesPerPlay = 300

/** Cached libraries. */
export interface LibraryCache {
  /** By station, least recently used first. */
  readonly copies: Map<number, Copy>
  /** The size of all of them in bytes. */
  bytes: number
  readonly bytesAtMost: number
}

interface Copy {
  readonly library: StationLibrary
  /** The size when it was last used. */
  readonly bytes: number
}

export const openLibraryCache = (most = bytesAtMost): LibraryCache => ({
  copies: new Map(),
  bytes: 0,
  bytesAtMost: most
})

/** The cached library of a station, which may be out of date; null if there is none. */
export function findCachedLibrary(libraries: LibraryCache, stationId: number): StationLibrary | null {
  return libraries.copies.get(stationId)?.library ?? null
}

/** Whether the cached library of a locked station is current. */
export const isLibraryCurrent = (
  libraries: LibraryCache,
  station: { readonly id: number; readonly libraryVersion: number }
) => findCachedLibrary(libraries, station.id)?.version === station.libraryVersion

/** The id of the newest cached play, from which on plays must be read; null if nothing is cached. */
export function newestCachedPlayId(libraries: LibraryCache, stationId: number): number | null {
  const copy = findCachedLibrary(libraries, stationId)
  return copy && (copy.past.plays.at(-1)?.id ?? 0)
}

/** Caches a library and evicts the least recently used ones above the maximum size, but not this one. */
export function cacheLibrary(libraries: LibraryCache, stationId: number, library: StationLibrary): void {
  forget(libraries, stationId)
  const bytes = sizeOf(library)
  for (const id of libraries.copies.keys()) {
    if (libraries.bytes + bytes <= libraries.bytesAtMost) break
    forget(libraries, id)
  }
  libraries.copies.set(stationId, { library, bytes })
  libraries.bytes += bytes
}

function forget(libraries: LibraryCache, stationId: number): void {
  libraries.bytes -= libraries.copies.get(stationId)?.bytes ?? 0
  libraries.copies.delete(stationId)
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
