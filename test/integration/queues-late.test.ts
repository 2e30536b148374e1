import { Queue } from 'bullmq'
import { expect } from 'vitest'

import { deliverQueue } from '../../src/stores/redis/keys.ts'
import { isolatedTest as test } from '../support/fixtures.ts'

test('jobs that no worker takes in time are counted as overdue', async ({ stage }) => {
  const queue = new Queue(deliverQueue, { connection: stage.redis })
  const add = (webhookId: number, timestamp: number) =>
    queue.add('deliver', { webhookId }, { timestamp, delay: 1_000 })
  await add(1, Date.now() - 13_000)
  await add(2, Date.now() + 60_000)
  const { body } = await stage.server.ask('GET', '/api/queues')
  expect(body.queues[1]).toMatchObject({ name: 'deliver', workers: 0, delayed: 2, overdue: 1 })
  expect(body.queues[1].late_ms).toBeGreaterThanOrEqual(12_000)
  expect(body.queues[1].late_ms).toBeLessThan(30_000)
})
