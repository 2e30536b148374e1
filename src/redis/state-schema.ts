import type { ListenerCounts, StationState } from '../station/state.ts'
import type { RedisClient } from './connection.ts'

/*
 * Schemas of live states in Redis. Two releases run side by side during an upgrade, so a new schema takes
 * three releases: the first reads it, the second writes it once no process of the first was seen for five
 * minutes (`src/db/processes.ts`), the third no longer reads the old one.
 */

/** Schemas that this release reads. */
export const readableSchemas: readonly number[] = [3]

/** The schema that this release writes if no older release runs. */
export const ownSchema = 3

/** Encodes a state in a schema (there is one now) without epoch and offset, which are stored beside it. */
export function encodeState(
  { epoch: _epoch, offset: _offset, ...state }: StationState,
  _schema: number
): string {
  return JSON.stringify(state)
}

/**
 * Decodes what `encodeState` made, with its position and the newest counts, which are stored beside it; without
 * them, with its own. Null if it is damaged or of an unreadable schema.
 */
export function decodeState(
  value: unknown,
  { schema, epoch, offset }: Pick<StationState, 'epoch' | 'offset'> & { readonly schema: number },
  counts: unknown
): StationState | null {
  if (!readableSchemas.includes(schema) || !isState(value)) return null
  return { ...value, epoch, offset, ...(areCounts(counts) && { listeners: counts }) }
}

/** Checks only what distinguishes counts from damaged data. */
export function areCounts(value: unknown): value is ListenerCounts {
  return (
    typeof value === 'object' && value !== null && 'total' in value && 'mounts' in value && 'remotes' in value
  )
}

/** Checks only what distinguishes a state from damaged data. */
function isState(value: unknown): value is Omit<StationState, 'epoch' | 'offset'> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'revisions' in value &&
    typeof value.revisions === 'object' &&
    'profile' in value &&
    typeof value.profile === 'object'
  )
}

const atOnce = 500

/**
 * Removes the live states of release 0.1.0, which used the numbers of its 16 shards as hash tags. Returns the
 * number of states. To be deleted two releases after 0.2.0.
 */
export async function removeOldSchemaStates(redis: RedisClient): Promise<number> {
  let removed = 0
  for (let shard = 0; shard < 16; shard++) {
    const positions = `cuewire:{${shard}}:positions`
    const ids = await redis.hkeys(positions)
    for (let start = 0; start < ids.length; start += atOnce) {
      const batch = ids.slice(start, start + atOnce)
      removed += await redis.unlink(...batch.map(id => `cuewire:{${shard}}:station:${id}`))
    }
    await redis.unlink(positions)
  }
  return removed
}
