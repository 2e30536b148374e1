import type { Redis } from 'ioredis'

import { newestRevision, type StationState } from '../station/state.ts'
import { type Trigger } from '../station/triggers.ts'
import { changesChannel, positionsKey, shardOf, stationKey } from './keys.ts'

/**
 * Where a station stands, as one text `epoch:version:revision`: which lifetime of the state, which change in it,
 * and up to which revision of the facts in Postgres.
 */
export interface Position {
  readonly epoch: string
  readonly version: number
  readonly revision: number
}

/** What a commit tells the servers: station `stationId` stands at `position`, and which edges it crossed. */
export interface Change {
  readonly stationId: number
  readonly position: string
  readonly triggers: readonly Trigger[]
}

export function renderPosition(state: StationState): string {
  return `${state.epoch}:${state.version}:${newestRevision(state)}`
}

export function parsePosition(text: string): Position {
  const [epoch = '', version = '0', revision = '0'] = text.split(':')
  return { epoch, version: Number(version), revision: Number(revision) }
}

/** Reads states; null where Redis has none. The order is that of `stationIds`. */
export async function readStates(
  redis: Redis,
  stationIds: readonly number[]
): Promise<(StationState | null)[]> {
  const texts = await Promise.all(stationIds.map(id => redis.hget(stationKey(id), 'state')))
  return texts.map(text => (text === null ? null : parseState(text)))
}

/**
 * Stores `next` if the stored state is still `read` (null: none), and tells the servers. False: somebody was
 * faster, and nothing was changed.
 */
export async function commitState(
  redis: Redis,
  read: StationState | null,
  next: StationState,
  triggers: readonly Trigger[]
): Promise<boolean> {
  const position = renderPosition(next)
  const change: Change = { stationId: next.stationId, position, triggers }
  const committed = await redis.commitStation(
    stationKey(next.stationId),
    positionsKey(shardOf(next.stationId)),
    read === null ? '' : renderPosition(read),
    position,
    JSON.stringify(next),
    next.stationId,
    changesChannel,
    JSON.stringify(change)
  )
  return committed === 1
}

/** Positions of all stations of a shard, by station id. */
export async function readPositions(redis: Redis, shard: number): Promise<Map<number, string>> {
  const positions = await redis.hgetall(positionsKey(shard))
  return new Map(Object.entries(positions).map(([id, position]) => [Number(id), position]))
}

/** Parses a message of the changes channel. */
export function parseChange(message: string): Change {
  return JSON.parse(message)
}

function parseState(text: string): StationState {
  return JSON.parse(text)
}
