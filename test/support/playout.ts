import type { Redis } from 'ioredis'
import { pino } from 'pino'

import type { Sql } from '../../src/db/sql.ts'
import { openAdvanceQueue } from '../../src/jobs.ts'
import type { PlayoutServices } from '../../src/playout/services.ts'
import { openProducer, openRedis } from '../../src/redis/connection.ts'

/** The engine's services on a test's own database and Redis. */
export async function openPlayout(
  sql: Sql,
  redisUrl: string
): Promise<PlayoutServices & AsyncDisposable & { redis: Redis }> {
  const redis = openRedis(redisUrl, 'test')
  const producer = openProducer(redisUrl, 'test-jobs')
  await Promise.all([redis.connect(), producer.connect()])
  const advances = openAdvanceQueue(producer)
  return {
    sql,
    redis,
    advances,
    log: pino({ level: 'silent' }),
    async [Symbol.asyncDispose]() {
      await advances.close()
      producer.disconnect()
      redis.disconnect()
    }
  }
}
