import type { Library } from '../model/autodj/library.ts'
import { type NewPlay, readPlays } from '../stores/db/library/library.ts'
import type { Tx } from '../stores/db/sql.ts'
import type { StationChange } from './change-station.ts'
import { type LibraryCache, newestCachedPlayId } from './queue/libraries.ts'
import { composePast } from './queue/library-past.ts'
import type { StationLibrary } from './queue/packed-library.ts'
import { readLibrary } from './queue/read-library.ts'
import {
  type AutodjFacts,
  readAutodjFacts,
  readQueues,
  readRemovedRows,
  readRequests,
  toAutodjRules,
  type UnplayedRow
} from './rows.ts'
import { readStations, type StationOnAir } from './station-facts.ts'

/** A station with everything that its AutoDJ depends on. */
export interface QueueContext extends StationOnAir {
  readonly autodj: AutodjFacts
  readonly queue: readonly UnplayedRow[]
  readonly library: Library
}

const noLibrary: StationLibrary = { version: 0, playlists: [], past: { plays: [], older: new Map() } }

/** What every queue context of a station needs. */
export interface QueueReads {
  readonly autodj: AutodjFacts
  readonly queue: readonly UnplayedRow[]
  /** The plays from the newest one of the cached library on; none if no library is cached. */
  readonly newPlays: readonly NewPlay[]
}

/** Reads what the queue contexts of stations need, by station. All statements are sent at once. */
export async function readForQueues(
  tx: Tx,
  stationIds: readonly number[],
  libraries: LibraryCache | null
): Promise<Map<number, QueueReads>> {
  const cached = stationIds.flatMap(id => {
    const newestId = libraries && newestCachedPlayId(libraries, id)
    return newestId === null ? [] : [{ id, newestId }]
  })
  const ids = cached.map(({ id }) => id)
  const [facts, rows, plays] = await Promise.all([
    readAutodjFacts(tx, stationIds),
    readQueues(tx, stationIds),
    ids.length === 0 ? [] : readPlays(tx, ids, { ids: cached.map(({ newestId }) => newestId) })
  ])
  return new Map(
    facts.map(autodj => {
      const isOwn = ({ stationId }: { readonly stationId: number }) => stationId === autodj.id
      return [autodj.id, { autodj, queue: rows.filter(isOwn), newPlays: plays.filter(isOwn) }]
    })
  )
}

/** Reads what the queue context of one station needs. Throws if it does not exist. */
export async function readForQueue(
  tx: Tx,
  stationId: number,
  libraries: LibraryCache | null
): Promise<QueueReads> {
  const reads = (await readForQueues(tx, [stationId], libraries)).get(stationId)
  if (!reads) throw new Error(`station ${stationId} does not exist`)
  return reads
}

/** The context at the beginning of a change. */
export async function readQueueContext(change: StationChange, reads?: QueueReads): Promise<QueueContext> {
  const { tx, services, station, isPulledBack } = change
  const libraries = isPulledBack ? null : services.libraries
  const read = reads ?? (await readForQueue(tx, station.id, libraries))
  return readContext(tx, change, station.readAtMs, libraries, read)
}

/** The context within a change that has changed the queue or the play, or (`isLibraryChanged`) the library. */
export async function rereadQueueContext(
  { tx, services, station: { id }, isPulledBack, afterCommit }: StationChange,
  nowMs: number,
  { isLibraryChanged }: { readonly isLibraryChanged: boolean }
): Promise<QueueContext> {
  // The triggers that count changes of a library wait for the commit; a change of our own has to count here.
  if (isLibraryChanged) await tx`set constraints all immediate`
  const libraries = isPulledBack ? null : services.libraries
  const context = await readCurrentContext(
    tx,
    id,
    nowMs,
    libraries,
    isLibraryChanged ? afterCommit : undefined
  )
  if (!context) throw new Error(`station ${id} does not exist, although it is locked`)
  return context
}

/** The context of a station that is not locked; null if it does not exist. */
export const readQueueContextUnlocked = (tx: Tx, stationId: number, nowMs: number) =>
  readCurrentContext(tx, stationId, nowMs, null)

async function readCurrentContext(
  tx: Tx,
  stationId: number,
  nowMs: number,
  libraries: LibraryCache | null,
  afterCommit?: StationChange['afterCommit']
): Promise<QueueContext | null> {
  const ids = [stationId]
  const [[station], read] = await Promise.all([readStations(tx, ids), readForQueues(tx, ids, libraries)])
  const reads = read.get(stationId)
  return station && reads ? readContext(tx, station, nowMs, libraries, reads, afterCommit) : null
}

async function readContext(
  tx: Tx,
  { station, play }: StationOnAir,
  nowMs: number,
  libraries: LibraryCache | null,
  { autodj, queue, newPlays }: QueueReads,
  afterCommit?: StationChange['afterCommit']
): Promise<QueueContext> {
  const [requests, removed] = await Promise.all([
    autodj.hasRequests ? readRequests(tx, [station.id]) : [],
    autodj.hasRemovedRows ? readRemovedRows(tx, [station.id], nowMs) : []
  ])
  const { playlists, past } = autodj.hasAutodj
    ? await readLibrary(tx, autodj, nowMs, libraries && { libraries, plays: newPlays, afterCommit })
    : noLibrary
  const library = { rules: toAutodjRules(autodj), playlists, past: composePast(past, removed), requests }
  return { station, play, autodj, queue, library }
}
