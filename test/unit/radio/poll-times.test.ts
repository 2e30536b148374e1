import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { schedulePollAfterSuccess, pollRetryAtMs } from '../../../src/radio/polls/poll.ts'

const minute = 60_000

test('a busy server is polled every five seconds', () => {
  expect(schedulePollAfterSuccess(1_000, { isBusy: true, idleSinceMs: 5 }, 0.5)).toEqual({
    dueAtMs: 6_000,
    idleSinceMs: null
  })
})

test('an idle server is polled every 10 seconds, after five minutes every 15', () => {
  expect(schedulePollAfterSuccess(1_000, { isBusy: false, idleSinceMs: null }, 0.5)).toEqual({
    dueAtMs: 11_000,
    idleSinceMs: 1_000
  })
  const sinceMs = 1_000
  expect(schedulePollAfterSuccess(5 * minute, { isBusy: false, idleSinceMs: sinceMs }, 0.5).dueAtMs).toBe(
    5 * minute + 10_000
  )
  expect(schedulePollAfterSuccess(6 * minute, { isBusy: false, idleSinceMs: sinceMs }, 0.5)).toEqual({
    dueAtMs: 6 * minute + 15_000,
    idleSinceMs: sinceMs
  })
})

test('the backoff grows after three failures, up to 22 seconds', () => {
  const backoffs = [1, 2, 3, 4, 5, 6, 50].map(failures => pollRetryAtMs(0, failures, 0.5))
  expect(backoffs).toEqual([5_000, 5_000, 5_000, 10_000, 20_000, 22_000, 22_000])
})

test('jitter is at most a tenth', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.float({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
      const even = pollRetryAtMs(0, failures + 1, 0.5)
      const backoff = pollRetryAtMs(0, failures + 1, chance)
      expect(Math.abs(backoff - even)).toBeLessThanOrEqual(even / 10 + 1)
    })
  )
})
