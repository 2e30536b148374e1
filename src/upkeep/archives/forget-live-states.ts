import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { Cluster, type Redis } from 'ioredis'

import { withDeadline } from '../../platform/runtime/deadline.ts'
import { resolveRedisPlace } from '../../stores/redis/check-redis.ts'
import { openRedis } from '../../stores/redis/connection.ts'

const patterns = ['cuewire:*', '*{cuewire}*']
const connectMs = 10_000
const perScan = 1_000

/**
 * Removes everything of Cuewire from a Redis: live states, counts and jobs of the database that was replaced. Workers
 * write them again from Postgres. Throws an `OperatorError` if Redis does not answer.
 */
export async function removeLiveStates(redisUrl: string): Promise<number> {
  const redis = openRedis(await resolveRedisPlace(redisUrl), 'restore')
  redis.on('error', () => {})
  try {
    await withDeadline(connectMs, 'connecting to Redis', () => redis.connect())
    const servers = redis instanceof Cluster ? redis.nodes('master') : [redis]
    let removed = 0
    for (const server of servers) for (const pattern of patterns) removed += await removeKeys(server, pattern)
    return removed
  } finally {
    redis.disconnect()
  }
}

/** Keys are removed one by one, since those of a batch may be in several slots of a cluster. */
async function removeKeys(server: Redis, pattern: string): Promise<number> {
  let removed = 0
  let cursor = '0'
  do {
    const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', perScan)
    const counts = await Promise.all(keys.map(key => server.unlink(key)))
    removed += counts.reduce((sum, each) => sum + each, 0)
    cursor = next
  } while (cursor !== '0')
  return removed
}

/** Removes the data of the embedded Redis, which must not be running. */
export async function removeEmbeddedLiveStates(dataDir: string): Promise<void> {
  for (const name of ['appendonlydir', 'dump.rdb'])
    await rm(join(resolve(dataDir), 'redis', name), { recursive: true, force: true })
}
