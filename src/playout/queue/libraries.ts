import type { Past, HeardPlay, Playlist, Refused } from '../../autodj/library.ts'
import { transferIndex } from '../../autodj/recent.ts'
import { indexOf, markAired } from '../../autodj/tracks.ts'
import { type PastPlay, readOlder, readPlaylists, readPlays } from '../../db/library.ts'
import type { Tx } from '../../db/sql.ts'

/** What the AutoDJ of a station chooses from, and what it has played. */
export interface StationLibrary {
  readonly version: number
  readonly playlists: readonly Playlist[]
  readonly past: CachedPast
}

/** A station whose row is held, with the version of its library. */
export interface LibraryStation extends Reach {
  readonly id: number
  readonly libraryVersion: number
}

/** Tracks and plays in memory over all stations: some 200 MB. */
const weightAtMost = 2_000_000

/** Copies in memory. */
export interface Libraries {
  /** By station, the one that was used longest ago first. */
  readonly copies: Map<number, Copy>
  /** Tracks and plays in all of them. */
  weight: number
}

interface Copy {
  readonly library: StationLibrary
  /** As it was when the copy was used last. */
  readonly weight: number
}

export const openLibraries = (): Libraries => ({ copies: new Map(), weight: 0 })

/** The newest play that a copy has seen, from which on plays have to be read; null without a copy. */
export function seenUpTo(libraries: Libraries, stationId: number): number | null {
  const copy = libraries.copies.get(stationId)?.library
  return copy ? (copy.past.plays.at(-1)?.id ?? 0) : null
}

/**
 * The libraries of stations that the transaction holds. A copy in memory serves as long as its version
 * stands; `plays` are those that were read since, by this transaction. Without `libraries` all is read and
 * nothing kept: for transactions that have changed a library themselves.
 */
export async function readLibraries(
  tx: Tx,
  stations: readonly LibraryStation[],
  nowMs: number,
  copies: { readonly libraries: Libraries; readonly plays: readonly PastPlay[] } | null
): Promise<Map<number, StationLibrary>> {
  const found = new Map<number, StationLibrary>()
  const newPlays = byStation(copies?.plays ?? [])
  for (const { id, libraryVersion } of stations) {
    const copy = copies?.libraries.copies.get(id)?.library
    const plays = newPlays.get(id) ?? []
    // The newest play that is known must be there still: a backup may have been restored.
    const seen = copy?.past.plays.at(-1)?.id
    const isTrue =
      copy?.version === libraryVersion && (seen === undefined || plays.some(play => play.id === seen))
    if (!copy || !isTrue) continue
    extendPast(copy.past, copy.playlists, plays)
    found.set(id, copy)
  }
  const missing = stations.filter(({ id }) => !found.has(id))
  if (missing.length > 0) for (const [id, library] of await load(tx, missing, nowMs)) found.set(id, library)
  for (const station of stations) {
    const library = found.get(station.id)
    if (library) trimPast(library.past, nowMs - reachMs(station, library.playlists))
    if (library && copies) cacheLibrary(copies.libraries, station.id, library)
  }
  return found
}

function byStation(plays: readonly PastPlay[]): Map<number, PastPlay[]> {
  const grouped = new Map<number, PastPlay[]>()
  for (const play of plays) {
    const of = grouped.get(play.stationId)
    if (of) of.push(play)
    else grouped.set(play.stationId, [play])
  }
  return grouped
}

async function load(
  tx: Tx,
  stations: readonly LibraryStation[],
  nowMs: number
): Promise<Map<number, StationLibrary>> {
  const ids = stations.map(({ id }) => id)
  const playlists = await readPlaylists(tx, ids)
  const from = stations.map(station => nowMs - reachMs(station, playlists.get(station.id) ?? []))
  const [plays, older] = await Promise.all([
    readPlays(tx, ids, { startsAtMs: from }),
    readOlder(tx, ids, from)
  ])
  const libraries = new Map<number, StationLibrary>()
  for (const { id, libraryVersion } of stations)
    libraries.set(id, {
      version: libraryVersion,
      playlists: playlists.get(id) ?? [],
      past: { plays: [], older: new Map() }
    })
  for (const play of plays) libraries.get(play.stationId)?.past.plays.push(play)
  for (const { stationId, playlistId, ...last } of older)
    libraries.get(stationId)?.past.older.set(playlistId, last)
  return libraries
}

/**
 * Keeps a copy, and forgets those that were used longest ago where all together are too large; the newest
 * stays, however large it is.
 */
export function cacheLibrary(
  libraries: Libraries,
  stationId: number,
  library: StationLibrary,
  most = weightAtMost
): void {
  forget(libraries, stationId)
  const weight = weightOf(library)
  for (const id of libraries.copies.keys()) {
    if (libraries.weight + weight <= most) break
    forget(libraries, id)
  }
  libraries.copies.set(stationId, { library, weight })
  libraries.weight += weight
}

function forget(libraries: Libraries, stationId: number): void {
  libraries.weight -= libraries.copies.get(stationId)?.weight ?? 0
  libraries.copies.delete(stationId)
}

const weightOf = ({ playlists, past }: StationLibrary) =>
  playlists.reduce((sum, { tracks }) => sum + tracks.ids.length, past.plays.length)

/** Raises the version of a station's library, where no trigger of the database does. */
export async function raiseLibraryVersion(tx: Tx, stationId: number): Promise<void> {
  await tx`select count_library_change(${stationId})`
}

const hourMs = 3_600_000
/** An hourly playlist looks back at the play that ran a quarter past its minute. */
const leastMs = 2 * hourMs
/** The longest window, and a bit. */
const windowMs = 26 * hourMs
/** Kept however old they are: what is on air, and runs of requests. */
const playsAtLeast = 25

/** What a station's rules look back to. */
interface Reach {
  readonly duplicateRangeMs: number
  readonly requestThresholdMs: number
}

/** How far the rules of a station look back. Milliseconds. */
export function reachMs(
  { duplicateRangeMs, requestThresholdMs }: Reach,
  playlists: readonly Playlist[]
): number {
  const looksAtWindows = playlists.some(
    ({ schedule, options }) =>
      schedule.length > 0 &&
      (options.has('single_track') || options.has('loop_once') || schedule.some(item => item.loop_once))
  )
  const hasOverruns = playlists.some(({ schedule }) => schedule.length > 0)
  return Math.max(leastMs, duplicateRangeMs, requestThresholdMs, looksAtWindows || hasOverruns ? windowMs : 0)
}

/**
 * The past of a station in memory, which grows by what is played and is cut where its rules do not look any
 * more.
 */
export interface CachedPast {
  plays: PastPlay[]
  readonly older: Map<number, { startsAtMs: number; visibleAfter: number }>
}

/** Adds plays that are not there yet, and marks their tracks as aired. */
export function extendPast(
  past: CachedPast,
  playlists: readonly Playlist[],
  plays: readonly PastPlay[]
): void {
  const newestId = past.plays.at(-1)?.id ?? 0
  const fresh = plays.filter(({ id }) => id > newestId)
  if (fresh.length === 0) return
  past.plays.push(...fresh)
  for (const { playlistId, trackId, pass, startsAtMs } of fresh) {
    const playlist = trackId === null ? undefined : playlists.find(({ id }) => id === playlistId)
    if (playlist && trackId !== null)
      markAired(playlist.tracks, indexOf(playlist.tracks, trackId), pass, startsAtMs)
  }
}

/** Lets go of plays that began before a time; of each playlist the last one is remembered. */
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

/** The past as the AutoDJ sees it. */
export function pastOf({ plays, older }: CachedPast, refused: readonly Refused[]): Past {
  return { plays: plays satisfies readonly HeardPlay[], older, refused }
}
