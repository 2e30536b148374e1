import type { Library } from '../model/autodj/library.ts'
import { type NewPlay, readPlays } from '../stores/db/library/library.ts'
import type { Tx } from '../stores/db/sql.ts'
import type { StationChange } from './change-station.ts'
import { type LibraryCache, newestCachedPlayId } from './queue/libraries.ts'
import { pastOf } from './queue/library-past.ts'
import type { StationLibrary } from './queue/packed-library.ts'
import { readLibrary } from './queue/read-library.ts'
import {
  type UnplayedRow,
  type StationFacts,
  lockStations,
  type OpenPlay,
  readOpenPlays,
  readQueues,
  readRemovedRows,
  readRequests,
  readStationsUnlocked,
  rulesOf
} from './rows.ts'

/** A station with everything that its AutoDJ depends on. */
export interface QueueContext {
  readonly station: StationFacts
  readonly play: OpenPlay | null
  readonly queue: readonly UnplayedRow[]
  readonly library: Library
}

const noLibrary: StationLibrary = { version: 0, playlists: [], past: { plays: [], older: new Map() } }

/** Reads of stations that were sent together with their lock. */
export interface QueueReads {
  readonly queue: Promise<UnplayedRow[]>
  readonly newPlays: Promise<NewPlay[]>
}

/** Sends the reads that every context needs: queued rows, and plays newer than the cached libraries. */
export function sendQueueReads(
  tx: Tx,
  stationIds: readonly number[],
  libraries: LibraryCache | null
): QueueReads {
  const cached = stationIds.flatMap(id => {
    const newestId = libraries && newestCachedPlayId(libraries, id)
    return newestId === null ? [] : [{ id, newestId }]
  })
  const ids = { ids: cached.map(({ newestId }) => newestId) }
  const queue = readQueues(tx, stationIds)
  const newPlays =
    cached.length === 0
      ? Promise.resolve([])
      : readPlays(
          tx,
          cached.map(({ id }) => id),
          ids
        )
  // A change that ends before it awaits them has its own error.
  for (const read of [queue, newPlays]) read.catch(() => {})
  return { queue, newPlays }
}

/** Waits for the queued rows of one of the stations. */
export const awaitQueue = async ({ queue }: QueueReads, stationId: number) =>
  (await queue).filter(row => row.stationId === stationId)

/** The context at the beginning of a change. `reads` were sent with the lock; null: they are sent now. */
export function readQueueContext(change: StationChange, reads: QueueReads | null = null) {
  const { tx, services, station, play, isPulledBack } = change
  return isPulledBack
    ? readContext(tx, station, play, station.readAtMs, null)
    : readContext(tx, station, play, station.readAtMs, services.libraries, reads)
}

/** The context within a change that has changed the queue or the play. `isLibraryChanged`: reads all. */
export async function rereadQueueContext(
  { tx, services, station: { id }, isPulledBack }: StationChange,
  nowMs: number,
  { isLibraryChanged }: { readonly isLibraryChanged: boolean }
): Promise<QueueContext> {
  // The triggers that count changes of a library wait for the commit; a change of our own has to count here.
  if (isLibraryChanged) await tx`set constraints all immediate`
  const libraries = isLibraryChanged || isPulledBack ? null : services.libraries
  const [[station], [play = null]] = await Promise.all([lockStations(tx, [id]), readOpenPlays(tx, [id])])
  if (!station) throw new Error(`station ${id} does not exist, although it is locked`)
  return readContext(tx, station, play, nowMs, libraries)
}

/** The context of a station that is not locked; null if it does not exist. */
export async function readQueueContextUnlocked(tx: Tx, stationId: number, nowMs: number) {
  const ids = [stationId]
  const [[station], [play = null]] = await Promise.all([
    readStationsUnlocked(tx, ids),
    readOpenPlays(tx, ids)
  ])
  return station ? readContext(tx, station, play, nowMs, null) : null
}

async function readContext(
  tx: Tx,
  station: StationFacts,
  play: OpenPlay | null,
  nowMs: number,
  libraries: LibraryCache | null,
  reads: QueueReads | null = null
): Promise<QueueContext> {
  const sent = reads ?? sendQueueReads(tx, [station.id], libraries)
  const [queue, plays, requests, removed] = await Promise.all([
    awaitQueue(sent, station.id),
    sent.newPlays,
    station.hasRequests ? readRequests(tx, [station.id]) : [],
    station.hasRemovedRows ? readRemovedRows(tx, [station.id], nowMs) : []
  ])
  const newPlays = plays.filter(({ stationId }) => stationId === station.id)
  const { playlists, past } = station.hasAutodj
    ? await readLibrary(tx, station, nowMs, libraries && { libraries, plays: newPlays })
    : noLibrary
  const library = { rules: rulesOf(station), playlists, past: pastOf(past, removed), requests }
  return { station, play, queue, library }
}
