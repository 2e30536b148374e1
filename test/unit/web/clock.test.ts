import { expect, test } from 'vitest'

import { openLocalTime } from '../../../web/client/client.ts'
import { type Clock, noClock, noteTime } from '../../../web/client/course.ts'

const secondsAt = (trueMs: number) => Math.floor(trueMs / 1_000) * 1_000

test('times in whole seconds come nearer to the truth with each that says more', () => {
  const aheadMs = 12_345
  let clock: Clock = noClock
  const errors: number[] = []
  for (const [localMs, latencyMs] of [
    [100_000, 80],
    [112_250, 40],
    [124_600, 300],
    [136_660, 20]
  ] as const) {
    clock = noteTime(clock, secondsAt(localMs + aheadMs), localMs + latencyMs, false)
    errors.push(aheadMs - (clock.aheadMs ?? 0))
  }
  expect(errors).toEqual([425, 425, 425, 25])
})

test('an exact time is believed as it is', () => {
  const clock = noteTime({ aheadMs: 900, isDoubted: false }, 5_000, 4_600, true)
  expect(clock.aheadMs).toBe(400)
})

test('one late time is a slow network; two mean that our clock was set', () => {
  let clock: Clock = noteTime(noClock, 100_000, 100_000, true)
  clock = noteTime(clock, 110_000, 170_000, false)
  expect(clock.aheadMs).toBe(0)
  clock = noteTime(clock, 120_000, 120_000, false)
  clock = noteTime(clock, 130_000, 190_000, false)
  expect(clock.aheadMs).toBe(0)
  clock = noteTime(clock, 140_000, 200_000, false)
  expect(clock.aheadMs).toBe(-59_500)
})

test('local time goes on through sleep, and does not go back with the clock', () => {
  const given = { date: 1_000_000, steady: 70_000 }
  const jumps: number[] = []
  const now = openLocalTime(
    byMs => jumps.push(byMs),
    () => given.date,
    () => given.steady
  )
  Object.assign(given, { date: 1_001_000, steady: 71_000 })
  expect(now()).toBe(1_001_000)
  Object.assign(given, { date: 1_061_000, steady: 71_000 })
  expect(now()).toBe(1_061_000)
  Object.assign(given, { date: 500_000, steady: 73_000 })
  expect(now()).toBe(1_063_000)
  Object.assign(given, { date: 500_400, steady: 73_000 })
  expect(now()).toBe(1_063_000)
  expect(jumps).toEqual([60_000])
})

test('local time does not run ahead, however often it is asked for', () => {
  let trueMs = 0
  const now = openLocalTime(
    byMs => expect.fail(`a jump by ${byMs} ms`),
    () => 1_000_000 + Math.floor(trueMs),
    () => Math.floor(trueMs * 10) / 10
  )
  let largestErrorMs = 0
  for (let asked = 0; asked < 200_000; asked++) {
    trueMs += 16.67 + (asked % 3) / 7
    largestErrorMs = Math.max(largestErrorMs, Math.abs(now() - 1_000_000 - trueMs))
  }
  expect(largestErrorMs).toBeLessThan(2)
})
