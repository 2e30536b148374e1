import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { type EngineTime, openEngineTime } from '../../../../src/platform/runtime/engine-time.ts'

/**
 * Adds a sample that is sent now and answered after `tookMs`, by a clock that is ahead of this machine.
 */
function ask(time: EngineTime, aheadMs: number, tookMs: number, delayMs = tookMs / 2): number {
  const sentAtMs = performance.now()
  return time.addSample({ sentAtMs, answeredAtMs: sentAtMs + tookMs, timeMs: Date.now() + aheadMs + delayMs })
}

const hourMs = 3_600_000

test('before the first sample it is the time of the machine', () => {
  expect(Math.abs(openEngineTime().timeMs() - Date.now())).toBeLessThan(5)
})

test('it is the time of Postgres, even if the clock of the machine is wrong', () => {
  const time = openEngineTime()
  ask(time, -hourMs, 4)
  expect(Math.abs(time.timeMs() - (Date.now() - hourMs))).toBeLessThan(10)
  expect(Math.abs(time.machineAheadMs() - hourMs)).toBeLessThan(10)
})

test('its error is not larger than that of the best sample', () => {
  const samples = fc.array(fc.tuple(fc.nat(2_000), fc.double({ min: 0, max: 1, noNaN: true })), {
    minLength: 1
  })
  fc.assert(
    fc.property(samples, list => {
      const time = openEngineTime()
      for (const [tookMs, share] of list) ask(time, 0, tookMs, tookMs * share)
      const bestMs = Math.min(...list.map(([tookMs]) => tookMs / 2))
      expect(Math.abs(time.timeMs() - Date.now())).toBeLessThan(bestMs + 20)
    }),
    { numRuns: 30 }
  )
})

test('a sample does not replace a more precise one because of rounding', () => {
  const time = openEngineTime()
  const sample = (sentAtMs: number, answeredAtMs: number, timeMs: number) =>
    time.addSample({ sentAtMs, answeredAtMs, timeMs })
  const nowMs = performance.now()
  sample(nowMs, nowMs, 1_000_000)
  sample(nowMs, nowMs + 200, 999_999)
  expect(Math.abs(time.timeMs() - (performance.now() - nowMs) - 1_000_000)).toBeLessThan(5)
})

test('a jump of the clock of Postgres is followed and returned', () => {
  const time = openEngineTime()
  ask(time, 0, 2)
  expect(Math.abs(ask(time, hourMs, 2) - hourMs)).toBeLessThan(10)
  expect(Math.abs(time.timeMs() - Date.now() - hourMs)).toBeLessThan(10)
  ask(time, hourMs, 500, 400)
  expect(Math.abs(time.timeMs() - Date.now() - hourMs)).toBeLessThan(10)
})
