import type { Playlist } from '../../model/autodj/library.ts'
import { forkTracks } from '../../model/autodj/tracks.ts'
import { readChangedPlaylists, readLibraryChanges } from '../../stores/db/library/library-changes.ts'
import {
  type NewPlay,
  readLastPlays,
  readLastSongStarts,
  readPlaylists,
  readPlays
} from '../../stores/db/library/library.ts'
import type { Tx } from '../../stores/db/sql.ts'
import type { AutodjFacts } from '../rows.ts'
import { cacheLibrary, findCachedLibrary, type LibraryCache } from './libraries.ts'
import {
  type CachedPast,
  extendPast,
  lookBackMs,
  type LookBackSettings,
  markProvisional,
  trimPast
} from './library-past.ts'
import type { StationLibrary } from './packed-library.ts'

/** A station with the version of its library. */
export type LibraryStation = Pick<AutodjFacts, 'id' | 'libraryVersion' | keyof LookBackSettings>

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
  const keep = () => cacheLibrary(copies.libraries, station.id, library)
  if (copies.afterCommit) copies.afterCommit(keep)
  else keep()
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
  playlists: playlists.map(playlist => ({ ...playlist, tracks: forkTracks(playlist.tracks) })),
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
  if (!isPastRead) markProvisional(past.plays, updated)
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

const emptyPast = (): CachedPast => ({ plays: [], older: new Map() })

/** Reads the past plays on which the rules of the playlists of a station depend, without a cache. */
export async function readPast(
  tx: Tx,
  station: LibraryStation,
  nowMs: number,
  playlists: readonly Playlist[]
): Promise<CachedPast> {
  const past = await loadPast(tx, station, nowMs, playlists)
  trimPast(past, nowMs - lookBackMs(station, playlists))
  return past
}

async function loadPast(tx: Tx, station: LibraryStation, nowMs: number, playlists: readonly Playlist[]) {
  const pasts = await loadPasts(tx, [station], nowMs, new Map([[station.id, playlists]]))
  return pasts.get(station.id) ?? emptyPast()
}

/**
 * Reads the past plays of stations, as far back as their rules look: at least to the last play that is not a jingle.
 */
async function loadPasts(
  tx: Tx,
  stations: readonly LibraryStation[],
  nowMs: number,
  playlists: ReadonlyMap<number, readonly Playlist[]>
): Promise<Map<number, CachedPast>> {
  const ids = stations.map(({ id }) => id)
  const songs = await readLastSongStarts(tx, ids)
  const from = stations.map(station =>
    Math.min(nowMs - lookBackMs(station, playlists.get(station.id) ?? []), songs.get(station.id) ?? Infinity)
  )
  const [plays, last] = await Promise.all([
    readPlays(tx, ids, { startsAtMs: from }),
    readLastPlays(tx, ids, from)
  ])
  const pasts = new Map(ids.map(id => [id, emptyPast()]))
  for (const play of plays) pasts.get(play.stationId)?.plays.push(play)
  for (const [id, { plays: own }] of pasts) markProvisional(own, playlists.get(id) ?? [])
  for (const { stationId, playlistId, startsAtMs, visibleAfter } of last)
    pasts.get(stationId)?.older.set(playlistId, { startsAtMs, visibleAfter })
  return pasts
}
