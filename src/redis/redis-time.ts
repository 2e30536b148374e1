import type { Redis } from 'ioredis'

import { openEngineTime } from '../runtime/engine-time.ts'

const redisTime = openEngineTime()

/**
 * The time of Redis in Unix milliseconds, as this process knows it: that of the machine until it was measured. Jobs are due by it, so
 * that a process with a wrong clock does not make them late.
 */
export const redisTimeMs = redisTime.timeMs

/** Asks a server for its time. Rejects if it does not answer. */
export async function measureRedisTime(server: Redis): Promise<void> {
  const sentAtMs = performance.now()
  const [seconds, microseconds] = await server.time()
  const timeMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000
  redisTime.note({ sentAtMs, answeredAtMs: performance.now(), timeMs })
}
