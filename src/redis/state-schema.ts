import type { StationState } from '../station/state.ts'
import type { RedisClient } from './connection.ts'

/*
 * How a live state is written in Redis. A number stands for each way of writing.
 *
 * Two releases run side by side during an upgrade, so a new way of writing takes three releases: the first can read it, the
 * second writes it once no process of the first has been seen for five minutes, and the third no longer reads the old one.
 * `src/db/processes.ts` knows which processes there are.
 */

/** What this release can read. */
export const readableSchemas: readonly number[] = [3]

/** What this release writes when no process runs that writes an older one. */
export const ownSchema = 3

/** What is stored of a state. Where it stands, its epoch and offset, is stored beside it. */
type StoredState = Omit<StationState, 'epoch' | 'offset'>

/** Writes a state as text. */
export function encodeState(
  { epoch: _epoch, offset: _offset, ...state }: StationState,
  _schema: number
): string {
  return JSON.stringify(state)
}

/**
 * Reads what `encodeState` wrote, as the state that stands at a position. Null: this release cannot read it, or it is
 * damaged.
 */
export function decodeState(
  value: unknown,
  { schema, epoch, offset }: Pick<StationState, 'epoch' | 'offset'> & { readonly schema: number }
): StationState | null {
  return readableSchemas.includes(schema) && isState(value) ? { ...value, epoch, offset } : null
}

/** Checked as far as necessary: whoever wrote it under this schema wrote all of it. */
function isState(value: unknown): value is StoredState {
  return (
    typeof value === 'object' &&
    value !== null &&
    'revisions' in value &&
    typeof value.revisions === 'object' &&
    'profile' in value &&
    typeof value.profile === 'object'
  )
}

/** The shards of release 0.1.0 had their numbers as hash tags. */
const formerShards = Array.from({ length: 16 }, (_, shard) => shard)
const atOnce = 500

/**
 * Removes the live states that release 0.1.0 left behind: later releases keep theirs under other keys.
 * Returns how many there were. To be deleted two releases after 0.2.0.
 */
export async function removeFormerStates(redis: RedisClient): Promise<number> {
  let removed = 0
  for (const shard of formerShards) {
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
