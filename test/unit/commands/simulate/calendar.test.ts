import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  findClockChanges,
  type LocalDayPart,
  splitByDay
} from '../../../../src/commands/simulate/calendar.ts'
import { hourMs, minuteMs, getTimeZone } from '../../../../src/model/autodj/time-zone.ts'

const berlin = getTimeZone('Europe/Berlin')
const spring = Date.UTC(2026, 2, 29) / (24 * hourMs)
const autumn = Date.UTC(2026, 9, 25) / (24 * hourMs)

const piece = (day: number, from: number, to: number, occurrence: LocalDayPart['occurrence'] = 'only') => ({
  day,
  fromMinute: from * 60,
  toMinute: to * 60,
  occurrence
})

test('a period over midnight is a piece of each date', () => {
  const day = Date.UTC(2026, 0, 12) / (24 * hourMs)
  expect(
    splitByDay(berlin, berlin.instant(day, 2200, 'first'), berlin.instant(day + 1, 400, 'first'))
  ).toEqual([piece(day, 22, 24), piece(day + 1, 0, 4)])
})

test('skipped local time is omitted', () => {
  expect(
    splitByDay(berlin, berlin.instant(spring, 100, 'first'), berlin.instant(spring, 400, 'first'))
  ).toEqual([piece(spring, 1, 2), piece(spring, 3, 4)])
  expect(
    findClockChanges(berlin, berlin.instant(spring, 0, 'first'), berlin.instant(spring + 1, 0, 'first'))
  ).toEqual([{ day: spring, fromMinute: 120, toMinute: 180, kind: 'skipped' }])
})

test('a repeated hour is two pieces', () => {
  const day = [berlin.instant(autumn, 0, 'first'), berlin.instant(autumn + 1, 0, 'first')] as const
  expect(splitByDay(berlin, ...day)).toEqual([
    piece(autumn, 0, 2),
    piece(autumn, 2, 3, 'first'),
    piece(autumn, 2, 3, 'second'),
    piece(autumn, 3, 24)
  ])
  expect(findClockChanges(berlin, ...day)).toEqual([
    { day: autumn, fromMinute: 120, toMinute: 180, kind: 'repeated' }
  ])
})

test('a clock may change by half an hour', () => {
  const zone = getTimeZone('Australia/Lord_Howe')
  const day = Date.UTC(2026, 3, 5) / (24 * hourMs)
  const changes = findClockChanges(zone, zone.instant(day, 0, 'first'), zone.instant(day + 1, 0, 'first'))
  expect(changes).toEqual([{ day, fromMinute: 90, toMinute: 120, kind: 'repeated' }])
})

test('pieces add up to the period, are within their dates and do not overlap', () => {
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'America/Havana',
    'Africa/Casablanca',
    'UTC'
  ]
  const times = fc.record({
    zone: fc.constantFrom(...zones).map(getTimeZone),
    fromMs: fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2030, 0) }),
    lengthMs: fc.integer({ min: 1, max: 72 * hourMs }),
    isByChange: fc.boolean()
  })
  fc.assert(
    fc.property(times, ({ zone, fromMs, lengthMs, isByChange }) => {
      const [change] = isByChange ? findClockChanges(zone, fromMs, fromMs + 366 * 24 * hourMs) : []
      const startMs = change ? zone.instant(change.day, 0, 'first') - lengthMs / 2 : fromMs
      const pieces = splitByDay(zone, startMs, startMs + lengthMs)
      const minutes = pieces.reduce((sum, each) => sum + each.toMinute - each.fromMinute, 0)
      expect(minutes * minuteMs).toBeCloseTo(lengthMs, 3)
      for (const [index, one] of pieces.entries()) {
        expect(one.fromMinute).toBeGreaterThanOrEqual(0)
        expect(one.toMinute).toBeLessThanOrEqual(24 * 60)
        expect(one.toMinute).toBeGreaterThan(one.fromMinute)
        for (const other of pieces.slice(index + 1)) {
          const isApart = other.fromMinute >= one.toMinute - 1e-6 || one.fromMinute >= other.toMinute - 1e-6
          const isBeside =
            one.occurrence !== 'only' && other.occurrence !== 'only' && one.occurrence !== other.occurrence
          expect(other.day !== one.day || isApart || isBeside).toBe(true)
        }
      }
    })
  )
})
