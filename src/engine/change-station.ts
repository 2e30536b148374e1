import type { PartRevisions, StationSnapshot } from '../model/station/state.ts'
import { mayFireTriggers } from '../model/station/triggers.ts'
import { changeDurationMetric } from '../platform/metrics/engine.ts'
import { engineTime } from '../platform/runtime/engine-time.ts'
import { ApiError } from '../platform/runtime/errors.ts'
import { runInChildSpan } from '../platform/tracing/tracing.ts'
import { beginForFreeStations, beginForStation } from '../stores/db/begin-for-station.ts'
import { readSnapshots } from '../stores/db/snapshots.ts'
import type { Fragment, Tx } from '../stores/db/sql.ts'
import { type CommittedChanges, publishCommitted, type ShownChange } from './publish.ts'
import type { EngineServices } from './services.ts'
import {
  tryLockStations,
  lockStations,
  maxClockErrorMs,
  mayHaveFuturePlays,
  pullBackFuturePlays,
  readStationsOnAir,
  type StationColumns,
  type StationFacts,
  type StationOnAir,
  toTriggerState,
  stationWriteStatements
} from './station-facts.ts'

/** A part of what a station shows. */
type StatePart = keyof PartRevisions

/** A station that a transaction has locked, and what is done to it. */
export interface StationChange extends StationOnAir {
  readonly tx: Tx
  readonly services: EngineServices
  /** Plays after now were pulled back to now, so libraries in memory hold wrong times. */
  readonly isPulledBack: boolean
  /** Marks parts to publish after the commit, and sets `columns` of the station in the same statement. */
  readonly mark: (parts: readonly StatePart[], columns?: StationColumns) => void
  /** Sends statements in order without awaiting them. If one fails, the change is rolled back. */
  readonly send: (statements: readonly Fragment[]) => void
  /** Calls `work`, which must not throw, once the change is committed. */
  readonly afterCommit: (work: () => void) => void
  /** When the change happened, for web hooks (Unix milliseconds); the default is now. */
  readonly happenedAt: (atMs: number) => void
  /** Converts a time of this process's clock: neither after now nor before pulled-back plays. */
  readonly momentOf: (atMs: number) => number
}

export interface ChangeOptions {
  /** The caller does not wait until the change is published. */
  readonly isPublishedLater?: boolean
  /** Runs in the transaction before the lock: slow statements that do not depend on the station. */
  readonly beforeLock?: (tx: Tx) => Promise<void>
}

type Change<Result> = (change: StationChange) => Promise<Result>

/** A change with the reads that it needs. They are sent in the round trip of the lock, and see the locked state. */
export interface ReadingChange<Reads, Result> {
  readonly reads: (tx: Tx) => Promise<Reads>
  readonly change: (change: StationChange, reads: Reads) => Promise<Result>
}

/**
 * Changes a station in one transaction: locks and reads it, runs `change`, raises the revision once if a part
 * was marked, and writes fired triggers into the outbox. Publishes after the commit; the sweep repairs what
 * fails then. Throws 404 if the station does not exist, and what `change` throws; then nothing is changed.
 */
export async function changeStation<Reads, Result>(
  services: EngineServices,
  stationId: number,
  change: Change<Result> | ReadingChange<Reads, Result>,
  { isPublishedLater = false, beforeLock }: ChangeOptions = {}
): Promise<Result> {
  let startedAtMs = 0
  const commit = () =>
    beginForStation(
      services.sql,
      stationId,
      async tx => {
        startedAtMs = performance.now()
        await beforeLock?.(tx)
        return typeof change === 'function'
          ? changeIn(services, tx, stationId, withoutReads(change))
          : changeIn(services, tx, stationId, change)
      },
      { isPipelined: beforeLock === undefined }
    )
  const attributes = { 'cuewire.station.id': stationId }
  const { result, committed } = await runInChildSpan('commit', attributes, commit)
  observeChange('single', startedAtMs)
  const publication = publishCommitted(services, committed)
  if (!isPublishedLater) await publication
  return result
}

const withoutReads = <Result>(change: Change<Result>) => ({ reads: async () => {}, change })

function observeChange(kind: 'single' | 'batch', startedAtMs: number): void {
  changeDurationMetric.observe({ kind }, (performance.now() - startedAtMs) / 1_000)
}

/** Inserts a station and changes it in the same transaction. Returns its id. */
export async function createStation(
  services: EngineServices,
  insert: (tx: Tx) => Promise<number>,
  change: Change<void>
): Promise<number> {
  const { stationId, committed } = await services.sql.begin(async tx => {
    const id = await insert(tx)
    return { stationId: id, ...(await changeIn(services, tx, id, withoutReads(change))) }
  })
  await publishCommitted(services, committed)
  return stationId
}

async function changeIn<Reads, Result>(
  services: EngineServices,
  tx: Tx,
  stationId: number,
  { reads: read, change }: ReadingChange<Reads, Result>
) {
  const { locked, reads } = await lockWithReads(tx, stationId, read)
  const opened = openChange(services, tx, locked)
  const result = await change(opened.change, reads)
  return { result, committed: await writeChanges(services, tx, [opened]) }
}

/** Locks a station and reads it, with what a change needs. Throws 404 if it does not exist. */
async function lockWithReads<Reads>(tx: Tx, stationId: number, read: (tx: Tx) => Promise<Reads>) {
  const [locked, reads] = await Promise.all([lockOne(tx, stationId), read(tx)])
  if (!(await pullBackFuturePlays(tx, locked))) return { locked, reads }
  const [[again = locked], readsAgain] = await Promise.all([readStationsOnAir(tx, [stationId]), read(tx)])
  return { locked: { ...locked, ...again, isPulledBack: true }, reads: readsAgain }
}

async function lockOne(tx: Tx, stationId: number): Promise<LockedStation> {
  const sentAtMs = performance.now()
  const [onAir] = await lockStations(tx, [stationId])
  if (!onAir) throw new ApiError('not-found')
  return { ...onAir, behindMs: measureClockError(onAir.station, sentAtMs), isPulledBack: false }
}

/** Maximum wait of a batch for a lock; its stations then change one by one. */
const batchLockTimeoutMs = 100

/** The results of a committed batch. */
export interface BatchResult<Result> {
  /** By station; a station without a result was not changed. */
  readonly results: ReadonlyMap<number, Result>
  /** Resolves when the changes are published, or left to the sweep. */
  readonly published: Promise<void>
}

/** A change of several stations with the reads that it needs, like `ReadingChange`. */
export interface ReadingBatch<Reads, Result> {
  readonly reads: (tx: Tx, stationIds: readonly number[]) => Promise<Reads>
  readonly change: (changes: readonly StationChange[], reads: Reads) => Promise<ReadonlyMap<number, Result>>
}

/**
 * Changes stations in one transaction, like `changeStation` for each of them, but without waiting for locks:
 * stations that are locked, are being changed by this process, do not exist or have plays in the future are
 * left out. `change` gets the others and may leave out more. If it throws, nothing is changed.
 */
export async function changeStations<Reads, Result>(
  services: EngineServices,
  stationIds: readonly number[],
  { reads: read, change }: ReadingBatch<Reads, Result>
): Promise<BatchResult<Result>> {
  let startedAtMs = 0
  const commit = () =>
    beginForFreeStations(services.sql, stationIds, async (tx, freeIds) => {
      startedAtMs = performance.now()
      const [free, reads] = await Promise.all([lockFree(tx, freeIds), read(tx, freeIds)])
      const opened = free.map(each => openChange(services, tx, each))
      const changes = opened.map(each => each.change)
      const results = await change(changes, reads)
      const written = opened.filter(({ change: { station } }) => results.has(station.id))
      return { results, committed: await writeChanges(services, tx, written) }
    })
  const changed = await runInChildSpan('commit', { 'cuewire.stations': stationIds.length }, commit)
  if (!changed) return { results: new Map(), published: Promise.resolve() }
  observeChange('batch', startedAtMs)
  return { results: changed.results, published: publishCommitted(services, changed.committed) }
}

/** Locks and reads the stations that nobody else has locked. */
async function lockFree(tx: Tx, stationIds: readonly number[]): Promise<LockedStation[]> {
  const sentAtMs = performance.now()
  const [lockedIds, stations] = await Promise.all([
    tryLockStations(tx, stationIds, batchLockTimeoutMs),
    // After the lock, so that it sees what the last holder wrote.
    readStationsOnAir(tx, stationIds)
  ])
  const [first] = stations
  if (!first) return []
  const behindMs = measureClockError(first.station, sentAtMs)
  return stations
    .filter(each => lockedIds.has(each.station.id) && !mayHaveFuturePlays(each))
    .map(each => ({ ...each, behindMs, isPulledBack: false }))
}

/**
 * Adds a sample to the engine time. Returns by how many milliseconds the time of this process was behind; 0
 * within the error of the measurement.
 */
function measureClockError({ readAtMs }: StationFacts, sentAtMs: number): number {
  const answeredAtMs = performance.now()
  const offMs = engineTime.addSample({ sentAtMs, answeredAtMs, timeMs: readAtMs })
  const isOff = Math.abs(offMs) > maxClockErrorMs + (answeredAtMs - sentAtMs) / 2
  return isOff ? Math.round(offMs) : 0
}

interface LockedStation extends StationOnAir {
  readonly behindMs: number
  readonly isPulledBack: boolean
}

/** A change with what it has marked so far. */
interface OpenChange {
  readonly change: StationChange
  readonly parts: Set<StatePart>
  readonly afterCommit: (() => void)[]
  columns: StationColumns
  happenedAtMs: number
}

function openChange(
  services: EngineServices,
  tx: Tx,
  { station, play, behindMs, isPulledBack }: LockedStation
): OpenChange {
  const opened: OpenChange = {
    change: {
      tx,
      services,
      station,
      play,
      isPulledBack,
      mark: (marked, written = {}) => {
        for (const part of marked) opened.parts.add(part)
        opened.columns = { ...opened.columns, ...written }
      },
      send,
      afterCommit: work => void opened.afterCommit.push(work),
      happenedAt: atMs => void (opened.happenedAtMs = atMs),
      momentOf: atMs => (isPulledBack ? station.readAtMs : Math.min(atMs + behindMs, station.readAtMs))
    },
    parts: new Set<StatePart>(isPulledBack ? ['playback', 'live'] : []),
    afterCommit: [],
    columns: {},
    happenedAtMs: station.readAtMs
  }
  return opened
}

/** If a statement fails, its transaction rejects with the error. */
function send(statements: readonly Fragment[]): void {
  for (const statement of statements) void statement.execute()
}

/**
 * Raises revisions, reads what is shown now and writes the outbox, as the last statements before the commit.
 */
async function writeChanges(
  services: EngineServices,
  tx: Tx,
  changes: readonly OpenChange[]
): Promise<CommittedChanges> {
  send(
    stationWriteStatements(
      tx,
      changes.map(({ change, parts, columns }) => ({ stationId: change.station.id, parts, columns }))
    )
  )
  const afterCommit = changes.flatMap(each => each.afterCommit)
  const shown = changes.filter(({ parts }) => parts.size > 0)
  if (shown.length === 0) return { shown: Promise.resolve([]), outbox: null, afterCommit }
  const snapshots = readSnapshots(
    tx,
    shown.map(({ change }) => change.station.id)
  )
  const committed = { shown: snapshots.then(read => withSnapshots(shown, read)), afterCommit }
  // A transaction that fails has its own error.
  committed.shown.catch(() => {})
  const triggering = shown.flatMap(({ change, parts, happenedAtMs }) =>
    mayFireTriggers(change.station.hookTriggers, parts)
      ? [{ stationId: change.station.id, before: toTriggerState(change), happenedAtMs }]
      : []
  )
  if (triggering.length === 0) return { ...committed, outbox: null }
  const { deliveries } = await services.outbox.sendEvents(tx, triggering, snapshots)
  return { ...committed, outbox: deliveries }
}

/** Adds what the stations show now. */
function withSnapshots(changes: readonly OpenChange[], snapshots: readonly StationSnapshot[]): ShownChange[] {
  const changeOf = new Map(changes.map(each => [each.change.station.id, each]))
  return snapshots.flatMap(snapshot => {
    const opened = changeOf.get(snapshot.stationId)
    return opened ? [{ before: opened.change, snapshot, hasNewPlayback: opened.parts.has('playback') }] : []
  })
}
