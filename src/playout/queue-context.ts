import type { Library } from '../autodj/library.ts'
import { type PastPlay, readPlays } from '../db/library.ts'
import type { Tx } from '../db/sql.ts'
import type { StationChange } from './change-station.ts'
import {
  type Libraries,
  pastOf,
  readLibraries,
  newestCachedPlayId,
  type StationLibrary
} from './queue/libraries.ts'
import {
  type UnplayedRow,
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
export interface QueueContext {
  readonly station: LockedStation
  readonly play: OpenPlay | null
  readonly queue: readonly UnplayedRow[]
  readonly library: Library
}

const noLibrary: StationLibrary = { version: 0, playlists: [], past: { plays: [], older: new Map() } }

/** Reads that were sent together with the lock of their stations. */
export interface QueueReads {
  readonly queue: Promise<UnplayedRow[]>
  readonly newPlays: Promise<PastPlay[]>
}

/** Sends the reads that every context needs: queued rows, and plays that are newer than the cached libraries. */
export function sendQueueReads(
  tx: Tx,
  stationIds: readonly number[],
  libraries: Libraries | null
): QueueReads {
  const cached = stationIds.flatMap(id => {
    const upTo = libraries && newestCachedPlayId(libraries, id)
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
 * The context at the beginning of a change. Cached libraries are only read onward. `reads` were sent with the
 * lock; null: they are sent now.
 */
export async function readQueueContext(
  change: StationChange,
  reads: QueueReads | null = null
): Promise<QueueContext> {
  const { tx, services, station, play, isPulledBack } = change
  const taken = { stations: [station], plays: play ? [play] : [] }
  const libraries = isPulledBack ? null : services.libraries
  const [context] = await readQueueContexts(
    tx,
    taken,
    station.readAtMs,
    libraries,
    isPulledBack ? null : reads
  )
  if (!context) throw new Error(`station ${station.id} is not among what was read`)
  return context
}

/**
 * The context within a change that has changed the queue or what plays. With `isLibraryChanged` playlists,
 * tracks or plays may be others as well, and all is read.
 */
export async function rereadQueueContext(
  { tx, services, station, isPulledBack }: StationChange,
  nowMs: number,
  { isLibraryChanged }: { readonly isLibraryChanged: boolean }
): Promise<QueueContext> {
  // The triggers that count changes of a library wait for the commit; a change of our own has to count here.
  if (isLibraryChanged) await tx`set constraints all immediate`
  const libraries = isLibraryChanged || isPulledBack ? null : services.libraries
  const [context] = await lockQueueContexts(tx, [station.id], nowMs, libraries)
  if (!context) throw new Error(`station ${station.id} does not exist, although it is locked`)
  return context
}

/** Locks stations and reads their contexts: one statement of a kind, however many stations. */
export async function lockQueueContexts(
  tx: Tx,
  stationIds: readonly number[],
  nowMs: number,
  libraries: Libraries | null
): Promise<QueueContext[]> {
  const [stations, plays] = await Promise.all([lockStations(tx, stationIds), readOpenPlays(tx, stationIds)])
  return readQueueContexts(tx, { stations, plays }, nowMs, libraries)
}

/** The context of a station that is not locked; null if it does not exist. */
export async function readQueueContextUnlocked(
  tx: Tx,
  stationId: number,
  nowMs: number
): Promise<QueueContext | null> {
  const [stations, plays] = await Promise.all([readStations(tx, [stationId]), readOpenPlays(tx, [stationId])])
  const [context] = await readQueueContexts(tx, { stations, plays }, nowMs, null)
  return context ?? null
}

async function readQueueContexts(
  tx: Tx,
  { stations, plays }: { readonly stations: readonly LockedStation[]; readonly plays: readonly OpenPlay[] },
  nowMs: number,
  libraries: Libraries | null,
  reads: QueueReads | null = null
): Promise<QueueContext[]> {
  const stationIds = stations.map(({ id }) => id)
  const sent = reads ?? sendQueueReads(tx, stationIds, libraries)
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
