import { Queue } from 'bullmq'
import { expect, onTestFinished } from 'vitest'

import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { openBlockingRedis } from '../../src/stores/redis/connection.ts'
import { isolatedTest as test } from '../support/fixtures.ts'
import { startPlaying } from '../support/playing.ts'

test('the queues report their workers and jobs', async ({ program }) => {
  await startPlaying(program)
  const { status, body } = await program.ask('GET', '/api/queues')
  expect([status, body.status]).toEqual([200, 'success'])
  expect(body.queues).toEqual([
    { name: 'advance', workers: 1, waiting: 0, active: 0, delayed: 1, overdue: 0, late_ms: 0 },
    { name: 'deliver', workers: 1, waiting: 0, active: 0, delayed: 0, overdue: 0, late_ms: 0 }
  ])
})

test('servers of 0.2.0, which have a queue for the ends of songs, count the workers', async ({
  redisUrl,
  redis
}) => {
  const connection = openBlockingRedis(await resolveRedisPlace(redisUrl))
  onTestFinished(() => connection.disconnect())
  await connection.connect()
  const queue = new Queue('{cuewire}advance', { connection: redis })
  expect(await queue.getWorkersCount()).toBe(1)
  await queue.close()
})
