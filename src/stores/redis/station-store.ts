import * as v from 'valibot'

import { type FlushedCounts, stationRevisionOf, type StationState } from '../../model/station/state.ts'
import type { Trigger } from '../../model/station/triggers.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { RedisClient, ScriptKeys } from './connection.ts'
import {
  changedKey,
  changesChannel,
  countingKey,
  endedSessionsKey,
  identitiesKey,
  openSessionsKey,
  positionsKey,
  sequenceKey,
  shardOf,
  stationKey,
  unflushedKey
} from './keys.ts'
import { isListenerCounts, decodeState, encodeState, ownStateSchema, parsePosition } from './state-schema.ts'

/** Text of Redis; null if it is not JSON. */
const storedJson = v.fallback(v.nullable(v.pipe(v.string(), v.parseJson())), null)

/** `position` is empty if nothing is stored; `state` is null then, and if damaged or of another release. */
export interface StoredState {
  readonly position: string
  readonly state: StationState | null
}

/** Reads stored states, in the order of `stationIds`. */
export async function readStoredStates(
  redis: RedisClient,
  stationIds: readonly number[]
): Promise<StoredState[]> {
  const fields = ['position', 'state', 'counts'] as const
  const rows = await Promise.all(stationIds.map(id => redis.hmget(stationKey(id), ...fields)))
  return rows.map(([position, state, counts]) => ({
    position: position ?? '',
    state: position
      ? decodeState(v.parse(storedJson, state), parsePosition(position), v.parse(storedJson, counts))
      : null
  }))
}

/** Reads states, in the order of `stationIds`; null if there is no readable one. */
export async function readStationStates(redis: RedisClient, stationIds: readonly number[]) {
  return (await readStoredStates(redis, stationIds)).map(({ state }) => state)
}

/** A state to store. */
export interface StateCommit {
  /** Its offset and listeners are ignored: the script sets them. */
  readonly state: StationState
  readonly counts: FlushedCounts
  /** The position that was read before; empty if nothing was stored. */
  readonly over: string
  readonly triggers: readonly Trigger[]
  /** The schema to write; default: that of this release. */
  readonly schema?: number
  /** Offsets up to this one were sent, even if Redis has a lower one. */
  readonly sentOffset?: number
}

/**
 * Stores a state if the stored one is still the one that was read, and publishes it. The new offset is above
 * the stored one and `sentOffset`, and at least the time of Redis in Unix milliseconds; so it is above all
 * offsets that were sent, also after Redis restored an old dump. Returns the state with its offset and its
 * listeners; null if another process was faster or the station was deleted.
 */
export async function commitState(redis: RedisClient, commit: StateCommit): Promise<StationState | null> {
  const { state, counts, over, triggers, schema = ownStateSchema, sentOffset = 0 } = commit
  const { stationId, epoch } = state
  const stored = await redis.commitStation(
    ...scriptKeys(stationId),
    over,
    Math.max(parsePosition(over).offset, sentOffset) + 1,
    epoch,
    `${stationRevisionOf(state)}:${schema}`,
    encodeState(state, schema),
    stationId,
    JSON.stringify(triggers),
    JSON.stringify(counts),
    engineTimeMs()
  )
  if (stored === null) return null
  const listeners = v.parse(storedJson, stored[1])
  return { ...state, offset: Number(stored[0]), ...(isListenerCounts(listeners) && { listeners }) }
}

/** Removes the state of a deleted station and notifies the servers. Later commits of it are refused. */
export async function removeStationState(redis: RedisClient, stationId: number): Promise<void> {
  const message = JSON.stringify({ stationId, position: '', triggers: [] })
  await redis.forgetStation(...scriptKeys(stationId), stationId, message)
}

/** The keys of every script about a station. */
export function scriptKeys(stationId: number): ScriptKeys {
  const shard = shardOf(stationId)
  return [
    stationKey(stationId),
    positionsKey(shard),
    changedKey(shard),
    sequenceKey(shard),
    changesChannel(shard),
    identitiesKey(stationId),
    unflushedKey(shard),
    countingKey(stationId),
    openSessionsKey(stationId),
    endedSessionsKey(shard)
  ]
}

/** Removes the tombstone of a deleted station: its empty position. */
export async function removeTombstone(redis: RedisClient, stationId: number): Promise<void> {
  const shard = shardOf(stationId)
  await redis.hdel(positionsKey(shard), String(stationId))
  await redis.zrem(changedKey(shard), String(stationId))
}

/** Restores a lost position of a station. */
export async function repairPosition(redis: RedisClient, stationId: number, position: string): Promise<void> {
  await redis.hset(positionsKey(shardOf(stationId)), String(stationId), position)
}

/** Reads the positions of a shard, by station id; empty for deleted stations. */
export async function readShardPositions(redis: RedisClient, shard: number): Promise<Map<number, string>> {
  const positions = await redis.hgetall(positionsKey(shard))
  return new Map(Object.entries(positions).map(([id, position]) => [Number(id), position]))
}

/** Reads the positions of stations that changed after a sequence number; empty for deleted ones. */
export async function readPositionsChangedSince(redis: RedisClient, shard: number, sequence: number) {
  const ids = await redis.zrangebyscore(changedKey(shard), `(${sequence}`, '+inf')
  if (ids.length === 0) return new Map<number, string>()
  const positions = await redis.hmget(positionsKey(shard), ...ids)
  const entries = ids.map((id, index) => [Number(id), positions[index]] as const)
  return new Map(entries.filter((entry): entry is [number, string] => typeof entry[1] === 'string'))
}
