import { expect, test } from 'vitest'

import { type Delivery, lastAttempted, oldestPage } from '../../../../web/dashboard/web-hooks/hook.ts'

const delivery = (id: number, attemptedAt: number): Delivery => ({
  id,
  happened_at: 1,
  triggers: [],
  state: 'pending',
  attempts: 0,
  attempted_at: attemptedAt,
  status: 0,
  error: '',
  duration_ms: 0,
  response: '',
  next_attempt: 0
})

test('of many that wait, the one that was tried last is found', () => {
  expect([0, 1, 20, 21, 107].map(count => oldestPage(count, 20))).toEqual([1, 1, 1, 2, 6])
  expect(lastAttempted([delivery(3, 0), delivery(2, 50), delivery(1, 60)])?.id).toBe(1)
  expect(lastAttempted([delivery(3, 0)])).toBe(null)
})
