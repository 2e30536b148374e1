import { randomUUID } from 'node:crypto'

import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import type { Logger } from '../platform/runtime/log.ts'
import { repeatWork } from '../platform/runtime/repeat.ts'
import type { RedisClient } from '../stores/redis/connection.ts'
import { removeFollowers, writeFollowers } from '../stores/redis/followers.ts'
import type { Followers } from './followers.ts'

/** On average; the interval has jitter. */
const intervalMs = 2_000

/**
 * Writes the counts of followers of this process to Redis: those that have changed, or all of them after a
 * failure or if Redis lost them. Removes them when it is stopped.
 */
export function startFollowerPublishing(followers: Followers, redis: RedisClient, log: Logger) {
  const processId = randomUUID()
  let replacesAll = true

  async function write(): Promise<void> {
    const changes = replacesAll ? followers.all() : followers.drainChanges()
    const options = { nowMs: engineTimeMs(), replacesAll }
    replacesAll = true
    replacesAll = !(await writeFollowers(redis, processId, changes, options))
  }

  return repeatWork(write, {
    pauseMs: intervalMs,
    log,
    failure: 'writing the counts of followers failed',
    onStopped: async () => removeFollowers(redis, processId).catch(() => {})
  })
}
