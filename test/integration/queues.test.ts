import { expect } from 'vitest'

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
