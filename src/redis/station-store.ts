import { newestRevision, type StationState } from '../station/state.ts'
import { type Trigger } from '../station/triggers.ts'
import type { RedisClient } from './connection.ts'
import { changesChannel, positionsKey, shardOf, shards, stationKey } from './keys.ts'

/** Changes with every change of `StationState` that older code could not read. */
const schema = '2'

/**
 * Where a station stands, as one text `epoch:version:revision:schema`: which lifetime of the state, which change in it,
 * up to which revision of the facts in Postgres, and how it is written. A state of another schema cannot be read, and
 * has to be made anew.
 */
export interface Position {
  readonly epoch: string
  readonly version: number
  readonly revision: number
  readonly isReadable: boolean
}

/**
 * What a commit tells the servers: station `stationId` stands at `position`, which edges it crossed, and the state
 * itself, so that nobody has to ask for it. The position is empty when the station was deleted.
 */
export interface Change {
  readonly stationId: number
  readonly position: string
  readonly triggers: readonly Trigger[]
  /** Null where it was not told, or is written in a way that cannot be read. */
  readonly state: StationState | null
}

export function renderPosition(state: StationState): string {
  return `${state.epoch}:${state.version}:${newestRevision(state)}:${schema}`
}

export function parsePosition(text: string): Position {
  const [epoch = '', version = '0', revision = '0', written = ''] = text.split(':')
  return { epoch, version: Number(version), revision: Number(revision), isReadable: written === schema }
}

/**
 * What is stored of a station. `position` is empty where there is nothing. `state` is null then, and also where it
 * cannot be read, because it is damaged or of another version of this program: it has to be made anew.
 */
export interface Stored {
  readonly position: string
  readonly state: StationState | null
}

/** Reads what is stored, in the order of `stationIds`. */
export async function readStored(redis: RedisClient, stationIds: readonly number[]): Promise<Stored[]> {
  const rows = await Promise.all(
    stationIds.map(id => redis.hmget(stationKey(id), 'position', 'schema', 'state'))
  )
  return rows.map(([position, storedSchema, text]) => ({
    position: position ?? '',
    state: storedSchema === schema ? parseState(text ?? '') : null
  }))
}

/** Reads states; null where there is none that can be read. The order is that of `stationIds`. */
export async function readStates(
  redis: RedisClient,
  stationIds: readonly number[]
): Promise<(StationState | null)[]> {
  return (await readStored(redis, stationIds)).map(({ state }) => state)
}

/**
 * Stores `next` if the stored state is still `read` (null: none), and tells the servers. False: somebody was
 * faster, and nothing was changed.
 */
export function commitState(
  redis: RedisClient,
  read: StationState | null,
  next: StationState,
  triggers: readonly Trigger[]
): Promise<boolean> {
  return commitOver(redis, read === null ? '' : renderPosition(read), next, triggers)
}

/** The same over whatever is stored at `readPosition`, readable or not. */
export async function commitOver(
  redis: RedisClient,
  readPosition: string,
  next: StationState,
  triggers: readonly Trigger[]
): Promise<boolean> {
  const position = renderPosition(next)
  const { stationId } = next
  const committed = await redis.commitStation(
    stationKey(next.stationId),
    positionsKey(shardOf(next.stationId)),
    changesChannel(shardOf(next.stationId)),
    readPosition,
    position,
    schema,
    JSON.stringify(next),
    stationId,
    // The script adds the state, which it has anyway.
    `{"stationId":${stationId},"position":${JSON.stringify(position)},"triggers":${JSON.stringify(triggers)},"state":`
  )
  return committed === 1
}

/** Removes the state of a deleted station and tells the servers. Nothing is committed for it from then on. */
export async function forgetStation(redis: RedisClient, stationId: number): Promise<void> {
  const change = { stationId, position: '', triggers: [] }
  await redis.forgetStation(
    stationKey(stationId),
    positionsKey(shardOf(stationId)),
    changesChannel(shardOf(stationId)),
    stationId,
    JSON.stringify(change)
  )
}

/** Takes the entry of a deleted station out of its shard's positions. */
export async function dropPosition(redis: RedisClient, stationId: number): Promise<void> {
  await redis.hdel(positionsKey(shardOf(stationId)), String(stationId))
}

/** Enters the station into its shard's positions again, where that entry was lost. */
export async function repairPosition(redis: RedisClient, state: StationState): Promise<void> {
  await redis.hset(positionsKey(shardOf(state.stationId)), String(state.stationId), renderPosition(state))
}

/** Positions of all stations of a shard, by station id; empty where a station was deleted. */
export async function readPositions(redis: RedisClient, shard: number): Promise<Map<number, string>> {
  const positions = await redis.hgetall(positionsKey(shard))
  return new Map(Object.entries(positions).map(([id, position]) => [Number(id), position]))
}

/** Asks for something of every shard, each of which another node of a cluster may have. Throws if one does not answer. */
export async function probeShards(redis: RedisClient): Promise<void> {
  await Promise.all(shards.map(shard => redis.exists(positionsKey(shard))))
}

/** Parses a message of a changes channel. Throws if it is none. */
export function parseChange(message: string): Change {
  const { stationId, position, triggers, state } = JSON.parse(message)
  const isReadable = isState(state) && parsePosition(String(position)).isReadable
  return { stationId, position, triggers, state: isReadable ? state : null }
}

function parseState(text: string): StationState | null {
  try {
    const state: unknown = JSON.parse(text)
    return isState(state) ? state : null
  } catch {
    return null
  }
}

/** As far as it has to be known: whoever wrote it under this schema wrote all of it. */
function isState(value: unknown): value is StationState {
  return (
    typeof value === 'object' &&
    value !== null &&
    'revisions' in value &&
    typeof value.revisions === 'object' &&
    'profile' in value &&
    typeof value.profile === 'object'
  )
}
