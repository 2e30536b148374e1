import { expect } from 'vitest'

import { deliverQueueName } from '../../src/jobs/queues.ts'
import { isolatedTest as test } from '../support/fixtures.ts'

test('what nobody does in time is told', async ({ stage }) => {
  const dueAtMs = Date.now() - 12_000
  // BullMQ's own score of a delayed job.
  await stage.redis.zadd(
    `bull:${deliverQueueName}:delayed`,
    dueAtMs * 0x1000,
    'late',
    (Date.now() + 60_000) * 0x1000,
    'later'
  )
  const { body } = await stage.server.ask('GET', '/api/queues')
  expect(body.queues[1]).toMatchObject({ name: 'deliver', workers: 0, delayed: 2, overdue: 1 })
  expect(body.queues[1].late_ms).toBeGreaterThanOrEqual(12_000)
})
