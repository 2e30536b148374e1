import { newestRevision, type StationState } from '../station/state.ts'
import type { Trigger } from '../station/triggers.ts'
import type { RedisClient } from './connection.ts'
import { changedKey, changesChannel, positionsKey, sequenceKey, shardOf, shards, stationKey } from './keys.ts'
import { renderRemoval } from './messages.ts'
import { parsePosition } from './positions.ts'
import { decodeState, encodeState, ownSchema } from './state-schema.ts'

/**
 * What is stored of a station. `position` is empty where there is nothing. `state` is null then, and also
 * where it cannot be read, because it is damaged or of another release.
 */
export interface Stored {
  readonly position: string
  readonly state: StationState | null
}

/** Reads what is stored, in the order of `stationIds`. */
export async function readStored(redis: RedisClient, stationIds: readonly number[]): Promise<Stored[]> {
  const rows = await Promise.all(stationIds.map(id => redis.hmget(stationKey(id), 'position', 'state')))
  return rows.map(([position, text]) => ({
    position: position ?? '',
    state: position ? decodeState(parseJson(text ?? ''), parsePosition(position)) : null
  }))
}

/** Reads states; null where there is none that can be read. The order is that of `stationIds`. */
export async function readStates(
  redis: RedisClient,
  stationIds: readonly number[]
): Promise<(StationState | null)[]> {
  return (await readStored(redis, stationIds)).map(({ state }) => state)
}

/** What a commit is to store, and over what. */
export interface Commit {
  /** Its offset does not matter: the script chooses one. */
  readonly state: StationState
  /** The position that was read before; empty: nothing was stored. */
  readonly over: string
  readonly triggers: readonly Trigger[]
  /** How to write it; by default in the way of this release. */
  readonly schema?: number
  /** Offsets up to this one have been sent, also if Redis has forgotten about it. */
  readonly sentOffset?: number
}

/**
 * Stores a state if its station still stands at the position that was read, and announces it. The new offset
 * is above the stored one, above `sentOffset`, and at least the time of Redis in Unix milliseconds: so it is
 * above every offset that was ever sent, also after Redis went back to an old dump. Returns the state with
 * its offset; null: another process was faster or the station was deleted, and nothing was changed.
 */
export async function commitState(redis: RedisClient, commit: Commit): Promise<StationState | null> {
  const { state, over, triggers, schema = ownSchema, sentOffset = 0 } = commit
  const { stationId, epoch } = state
  const shard = shardOf(stationId)
  const offset = await redis.commitStation(
    stationKey(stationId),
    positionsKey(shard),
    changedKey(shard),
    sequenceKey(shard),
    changesChannel(shard),
    over,
    Math.max(parsePosition(over).offset, sentOffset) + 1,
    epoch,
    `${newestRevision(state)}:${schema}`,
    encodeState(state, schema),
    stationId,
    JSON.stringify(triggers)
  )
  return offset === null ? null : { ...state, offset: Number(offset) }
}

/** Removes the state of a deleted station and tells the servers. Nothing is committed for it from then on. */
export async function forgetStation(redis: RedisClient, stationId: number): Promise<void> {
  const shard = shardOf(stationId)
  await redis.forgetStation(
    stationKey(stationId),
    positionsKey(shard),
    changedKey(shard),
    sequenceKey(shard),
    changesChannel(shard),
    stationId,
    renderRemoval(stationId)
  )
}

/** Takes the entry of a deleted station out of its shard's positions. */
export async function dropPosition(redis: RedisClient, stationId: number): Promise<void> {
  const shard = shardOf(stationId)
  await redis.hdel(positionsKey(shard), String(stationId))
  await redis.zrem(changedKey(shard), String(stationId))
}

/** Enters the station into its shard's positions again, where that entry was lost. */
export async function repairPosition(redis: RedisClient, stationId: number, position: string): Promise<void> {
  await redis.hset(positionsKey(shardOf(stationId)), String(stationId), position)
}

/** Positions of all stations of a shard, by station id; empty where a station was deleted. */
export async function readPositions(redis: RedisClient, shard: number): Promise<Map<number, string>> {
  const positions = await redis.hgetall(positionsKey(shard))
  return new Map(Object.entries(positions).map(([id, position]) => [Number(id), position]))
}

/** The sequence number of the newest change in a shard; 0 where nothing has changed since Redis was empty. */
export async function readSequence(redis: RedisClient, shard: number): Promise<number> {
  return Number((await redis.get(sequenceKey(shard))) ?? 0)
}

/**
 * The stations of a shard that changed after a sequence number, with their positions; empty where one was
 * deleted.
 */
export async function readChangedSince(
  redis: RedisClient,
  shard: number,
  sequence: number
): Promise<Map<number, string>> {
  const ids = await redis.zrangebyscore(changedKey(shard), `(${sequence}`, '+inf')
  if (ids.length === 0) return new Map()
  const positions = await redis.hmget(positionsKey(shard), ...ids)
  return new Map(
    ids.flatMap((id, index) => {
      const position = positions[index]
      return position === null || position === undefined ? [] : [[Number(id), position]]
    })
  )
}

/**
 * Asks for something of every shard, each of which another node of a cluster may have. Throws if one does not
 * answer.
 */
export async function probeShards(redis: RedisClient): Promise<void> {
  await Promise.all(shards.map(shard => redis.exists(positionsKey(shard))))
}

/** Throws if a node that has a shard takes no writes, because it is away, full or read-only. */
export async function probeWrites(redis: RedisClient): Promise<void> {
  await Promise.all(shards.map(shard => redis.probeWrites(positionsKey(shard))))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
