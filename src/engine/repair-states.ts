import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

import {
  stationRevisionOf,
  pickVisibleState,
  type StationSnapshot,
  type StationState
} from '../model/station/state.ts'
import { triggersBetween } from '../model/station/triggers.ts'
import { readSnapshots } from '../stores/db/snapshots.ts'
import type { Sql } from '../stores/db/sql.ts'
import { isPositionOfNewerRelease, parsePosition } from '../stores/redis/state-schema.ts'
import {
  commitState,
  removeStationState,
  readStoredStates,
  repairPosition,
  type StoredState
} from '../stores/redis/station-store.ts'
import { findScheduledPlay } from './publish.ts'
import type { EngineServices } from './services.ts'

const attempts = 10
/**
 * Longest pause before another attempt, so that a process that publishes at the same time can finish. The
 * shortest is half of it: all attempts take longer than the 300 ms for which a new epoch may not be replaced.
 */
const retryPauseMs = 100
const nothing: StoredState = { position: '', state: null }

/**
 * Stores what a station shows in Redis, publishes it and schedules the next advance. Idempotent. A missing
 * state, one of another epoch and one newer than a restored Postgres are replaced under a new epoch. Returns
 * the state; null if the station does not exist (its live state is removed) or only a newer release can read
 * it. Throws if a store is unavailable; the sweep repairs that.
 */
export async function publishStation(
  services: EngineServices,
  stationId: number
): Promise<StationState | null> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    // Redis first: a snapshot that is read later can only be newer, unless Postgres went back.
    const [stored = nothing] = await readStoredStates(services.redis, [stationId])
    const [snapshot] = await readSnapshots(services.sql, [stationId])
    if (!snapshot) {
      await removeStationState(services.redis, stationId)
      return null
    }
    const [result] = await storeAll(services, [{ stored, snapshot }])
    if (result === undefined || result.outcome === 'unreadable') return null
    if (result.outcome !== 'superseded') return result.state
    await wait(retryPauseMs * (0.5 + Math.random() / 2))
  }
  throw new Error(`station ${stationId} changed ${attempts} times while it was being published`)
}

/** Stores the current state under a higher offset than `sent`, if Redis has its epoch with a lower one. */
export async function publishAboveOffset(
  services: EngineServices,
  sent: Pick<StationState, 'stationId' | 'epoch' | 'offset'>
): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const [stored = nothing] = await readStoredStates(services.redis, [sent.stationId])
    const { epoch, offset } = parsePosition(stored.position)
    if (epoch !== sent.epoch || offset >= sent.offset || stored.state === null) return
    const [snapshot] = await readSnapshots(services.sql, [sent.stationId])
    if (!snapshot) return
    const [result] = await storeAll(services, [{ stored, snapshot, sentOffset: sent.offset }])
    if (result?.outcome !== 'superseded') return
  }
}

/** Publishes many stations like `publishStation`, and restores lost positions. Returns the number stored. */
export async function repairStates(services: EngineServices, stationIds: readonly number[]) {
  const stored = await readStoredStates(services.redis, stationIds)
  const storedOf = new Map(stationIds.map((id, index) => [id, stored[index] ?? nothing]))
  const snapshots = await readSnapshots(services.sql, stationIds)
  const results = await storeAll(
    services,
    snapshots.map(snapshot => ({ stored: storedOf.get(snapshot.stationId) ?? nothing, snapshot }))
  )
  const unchanged = results.filter(({ outcome }) => outcome === 'unchanged')
  await Promise.all(
    unchanged.map(({ state: { stationId } }) =>
      repairPosition(services.redis, stationId, storedOf.get(stationId)?.position ?? '')
    )
  )
  return results.filter(({ outcome }) => outcome === 'stored').length
}

interface Publication {
  readonly stored: StoredState
  readonly snapshot: StationSnapshot
  /** An offset that was sent although Redis has a lower one: the state is stored even if it is unchanged. */
  readonly sentOffset?: number
}

interface PublicationResult {
  /** `superseded`: another process was first. `unreadable`: only a newer release can read it. */
  readonly outcome: 'stored' | 'unchanged' | 'superseded' | 'unreadable'
  readonly state: StationState
}

async function storeAll(
  services: EngineServices,
  publications: readonly Publication[]
): Promise<PublicationResult[]> {
  const epochs = await beginEpochs(
    services.sql,
    publications.filter(isEpochOver).map(({ snapshot }) => snapshot)
  )
  const results = await Promise.all(
    publications.map(publication => store(services, publication, epochs.get(publication.snapshot.stationId)))
  )
  await services.scheduledPlays.add(
    publications.filter(isPlaybackNew).flatMap(({ snapshot }) => findScheduledPlay(snapshot))
  )
  return results
}

/** `begunEpoch`: a new epoch that this process has just begun for the station. */
async function store(
  services: EngineServices,
  { stored, snapshot, sentOffset = 0 }: Publication,
  begunEpoch: string | undefined
): Promise<PublicationResult> {
  const position = parsePosition(stored.position)
  const isOver = isEpochOver({ stored, snapshot })
  const epoch = isOver ? (begunEpoch ?? snapshot.epoch) : snapshot.epoch
  const listeners = stored.state?.listeners ?? snapshot.listeners
  const state: StationState = { ...pickVisibleState(snapshot), listeners, epoch, offset: position.offset }
  if (isPositionOfNewerRelease(position)) return { outcome: 'unreadable', state }
  if (isOver && begunEpoch === undefined) return { outcome: 'superseded', state }
  const isRenewed = isOver || stored.state === null || sentOffset > 0
  if (!isRenewed && position.revision === stationRevisionOf(snapshot)) return { outcome: 'unchanged', state }
  // The triggers of a state that is stored anew were sent before.
  const triggers = isRenewed || stored.state === null ? [] : triggersBetween(stored.state, state)
  const schema = services.processes.schema()
  const publication = { state, counts: snapshot.counts, over: stored.position, triggers, schema, sentOffset }
  const committed = await commitState(services.redis, publication)
  return committed === null ? { outcome: 'superseded', state } : { outcome: 'stored', state: committed }
}

/** Whether the due time of the current play may be another one than the stored state had. */
const isPlaybackNew = ({ stored, snapshot }: Publication) =>
  stored.state?.revisions.playback !== snapshot.revisions.playback || isEpochOver({ stored, snapshot })

/** Whether a new epoch is needed: Redis lost the state or restored an old one, or Postgres was restored. */
function isEpochOver({ stored, snapshot }: Publication): boolean {
  const { epoch, revision } = parsePosition(stored.position)
  return (
    epoch === '' ||
    epoch !== snapshot.epoch ||
    revision > stationRevisionOf(snapshot) ||
    isPartAhead({ stored, snapshot })
  )
}

/** Whether a part of the stored state is of the time that a restored Postgres has lost. */
function isPartAhead({ stored: { state }, snapshot: { revisions } }: Publication): boolean {
  if (state === null) return false
  const { station, playback, queue, listeners, live } = state.revisions
  return (
    station > revisions.station ||
    playback > revisions.playback ||
    queue > revisions.queue ||
    listeners > revisions.listeners ||
    live > revisions.live
  )
}

/** Begins new epochs, unless another process has changed or just begun one. Returns them by station. */
async function beginEpochs(sql: Sql, stations: readonly Pick<StationSnapshot, 'stationId' | 'epoch'>[]) {
  if (stations.length === 0) return new Map()
  const ids = stations.map(({ stationId }) => stationId)
  const rows = await sql<{ id: number; epoch: string }[]>`
    update stations s set epoch = n.fresh, epoch_since = clock_timestamp()
    from (
      select t.id, r.fresh from stations t
        join unnest(${ids}::bigint[], ${stations.map(({ epoch }) => epoch)}::text[], ${stations.map(freshEpoch)}::text[])
          as r (id, epoch, fresh) on r.id = t.id and r.epoch = t.epoch
      where t.epoch_since not between clock_timestamp() - interval '300 milliseconds' and clock_timestamp()
      order by t.id for no key update of t skip locked
    ) n
    where s.id = n.id returning s.id, s.epoch`
  return new Map(rows.map(({ id, epoch }) => [id, epoch]))
}

const freshEpoch = () => randomBytes(6).toString('base64url')
