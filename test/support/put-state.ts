import { stationRevisionOf, type StationState } from '../../src/model/station/state.ts'
import type { Trigger } from '../../src/model/station/triggers.ts'
import type { RedisClient } from '../../src/stores/redis/connection.ts'
import {
  changedKey,
  changesChannel,
  positionsKey,
  sequenceKey,
  shardOf,
  stationKey
} from '../../src/stores/redis/keys.ts'
import { encodeState, formatPosition, ownStateSchema } from '../../src/stores/redis/state-schema.ts'

/** The position of a state that this release writes. */
export const positionOf = (state: StationState): string =>
  formatPosition({ ...state, revision: stationRevisionOf(state), schema: ownStateSchema })

/** Writes a state over any stored one, with the offset that it has. */
const script = `
  local sequence = redis.call('INCR', KEYS[4])
  redis.call('HSET', KEYS[1], 'position', ARGV[2], 'state', ARGV[3])
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
  redis.call('ZADD', KEYS[3], sequence, ARGV[1])
  redis.call('SPUBLISH', KEYS[5], ARGV[4])`

/**
 * Stores a state with the offset that it has, whatever was stored before, and announces it. A commit would
 * choose the offset.
 */
export async function putState(
  redis: RedisClient,
  state: StationState,
  triggers: readonly Trigger[] = []
): Promise<void> {
  const { stationId } = state
  const shard = shardOf(stationId)
  const position = positionOf(state)
  const text = encodeState(state, ownStateSchema)
  const message = JSON.stringify({ stationId, position, triggers, state: JSON.parse(text) })
  const keys = [stationKey(stationId), positionsKey(shard), changedKey(shard), sequenceKey(shard)]
  await redis.eval(script, 5, ...keys, changesChannel(shard), stationId, position, text, message)
}
