import type { Playlist } from '../autodj/library.ts'
import { type PastPlay, readOlder, readPlaylists, readPlays } from '../db/library.ts'
import type { Tx } from '../db/sql.ts'
import { cutPast, extendPast, type KeptPast, type Reach, reachMs } from './past.ts'

/** What the AutoDJ of a station chooses from, and what it has played. */
export interface StationLibrary {
  readonly version: number
  readonly playlists: readonly Playlist[]
  readonly past: KeptPast
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
 * The libraries of stations that the transaction holds. A copy in memory serves as long as its version stands; `plays` are
 * those that were read since, by this transaction. Without `libraries` all is read and nothing kept: for transactions that have changed
 * a library themselves.
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
    if (library) cutPast(library.past, nowMs - reachMs(station, library.playlists))
    if (library && copies) keep(copies.libraries, station.id, library)
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

/** Keeps a copy, and forgets those that were used longest ago where all together are too large; the newest stays, however large it is. */
export function keep(
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
export async function countLibraryChange(tx: Tx, stationId: number): Promise<void> {
  await tx`select count_library_change(${stationId})`
}
