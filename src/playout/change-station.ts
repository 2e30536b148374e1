import type postgres from 'postgres'

import { beginForStation } from '../db/begin-for-station.ts'
import { readSnapshots } from '../db/snapshots.ts'
import type { Tx } from '../db/sql.ts'
import { scheduleDeliveries } from '../jobs/queues.ts'
import { withDeadline } from '../runtime/deadline.ts'
import { engineTime, engineTimeMs } from '../runtime/engine-time.ts'
import { ApiError } from '../runtime/errors.ts'
import type { Revisions, Song, StationSnapshot, StationState } from '../station/state.ts'
import { eventStatement, readSubscribedHooks } from '../webhooks/outbox.ts'
import { publishSnapshot } from './publish.ts'
import { maxClockErrorMs, pullBackFuturePlays } from './pull-back.ts'
import { type StationFacts, lockStations, type OpenPlay, readOpenPlay, readOpenPlays } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import { mayFireTriggers, detectEvent, triggerValues } from './triggers.ts'

/** A part of what a station shows. */
export type StatePart = keyof Revisions

/** A station that a transaction has locked, and what is done to it. */
export interface StationChange {
  readonly tx: Tx
  readonly services: PlayoutServices
  readonly station: StationFacts
  /** The current play; null while the station is silent. */
  readonly play: OpenPlay | null
  /** Plays after now were pulled back to now, so libraries in memory hold wrong times. */
  readonly isPulledBack: boolean
  /** Marks parts to publish after the commit, and sets `columns` of the station in the same statement. */
  readonly mark: (parts: readonly StatePart[], columns?: StationColumns) => void
  /** Sends statements in order without awaiting them. If one fails, the change is rolled back. */
  readonly send: (statements: readonly PendingStatement[]) => void
  /** When the change happened, for web hooks (Unix milliseconds); the default is now. */
  readonly happenedAt: (atMs: number) => void
  /** Converts a time of this process's clock: neither after now nor before pulled-back plays. */
  readonly momentOf: (atMs: number) => number
}

/** A statement that is not sent yet. */
export type PendingStatement = postgres.PendingQuery<postgres.Row[]>

/** Columns of `stations` that changes write. */
export type StationColumns = { readonly [Name in StationColumn]?: number | null }

type StationColumn = 'wake_at_ms' | 'wake_version' | 'next_seq' | 'filled_version'

export interface ChangeOptions {
  /** The caller does not wait until the change is published. */
  readonly isPublishedLater?: boolean
  /** Runs in the transaction before the lock: slow statements that do not depend on the station. */
  readonly beforeLock?: (tx: Tx) => Promise<void>
  /** Sends reads that the change needs in the round trip of the lock; they see the locked state. */
  readonly sendReads?: (tx: Tx) => void
}

/**
 * Changes a station in one transaction: locks and reads it, runs `change`, raises the revision once if a part
 * was marked, and writes fired triggers into the outbox. Publishes after the commit; the sweep repairs what
 * fails then. Throws 404 if the station does not exist, and what `change` throws; then nothing is changed.
 */
export async function changeStation<Result>(
  services: PlayoutServices,
  stationId: number,
  change: (change: StationChange) => Promise<Result>,
  { isPublishedLater = false, beforeLock, sendReads }: ChangeOptions = {}
): Promise<Result> {
  const changed = await beginForStation(
    services.sql,
    stationId,
    async tx => {
      await beforeLock?.(tx)
      return changeIn(services, tx, stationId, change, sendReads)
    },
    { isPipelined: beforeLock === undefined }
  )
  const publication = publishChange(services, changed)
  if (!isPublishedLater) await publication
  return changed.result
}

/** Inserts a station and changes it in the same transaction. Returns its id. */
export async function createStation(
  services: PlayoutServices,
  insert: (tx: Tx) => Promise<number>,
  change: (change: StationChange) => Promise<void>
): Promise<number> {
  const changed = await services.sql.begin(async tx => changeIn(services, tx, await insert(tx), change))
  await publishChange(services, changed)
  return changed.stationId
}

interface Changed<Result> {
  readonly stationId: number
  readonly result: Result
  readonly parts: ReadonlySet<StatePart>
  /** Read within the transaction; null if nothing that is shown has changed. */
  readonly snapshot: Promise<StationSnapshot | null> | null
  readonly playBefore: number | null
  /** Sent together with the commit: the ids of the web hooks that have deliveries now. */
  readonly outbox: Promise<readonly { readonly id: number }[]> | null
}

async function changeIn<Result>(
  services: PlayoutServices,
  tx: Tx,
  stationId: number,
  change: (change: StationChange) => Promise<Result>,
  sendReads: (tx: Tx) => void = () => {}
): Promise<Changed<Result>> {
  const { station, play, isPulledBack, behindMs } = await takeStation(tx, stationId, sendReads)
  const before = triggerValues(station, play)
  const parts = new Set<StatePart>(isPulledBack ? ['playback', 'live'] : [])
  let columns: StationColumns = {}
  let happenedAtMs = station.readAtMs
  const result = await change({
    tx,
    services,
    station,
    play,
    isPulledBack,
    mark: (marked, written = {}) => {
      for (const part of marked) parts.add(part)
      columns = { ...columns, ...written }
    },
    send,
    happenedAt: atMs => void (happenedAtMs = atMs),
    momentOf: atMs => (isPulledBack ? station.readAtMs : Math.min(atMs + behindMs, station.readAtMs))
  })
  send(writeStation(tx, stationId, [...parts], columns))
  const snapshot = parts.size === 0 ? null : readSnapshots(tx, [stationId]).then(([only = null]) => only)
  // A transaction that fails has its own error.
  snapshot?.catch(() => {})
  const changed = { stationId, result, parts, snapshot, playBefore: play?.id ?? null }
  if (!mayFireTriggers(station, parts)) return { ...changed, outbox: null }
  const [shown, hooks] = await Promise.all([snapshot, readSubscribedHooks(tx, stationId)])
  const event = shown && (await detectEvent(tx, before, shown, happenedAtMs))
  const outbox = shown && event && eventStatement(tx, shown, event, hooks, services.triggersFor)
  return { ...changed, outbox: outbox?.execute() ?? null }
}

/** If a statement fails, its transaction rejects with the error. */
function send(statements: readonly PendingStatement[]): void {
  for (const statement of statements) void statement.execute()
}

/** Locks a station and reads it. Throws 404 if it does not exist. */
async function takeStation(tx: Tx, stationId: number, sendReads: (tx: Tx) => void) {
  const sentAtMs = performance.now()
  const reads = Promise.all([lockStations(tx, [stationId]), readOpenPlays(tx, [stationId])])
  sendReads(tx)
  const [[station], [play = null]] = await reads
  if (!station) throw new ApiError('not-found')
  const answeredAtMs = performance.now()
  const offMs = engineTime.addSample({ sentAtMs, answeredAtMs, timeMs: station.readAtMs })
  const isOff = Math.abs(offMs) > maxClockErrorMs + (answeredAtMs - sentAtMs) / 2
  const behindMs = isOff ? Math.round(offMs) : 0
  if (!(await pullBackFuturePlays(tx, station, play))) return { station, play, behindMs, isPulledBack: false }
  const [again = station] = await lockStations(tx, [stationId])
  return { station: again, play: await readOpenPlay(tx, stationId), behindMs, isPulledBack: true }
}

/** Writes columns of a station and raises its revision and those of the parts. */
function writeStation(tx: Tx, stationId: number, parts: readonly StatePart[], columns: StationColumns) {
  const assignments = [
    ...Object.entries(columns).map(([name, value]) => tx`${tx(name)} = ${value}`),
    ...(parts.length === 0 ? [] : [tx`revision = next_revision(revision)`]),
    ...parts.map(part => tx`${tx(`${part}_revision`)} = next_revision(revision)`)
  ]
  if (assignments.length === 0) return []
  // In tests a database trigger refuses to raise a revision without this setting.
  const setting = tx`from (select set_config('cuewire.raises_revision', 'on', true)) setting`
  return [
    tx`
      update stations set ${assignments.reduce((all, each) => tx`${all}, ${each}`)}
      ${parts.length === 0 ? tx`` : setting} where stations.id = ${stationId}`
  ]
}

/** Publishes a committed change, or leaves that to the sweep if a store is unavailable. */
async function publishChange(services: PlayoutServices, changed: Changed<unknown>): Promise<void> {
  const webhookIds = (await changed.outbox)?.map(({ id }) => id) ?? []
  const snapshot = await changed.snapshot
  if (!snapshot) return
  const state = await publishEventually(services, snapshot)
  await dispatchDeliveries(services, webhookIds)
  const isNewPlay = (state?.current?.shId ?? null) !== changed.playBefore
  if (state && changed.parts.has('playback') && isNewPlay) services.log.info(...nowPlayingLine(state))
}

/** Publishes what was committed. Returns null if a store is unavailable; the sweep publishes it later. */
async function publishEventually(
  services: PlayoutServices,
  snapshot: StationSnapshot
): Promise<StationState | null> {
  if (services.redis.status === 'reconnecting' || services.redis.status === 'end') return null
  try {
    return await publishSnapshot(services, snapshot)
  } catch (error) {
    services.log.warn({ err: error, station: snapshot.stationId }, 'live state not updated; retrying')
    return null
  }
}

const enqueueTimeoutMs = 500

/** Starts or enqueues deliveries that were committed. If Redis is unavailable, the relay finds them. */
export async function dispatchDeliveries(
  { deliveries, deliverNow, log }: PlayoutServices,
  webhookIds: readonly number[]
): Promise<void> {
  const others = webhookIds.filter(id => !deliverNow?.(id))
  if (others.length === 0) return
  try {
    const add = () => scheduleDeliveries(deliveries, others, engineTimeMs())
    await withDeadline(enqueueTimeoutMs, 'enqueuing deliveries of web hooks', add)
  } catch (error) {
    log.warn({ err: error }, 'deliveries of web hooks not enqueued; retrying')
  }
}

/** The log line of a song change: data for programs, a sentence for people. */
function nowPlayingLine(state: StationState): [data: { station: string; play: number }, text: string] {
  const { profile, shown, next } = state
  const data = { station: profile.shortName, play: state.current?.shId ?? 0 }
  if (!shown) return [data, `${profile.shortName}: silent, nothing to play`]
  const following = next ? `, next: ${title(next.song)}` : ''
  return [data, `${profile.shortName}: ${title(shown.song)} (${length(shown.durationMs)})${following}`]
}

const title = (song: Song) => [song.artist, song.title].filter(part => part !== '').join(' - ')

function length(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
