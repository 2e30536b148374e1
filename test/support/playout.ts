import { pino } from 'pino'

import type { Sql } from '../../src/db/sql.ts'
import { openAdvanceQueue, openDeliverQueue } from '../../src/jobs.ts'
import type { PlayoutServices } from '../../src/playout/services.ts'
import { openProducer, openRedis, type RedisClient } from '../../src/redis/connection.ts'
import { ownSchema } from '../../src/redis/state-schema.ts'
import { checkRedis } from '../../src/store-checks.ts'

/** The engine's services on a test's own database and Redis. */
export async function openPlayout(
  sql: Sql,
  redisUrl: string
): Promise<PlayoutServices & AsyncDisposable & { redis: RedisClient }> {
  const place = await checkRedis(redisUrl)
  const redis = openRedis(place, 'test')
  const producer = openProducer(place, 'test-jobs')
  await Promise.all([redis.connect(), producer.connect()])
  const advances = openAdvanceQueue(producer)
  const deliveries = openDeliverQueue(producer)
  return {
    sql,
    redis,
    advances,
    deliveries,
    processes: { schema: () => ownSchema },
    log: pino({ level: 'silent' }),
    async [Symbol.asyncDispose]() {
      await advances.close()
      await deliveries.close()
      producer.disconnect()
      redis.disconnect()
    }
  }
}
