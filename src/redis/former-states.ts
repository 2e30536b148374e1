import type { RedisClient } from './connection.ts'

/** The shards of release 0.1.0 had their numbers as hash tags. */
const formerShards = Array.from({ length: 16 }, (_, shard) => shard)
const atOnce = 500

/**
 * Removes the live states that release 0.1.0 left behind: later releases keep theirs under other keys. Returns how many there were. To be
 * deleted two releases after 0.2.0.
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
