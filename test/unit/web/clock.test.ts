import { expect, test } from 'vitest'

import {
  addServerTime,
  openLocalClock,
  progressAt,
  type ServerClock,
  unknownClock
} from '../../../web/client/clock.ts'
import { aPlay, aStation } from '../../support/builders.ts'
import { renderDocument } from '../../support/web-client.ts'

const secondsAt = (trueMs: number) => Math.floor(trueMs / 1_000) * 1_000

test('times in whole seconds raise the bound and make it more accurate', () => {
  const aheadMs = 12_345
  let clock: ServerClock = unknownClock
  const errors: number[] = []
  for (const [localMs, latencyMs] of [
    [100_000, 80],
    [112_250, 40],
    [124_600, 300],
    [136_660, 20]
  ] as const) {
    clock = addServerTime(clock, secondsAt(localMs + aheadMs), localMs + latencyMs, false)
    errors.push(aheadMs - (clock.aheadMs ?? 0))
  }
  expect(errors).toEqual([425, 425, 425, 25])
})

test('an exact time replaces the bound', () => {
  const clock = addServerTime({ aheadMs: 900, isSuspect: false }, 5_000, 4_600, true)
  expect(clock.aheadMs).toBe(400)
})

test('one late time is ignored; two in a row mean that the local clock was set', () => {
  let clock: ServerClock = addServerTime(unknownClock, 100_000, 100_000, true)
  clock = addServerTime(clock, 110_000, 170_000, false)
  expect(clock.aheadMs).toBe(0)
  clock = addServerTime(clock, 120_000, 120_000, false)
  clock = addServerTime(clock, 130_000, 190_000, false)
  expect(clock.aheadMs).toBe(0)
  clock = addServerTime(clock, 140_000, 200_000, false)
  expect(clock.aheadMs).toBe(-59_500)
})

test('local time advances during sleep and does not go back with the clock', () => {
  const clock = { date: 1_000_000, steady: 70_000 }
  const jumps: number[] = []
  const now = openLocalClock(
    byMs => jumps.push(byMs),
    () => clock.date,
    () => clock.steady
  )
  Object.assign(clock, { date: 1_001_000, steady: 71_000 })
  expect(now()).toBe(1_001_000)
  Object.assign(clock, { date: 1_061_000, steady: 71_000 })
  expect(now()).toBe(1_061_000)
  Object.assign(clock, { date: 500_000, steady: 73_000 })
  expect(now()).toBe(1_063_000)
  Object.assign(clock, { date: 500_400, steady: 73_000 })
  expect(now()).toBe(1_063_000)
  expect(jumps).toEqual([60_000])
})

test('local time does not drift, however often it is read', () => {
  let trueMs = 0
  const now = openLocalClock(
    byMs => expect.fail(`a jump by ${byMs} ms`),
    () => 1_000_000 + Math.floor(trueMs),
    () => Math.floor(trueMs * 10) / 10
  )
  let largestErrorMs = 0
  for (let count = 0; count < 200_000; count++) {
    trueMs += 16.67 + (count % 3) / 7
    largestErrorMs = Math.max(largestErrorMs, Math.abs(now() - 1_000_000 - trueMs))
  }
  expect(largestErrorMs).toBeLessThan(2)
})

const startMs = 1_783_468_790_000
const playing = (durationMs: number) => aStation({ shown: aPlay({ startedAtMs: startMs, durationMs }) })
const seconds = startMs / 1_000

test('progress follows the time of the server within the length of the song', () => {
  const np = renderDocument(playing(215_000), seconds + 25)
  expect(progressAt(np, startMs + 25_400)).toEqual({
    elapsedMs: 25_400,
    durationMs: 215_000,
    remainingMs: 189_600
  })
  expect(progressAt(np, startMs - 500)?.elapsedMs).toBe(0)
  expect(progressAt(np, startMs + 900_000)?.remainingMs).toBe(0)
})

test('a song of unknown length has only elapsed time', () => {
  const np = renderDocument(playing(0), seconds + 25)
  expect(progressAt(np, startMs + 25_000)).toEqual({ elapsedMs: 25_000, durationMs: null, remainingMs: null })
})

test('a song that ended early for a jingle is fully elapsed', () => {
  const station = playing(215_000)
  const during = { ...station, current: { shId: 9_999, dueAtMs: null, isVisible: false } }
  expect(progressAt(renderDocument(during, seconds + 25), startMs + 25_000)?.remainingMs).toBe(0)
})

test('there is no progress off the air and before the first document', () => {
  expect(progressAt(renderDocument(aStation({ shown: null })), startMs)).toBeNull()
  expect(progressAt(null, startMs)).toBeNull()
})
