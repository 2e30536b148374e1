import { forkTrackColumns } from '../../model/autodj/track-columns.ts'
import { readChangedPlaylists, readLibraryChanges, readPlaylists } from '../../stores/db/library/library.ts'
import type { Tx } from '../../stores/db/sql.ts'
import {
  emptyPast,
  extendPast,
  loadPast,
  loadPasts,
  lookBackMs,
  markProvisionalTracks,
  type NewPlay,
  type PastStation,
  trimPast
} from './library-past.ts'
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

/** A station with the version of its library. */
interface LibraryStation extends PastStation {
  readonly libraryVersion: number
}

interface CachedLibraries {
  readonly libraries: LibraryCache
  /** Plays from the newest cached one on. */
  readonly plays: readonly NewPlay[]
  /** Set if the transaction itself changed the library: the cached one stays as it is until this calls back. */
  readonly afterCommit?: ((work: () => void) => void) | undefined
}

/**
 * Reads the library of a locked station. If an older version is cached, only what changed since is read.
 * `copies` null: no cache is used.
 */
export async function readLibrary(
  tx: Tx,
  station: LibraryStation,
  nowMs: number,
  copies: CachedLibraries | null
): Promise<StationLibrary> {
  const library =
    (copies && (await updateCachedLibrary(tx, station, nowMs, copies))) ?? (await load(tx, station, nowMs))
  trimPast(library.past, nowMs - lookBackMs(station, library.playlists))
  if (!copies) return library
  const cache = () => cacheLibrary(copies.libraries, station.id, library)
  if (copies.afterCommit) copies.afterCommit(cache)
  else cache()
  return library
}

/** Brings the cached library up to date. Returns null if the whole library must be read. */
async function updateCachedLibrary(
  tx: Tx,
  station: LibraryStation,
  nowMs: number,
  { libraries, plays, afterCommit }: CachedLibraries
): Promise<StationLibrary | null> {
  const cached = findCachedLibrary(libraries, station.id)
  const copy = cached && afterCommit ? forkLibrary(cached) : cached
  // The newest cached play must still exist: a backup may have been restored.
  const seen = copy?.past.plays.at(-1)?.id
  if (!copy || (seen !== undefined && !plays.some(play => play.id === seen))) return null
  // Before changes are read, because changed playlists already contain these plays.
  const playlists = extendPast(copy.past, copy.playlists, plays)
  const extended = playlists === copy.playlists ? copy : { ...copy, playlists }
  return copy.version === station.libraryVersion ? extended : readChanges(tx, station, nowMs, extended)
}

/** A copy that can be extended and marked without changing the original. */
const forkLibrary = ({ playlists, past, ...library }: StationLibrary): StationLibrary => ({
  ...library,
  playlists: playlists.map(playlist => ({ ...playlist, tracks: forkTrackColumns(playlist.tracks) })),
  past: { plays: [...past.plays], older: new Map([...past.older].map(([id, play]) => [id, { ...play }])) }
})

/**
 * Reads what has changed since the version of a cached library; null if the list of changes is not complete.
 */
async function readChanges(
  tx: Tx,
  station: LibraryStation,
  nowMs: number,
  { version, playlists, past }: StationLibrary
): Promise<StationLibrary | null> {
  const changes = version < station.libraryVersion ? await readLibraryChanges(tx, station.id, version) : null
  if (!changes) return null
  const updated = await readChangedPlaylists(tx, station.id, playlists, changes)
  // Rules of a changed playlist may look back further.
  const isPastRead = changes.plays || changes.playlists.size > 0
  if (!isPastRead) markProvisionalTracks(past.plays, updated)
  return {
    version: station.libraryVersion,
    playlists: updated,
    past: isPastRead ? await loadPast(tx, station, nowMs, updated) : past
  }
}

async function load(tx: Tx, station: LibraryStation, nowMs: number): Promise<StationLibrary> {
  const [library] = (await loadLibraries(tx, [station], nowMs)).values()
  if (!library) throw new Error(`no library was read for station ${station.id}`)
  return library
}

/** Reads whole libraries, by station. */
export async function loadLibraries(
  tx: Tx,
  stations: readonly LibraryStation[],
  nowMs: number
): Promise<Map<number, StationLibrary>> {
  const playlists = await readPlaylists(
    tx,
    stations.map(({ id }) => id)
  )
  const pasts = await loadPasts(tx, stations, nowMs, playlists)
  return new Map(
    stations.map(({ id, libraryVersion: version }) => [
      id,
      { version, playlists: playlists.get(id) ?? [], past: pasts.get(id) ?? emptyPast() }
    ])
  )
}
