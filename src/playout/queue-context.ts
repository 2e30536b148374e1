import type { Library } from '../autodj/library.ts'
import { type PastPlay, readPlays } from '../db/library.ts'
import type { Tx } from '../db/sql.ts'
import type { StationChange } from './change-station.ts'
import { type Libraries, pastOf, readLibraries, seenUpTo, type StationLibrary } from './queue/libraries.ts'
import {
  type LiveRow,
  type LockedStation,
  lockStations,
  type OpenPlay,
  readOpenPlays,
  readQueues,
  readRefused,
  readRequests,
  readStations,
  rulesOf
} from './rows.ts'

/** A station with everything that its AutoDJ depends on. */
export interface Situation {
  readonly station: LockedStation
  readonly play: OpenPlay | null
  readonly queue: readonly LiveRow[]
  readonly library: Library
}

const noLibrary: StationLibrary = { version: 0, playlists: [], past: { plays: [], older: new Map() } }

/** Reads that were sent together with the lock of their stations. */
export interface SituationReads {
  readonly queue: Promise<LiveRow[]>
  readonly newPlays: Promise<PastPlay[]>
}

/** Sends the reads that every situation needs: queued rows, and plays that are newer than cached libraries. */
export function sendSituationReads(
  tx: Tx,
  stationIds: readonly number[],
  libraries: Libraries | null
): SituationReads {
  const cached = stationIds.flatMap(id => {
    const upTo = libraries && seenUpTo(libraries, id)
    return upTo === null ? [] : [{ id, upTo }]
  })
  const queue = readQueues(tx, stationIds)
  const newPlays =
    cached.length === 0
      ? Promise.resolve([])
      : readPlays(
          tx,
          cached.map(({ id }) => id),
          { ids: cached.map(({ upTo }) => upTo) }
        )
  // A change that ends before it awaits them has its own error.
  for (const read of [queue, newPlays]) read.catch(() => {})
  return { queue, newPlays }
}

/**
 * The situation at the beginning of a change. Cached libraries are only read onward. `reads` were sent with the
 * lock; null: they are sent now.
 */
export async function readSituation(
  change: StationChange,
  reads: SituationReads | null = null
): Promise<Situation> {
  const { tx, services, station, play, isPulledBack } = change
  const taken = { stations: [station], plays: play ? [play] : [] }
  const libraries = isPulledBack ? null : services.libraries
  const [situation] = await readSituations(
    tx,
    taken,
    station.readAtMs,
    libraries,
    isPulledBack ? null : reads
  )
  if (!situation) throw new Error(`station ${station.id} is not among what was read`)
  return situation
}

/**
 * The situation within a change that has changed the queue or what plays. With `isLibraryChanged` playlists,
 * tracks or plays may be others as well, and all is read.
 */
export async function readSituationAnew(
  { tx, services, station, isPulledBack }: StationChange,
  nowMs: number,
  { isLibraryChanged }: { readonly isLibraryChanged: boolean }
): Promise<Situation> {
  // The triggers that count changes of a library wait for the commit; a change of our own has to count here.
  if (isLibraryChanged) await tx`set constraints all immediate`
  const libraries = isLibraryChanged || isPulledBack ? null : services.libraries
  const [situation] = await lockSituations(tx, [station.id], nowMs, libraries)
  if (!situation) throw new Error(`station ${station.id} is gone, although it is locked`)
  return situation
}

/** Locks stations and reads their situations: one statement of a kind, however many stations. */
export async function lockSituations(
  tx: Tx,
  stationIds: readonly number[],
  nowMs: number,
  libraries: Libraries | null
): Promise<Situation[]> {
  const [stations, plays] = await Promise.all([lockStations(tx, stationIds), readOpenPlays(tx, stationIds)])
  return readSituations(tx, { stations, plays }, nowMs, libraries)
}

/** The situation of a station that is not locked; null if it does not exist. */
export async function previewSituation(tx: Tx, stationId: number, nowMs: number): Promise<Situation | null> {
  const [stations, plays] = await Promise.all([readStations(tx, [stationId]), readOpenPlays(tx, [stationId])])
  const [situation] = await readSituations(tx, { stations, plays }, nowMs, null)
  return situation ?? null
}

async function readSituations(
  tx: Tx,
  { stations, plays }: { readonly stations: readonly LockedStation[]; readonly plays: readonly OpenPlay[] },
  nowMs: number,
  libraries: Libraries | null,
  reads: SituationReads | null = null
): Promise<Situation[]> {
  const stationIds = stations.map(({ id }) => id)
  const sent = reads ?? sendSituationReads(tx, stationIds, libraries)
  const [queue, newPlays, requests, refused] = await Promise.all([
    sent.queue,
    sent.newPlays,
    stations.some(({ hasRequests }) => hasRequests) ? readRequests(tx, stationIds) : [],
    stations.some(({ hasRefused }) => hasRefused) ? readRefused(tx, stationIds, nowMs) : []
  ])
  const found = await readLibraries(
    tx,
    stations.filter(station => station.hasAutodj),
    nowMs,
    libraries && { libraries, plays: newPlays }
  )
  const isSingle = stations.length === 1
  return stations.map(station => {
    const { playlists, past } = found.get(station.id) ?? noLibrary
    const own = <Row extends { readonly stationId: number }>(rows: readonly Row[]) =>
      isSingle ? rows : rows.filter(isOf(station.id))
    return {
      station,
      play: plays.find(isOf(station.id)) ?? null,
      queue: own(queue),
      library: {
        rules: rulesOf(station),
        playlists,
        past: pastOf(past, own(refused)),
        requests: own(requests)
      }
    }
  })
}

const isOf = (id: number) => (row: { readonly stationId: number }) => row.stationId === id
