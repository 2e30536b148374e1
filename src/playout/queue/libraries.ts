import { transferIndex } from '../../autodj/duplicates.ts'
import type { PlayOrRow, LibraryPast, Playlist, RemovedRow } from '../../autodj/library.ts'
import { trackIndex, markAired } from '../../autodj/tracks.ts'
import { type PastPlay, readLastPlays, readPlaylists, readPlays } from '../../db/library.ts'
import type { Tx } from '../../db/sql.ts'
import type { StationFacts } from '../rows.ts'

/** Playlists and past plays of a station, as the AutoDJ uses them. */
export interface StationLibrary {
  readonly version: number
  readonly playlists: readonly Playlist[]
  readonly past: CachedPast
}

/** A locked station with the version of its library. */
export type LibraryStation = Pick<StationFacts, 'id' | 'libraryVersion' | keyof Reach>

/** Maximum number of tracks and plays in memory, over all stations: about 200 MB. */
const weightAtMost = 2_000_000

/** Cached libraries. */
export interface LibraryCache {
  /** By station, least recently used first. */
  readonly copies: Map<number, Copy>
  /** Number of tracks and plays in all of them. */
  weight: number
}

interface Copy {
  readonly library: StationLibrary
  /** The number when it was last used. */
  readonly weight: number
}

export const openLibraryCache = (): LibraryCache => ({ copies: new Map(), weight: 0 })

/** The id of the newest cached play, from which on plays must be read; null if nothing is cached. */
export function newestCachedPlayId(libraries: LibraryCache, stationId: number): number | null {
  const copy = libraries.copies.get(stationId)?.library
  return copy ? (copy.past.plays.at(-1)?.id ?? 0) : null
}

interface CachedLibraries {
  readonly libraries: LibraryCache
  /** Plays from the newest cached one on. */
  readonly plays: readonly PastPlay[]
}

/** Reads the library of a locked station, from the cache if its version is current; null: no cache. */
export async function readLibrary(
  tx: Tx,
  station: LibraryStation,
  nowMs: number,
  copies: CachedLibraries | null
): Promise<StationLibrary> {
  const library = findCached(station, copies) ?? (await load(tx, station, nowMs))
  trimPast(library.past, nowMs - lookBackMs(station, library.playlists))
  if (copies) cacheLibrary(copies.libraries, station.id, library)
  return library
}

function findCached({ id, libraryVersion }: LibraryStation, copies: CachedLibraries | null) {
  const copy = copies?.libraries.copies.get(id)?.library
  if (!copies || copy?.version !== libraryVersion) return null
  // The newest cached play must still exist: a backup may have been restored.
  const seen = copy.past.plays.at(-1)?.id
  if (seen !== undefined && !copies.plays.some(play => play.id === seen)) return null
  extendPast(copy.past, copy.playlists, copies.plays)
  return copy
}

async function load(tx: Tx, station: LibraryStation, nowMs: number): Promise<StationLibrary> {
  const ids = [station.id]
  const playlists = (await readPlaylists(tx, ids)).get(station.id) ?? []
  const from = [nowMs - lookBackMs(station, playlists)]
  const [plays, last] = await Promise.all([
    readPlays(tx, ids, { startsAtMs: from }),
    readLastPlays(tx, ids, from)
  ])
  const older = new Map(
    last.map(({ playlistId, startsAtMs, visibleAfter }) => [playlistId, { startsAtMs, visibleAfter }])
  )
  return { version: station.libraryVersion, playlists, past: { plays, older } }
}

/** Caches a library and evicts the least recently used ones above the maximum size, but not this one. */
export function cacheLibrary(
  libraries: LibraryCache,
  stationId: number,
  library: StationLibrary,
  most = weightAtMost
): void {
  forget(libraries, stationId)
  const weight = countEntries(library)
  for (const id of libraries.copies.keys()) {
    if (libraries.weight + weight <= most) break
    forget(libraries, id)
  }
  libraries.copies.set(stationId, { library, weight })
  libraries.weight += weight
}

function forget(libraries: LibraryCache, stationId: number): void {
  libraries.weight -= libraries.copies.get(stationId)?.weight ?? 0
  libraries.copies.delete(stationId)
}

const countEntries = ({ playlists, past }: StationLibrary) =>
  playlists.reduce((sum, { tracks }) => sum + tracks.ids.length, past.plays.length)

/** Raises the version of a station's library, for changes that no database trigger counts. */
export async function raiseLibraryVersion(tx: Tx, stationId: number): Promise<void> {
  await tx`select count_library_change(${stationId})`
}

const hourMs = 3_600_000
/** An hourly playlist looks back to a play that began a quarter of an hour after its minute. */
const leastMs = 2 * hourMs
/** The longest period of the rules, with a margin. */
const windowMs = 26 * hourMs
/** Plays that are kept regardless of age, for the current play and consecutive requests. */
const playsAtLeast = 25

/** The settings that determine how far rules look back. */
type Reach = Pick<StationFacts, 'duplicateRangeMs' | 'requestThresholdMs'>

/** How far the rules of a station look back. Milliseconds. */
export function lookBackMs({ duplicateRangeMs, requestThresholdMs }: Reach, playlists: readonly Playlist[]) {
  const hasWindows = playlists.some(({ schedule }) => schedule.length > 0)
  return Math.max(leastMs, duplicateRangeMs, requestThresholdMs, hasWindows ? windowMs : 0)
}

/** The past plays of a station in memory. */
export interface CachedPast {
  plays: PastPlay[]
  readonly older: Map<number, { startsAtMs: number; visibleAfter: number }>
}

/** Appends new plays and marks their tracks as played. */
export function extendPast(past: CachedPast, playlists: readonly Playlist[], plays: readonly PastPlay[]) {
  const newestId = past.plays.at(-1)?.id ?? 0
  const fresh = plays.filter(({ id }) => id > newestId)
  if (fresh.length === 0) return
  past.plays.push(...fresh)
  for (const { playlistId, trackId, pass, startsAtMs } of fresh) {
    const playlist = trackId === null ? undefined : playlists.find(({ id }) => id === playlistId)
    if (playlist && trackId !== null)
      markAired(playlist.tracks, trackIndex(playlist.tracks, trackId), pass, startsAtMs)
  }
}

/** Removes plays that began before a time; the last one of each playlist is kept. */
export function trimPast(past: CachedPast, beforeMs: number): void {
  const cut = past.plays.findIndex(play => play.startsAtMs >= beforeMs)
  const count = Math.min(cut === -1 ? past.plays.length : cut, past.plays.length - playsAtLeast)
  if (count <= 0) return
  for (const { playlistId, startsAtMs, isVisible } of past.plays.slice(0, count)) {
    if (isVisible) for (const last of past.older.values()) last.visibleAfter++
    if (playlistId !== null) past.older.set(playlistId, { startsAtMs, visibleAfter: 0 })
  }
  const rest = past.plays.slice(count)
  transferIndex(past.plays, rest)
  past.plays = rest
}

/** The past in the form that the AutoDJ uses. */
export function pastOf({ plays, older }: CachedPast, removed: readonly RemovedRow[]): LibraryPast {
  return { plays: plays satisfies readonly PlayOrRow[], older, removed: removed }
}
