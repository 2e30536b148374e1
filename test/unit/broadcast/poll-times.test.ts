import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { afterAnswer, afterFailure } from '../../../src/broadcast/polls/poll.ts'

const minute = 60_000

test('a server where something goes on is asked every five seconds', () => {
  expect(afterAnswer(1_000, { isBusy: true, idleSinceMs: 5 }, 0.5)).toEqual({
    dueAtMs: 6_000,
    idleSinceMs: null
  })
})

test('one that is idle is asked every 15 seconds, after five minutes every 30', () => {
  expect(afterAnswer(1_000, { isBusy: false, idleSinceMs: null }, 0.5)).toEqual({
    dueAtMs: 16_000,
    idleSinceMs: 1_000
  })
  const sinceMs = 1_000
  expect(afterAnswer(5 * minute, { isBusy: false, idleSinceMs: sinceMs }, 0.5).dueAtMs).toBe(
    5 * minute + 15_000
  )
  expect(afterAnswer(6 * minute, { isBusy: false, idleSinceMs: sinceMs }, 0.5)).toEqual({
    dueAtMs: 6 * minute + 30_000,
    idleSinceMs: sinceMs
  })
})

test('each failure in a row makes the pause longer, up to a minute', () => {
  const pauses = [1, 2, 3, 4, 5, 50].map(failures => afterFailure(0, failures, 0.5))
  expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, minute, minute])
})

test('chance moves a time by a tenth at most', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.float({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
      const even = afterFailure(0, failures + 1, 0.5)
      const pause = afterFailure(0, failures + 1, chance)
      expect(Math.abs(pause - even)).toBeLessThanOrEqual(even / 10 + 1)
    })
  )
})
