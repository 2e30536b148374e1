import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { formatLocalIsoTime } from '../../../../src/api/core/moments.ts'
import { listWindowsBetween } from '../../../../src/model/autodj/schedule.ts'
import { getTimeZone } from '../../../../src/model/autodj/time-zone.ts'
import {
  addDaysToDate,
  layOutWeek,
  mondayOf,
  type ScheduleOccurrence
} from '../../../../web/dashboard/schedule/week-layout.ts'
import { formatMinuteOfDay } from '../../../../web/dashboard/ui/time.ts'
import { sized } from '../../../support/tier.ts'

const occurrence = (name: string, start: string, end: string): ScheduleOccurrence => ({
  id: 1,
  name,
  start,
  end
})
const partsOf = (occurrences: readonly ScheduleOccurrence[], date: string) =>
  layOutWeek(occurrences, date).map(day =>
    day.showings.map(({ name, fromMinute, toMinute, lane, lanes }) => [
      name,
      fromMinute,
      toMinute,
      lane,
      lanes
    ])
  )

test('an occurrence over midnight is on two days, and simultaneous ones are side by side', () => {
  const [monday, tuesday, ...rest] = partsOf(
    [
      occurrence('Night', '2026-11-16T22:00:00+01:00', '2026-11-17T02:00:00+01:00'),
      occurrence('Jazz', '2026-11-16T20:00:00+01:00', '2026-11-16T23:00:00+01:00'),
      occurrence('Late', '2026-11-16T23:00:00+01:00', '2026-11-17T00:00:00+01:00'),
      occurrence('Noon', '2026-11-17T12:00:00+01:00', '2026-11-17T12:00:00+01:00'),
      occurrence('Before', '2026-11-15T12:00:00+01:00', '2026-11-16T00:00:00+01:00')
    ],
    '2026-11-16'
  )
  expect(monday).toEqual([
    ['Jazz', 1_200, 1_380, 0, 2],
    ['Night', 1_320, 1_440, 1, 2],
    ['Late', 1_380, 1_440, 0, 2]
  ])
  expect(tuesday).toEqual([
    ['Night', 0, 120, 0, 1],
    ['Noon', 720, 735, 0, 1]
  ])
  expect(rest.flat()).toEqual([])
})

test('a showing is as wide as possible, and its second day shows only the end', () => {
  const [monday, tuesday] = layOutWeek(
    [
      occurrence('Long', '2026-11-16T10:00:00+01:00', '2026-11-16T20:00:00+01:00'),
      occurrence('Early', '2026-11-16T10:00:00+01:00', '2026-11-16T12:00:00+01:00'),
      occurrence('Too', '2026-11-16T11:00:00+01:00', '2026-11-16T12:00:00+01:00'),
      occurrence('Late', '2026-11-16T18:00:00+01:00', '2026-11-16T19:00:00+01:00'),
      occurrence('Night', '2026-11-16T22:00:00+01:00', '2026-11-17T06:00:00+01:00')
    ],
    '2026-11-16'
  )
  const places = monday?.showings.map(({ name, lane, width }) => [name, lane, width])
  expect(places).toEqual([
    ['Long', 0, 1],
    ['Early', 1, 1],
    ['Too', 2, 1],
    ['Late', 1, 2],
    ['Night', 0, 1]
  ])
  expect([monday?.showings.at(-1)?.text, tuesday?.showings[0]?.text]).toEqual([
    `${formatMinuteOfDay(1_320)}–${formatMinuteOfDay(360)}`,
    `until ${formatMinuteOfDay(360)}`
  ])
})

test('an occurrence during a clock change is visible, with local times', () => {
  const [back] = partsOf(
    [occurrence('Twice', '2026-10-25T02:50:00+02:00', '2026-10-25T02:10:00+01:00')],
    '2026-10-25'
  )
  expect(back).toEqual([['Twice', 170, 185, 0, 1]])
})

test('weeks start on Monday, also across months and years', () => {
  expect(['2026-11-16', '2026-11-22', '2027-01-03'].map(mondayOf)).toEqual([
    '2026-11-16',
    '2026-11-16',
    '2026-12-28'
  ])
  expect(addDaysToDate('2026-12-28', 7)).toBe('2027-01-04')
})

const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'].map(
  getTimeZone
)
const hhmm = fc.tuple(fc.nat(23), fc.nat(59)).map(([hour, minute]) => hour * 100 + minute)
const item = fc.record({
  id: fc.constant(1),
  start_time: hhmm,
  end_time: hhmm,
  start_date: fc.constant(''),
  end_date: fc.constant(''),
  days: fc.subarray([1, 2, 3, 4, 5, 6, 7]),
  loop_once: fc.constant(false)
})

test('showings stay within their days and do not overlap', () => {
  const week = fc.integer({ min: 0, max: 60 }).map(index => addDaysToDate('2026-01-05', 7 * index))
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.array(item, { maxLength: 8 }), week, (zone, items, monday) => {
      const fromMs = Date.parse(`${monday}T00:00:00Z`) - 86_400_000
      const occurrences = listWindowsBetween(zone, items, fromMs, fromMs + 9 * 86_400_000).map(
        ({ startMs, endMs }, index) =>
          occurrence(String(index), formatLocalIsoTime(zone, startMs), formatLocalIsoTime(zone, endMs))
      )
      const days = layOutWeek(occurrences, monday)
      expect(days.map(({ date }) => date)).toEqual([0, 1, 2, 3, 4, 5, 6].map(at => addDaysToDate(monday, at)))
      for (const { showings } of days)
        for (const [index, one] of showings.entries()) {
          expect(one.fromMinute).toBeGreaterThanOrEqual(0)
          expect(one.toMinute).toBeLessThanOrEqual(1_440)
          expect(one.toMinute - one.fromMinute).toBeGreaterThanOrEqual(15)
          expect(one.width).toBeGreaterThan(0)
          expect(one.lane + one.width).toBeLessThanOrEqual(one.lanes)
          const meeting = showings.filter(
            (other, at) => at !== index && other.fromMinute < one.toMinute && one.fromMinute < other.toMinute
          )
          for (const other of meeting) {
            const isApart = other.lane + other.width <= one.lane || one.lane + one.width <= other.lane
            expect(isApart).toBe(true)
            expect(other.lanes).toBe(one.lanes)
          }
        }
    }),
    { numRuns: sized({ quick: 20, deep: 1_000 }) }
  )
})
