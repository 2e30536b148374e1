import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { formatLocalIsoTime } from '../../../../src/api/core/moments.ts'
import { listWindowsBetween } from '../../../../src/model/autodj/schedule.ts'
import { getTimeZone } from '../../../../src/model/autodj/time-zone.ts'
import { findWeekClockChanges } from '../../../../web/dashboard/schedule/clock-changes.ts'
import { gridMinuteAt, toGridOffset } from '../../../../web/dashboard/schedule/grid-geometry.ts'
import { findItemOccurrences } from '../../../../web/dashboard/schedule/item-occurrences.ts'
import {
  createScheduleItem,
  itemLengthMinutes,
  moveScheduleItem,
  resizeScheduleItem,
  type ApiScheduleItem
} from '../../../../web/dashboard/schedule/schedule-item.ts'
import { addDaysToDate } from '../../../../web/dashboard/schedule/week-layout.ts'
import { sized } from '../../../support/tier.ts'

const monday = '2026-11-16'

const item = (parts: Partial<ApiScheduleItem>): ApiScheduleItem => ({
  id: 1,
  start_time: 0,
  end_time: 0,
  start_date: '',
  end_date: '',
  days: [],
  loop_once: false,
  ...parts
})

const anyTime = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 15, 30, 45))
  .map(([hours, minutes]) => hours * 100 + minutes)
const anyDate = fc.integer({ min: -10, max: 10 }).map(days => addDaysToDate(monday, days))
const anyItem: fc.Arbitrary<ApiScheduleItem> = fc
  .record({
    start_time: anyTime,
    end_time: anyTime,
    days: fc.subarray([1, 2, 3, 4, 5, 6, 7]),
    dates: fc.oneof(
      fc.constant(['', '']),
      fc.tuple(anyDate, anyDate).map(dates => dates.toSorted()),
      anyDate.map(date => [date, ''])
    )
  })
  .map(({ dates: [start_date = '', end_date = ''], ...parts }) => item({ ...parts, start_date, end_date }))

const runs = { numRuns: sized({ quick: 200, deep: 5_000 }) }

test('a period is created, moved and resized over midnight', () => {
  const show = createScheduleItem('2026-11-17', 1_320, 1_500)
  expect(show).toMatchObject({ start_time: 2_200, end_time: 100, days: [2] })
  expect(moveScheduleItem(show, 0, 180)).toMatchObject({ start_time: 100, end_time: 400, days: [3] })
  expect(moveScheduleItem({ ...show, days: [1, 7] }, 1, 0)).toMatchObject({ days: [1, 2] })
  expect(resizeScheduleItem(show, 'end', -600)).toMatchObject({ start_time: 2_200, end_time: 2_215 })
  expect(resizeScheduleItem(show, 'start', -1_380)).toMatchObject({
    start_time: 115,
    end_time: 100,
    days: [2]
  })
  expect(resizeScheduleItem(createScheduleItem(monday, 0, 60), 'start', -30)).toMatchObject({
    start_time: 2_330,
    end_time: 100,
    days: [7]
  })
})

test('moving a period keeps its length, and moving it back restores it', () => {
  fc.assert(
    fc.property(
      anyItem,
      fc.integer({ min: -8, max: 8 }),
      fc.integer({ min: -200, max: 200 }),
      (any, days, steps) => {
        // Equal times are stored again as 15 minutes.
        const before = moveScheduleItem(any, 0, 0)
        const moved = moveScheduleItem(before, days, steps * 15)
        expect(itemLengthMinutes(moved)).toBe(itemLengthMinutes(before))
        expect(moveScheduleItem(moved, -days, -steps * 15)).toEqual(before)
      }
    ),
    runs
  )
})

test('resizing keeps the other edge, and a length of 15 minutes to 23:45', () => {
  fc.assert(
    fc.property(
      anyItem,
      fc.constantFrom('start', 'end'),
      fc.integer({ min: -100, max: 100 }),
      (any, edge, steps) => {
        const before = moveScheduleItem(any, 0, 0)
        const next = resizeScheduleItem(before, edge, steps * 15)
        expect(itemLengthMinutes(next)).toBeGreaterThanOrEqual(15)
        expect(itemLengthMinutes(next)).toBeLessThanOrEqual(1_425)
        const other = edge === 'end' ? 'start_time' : 'end_time'
        expect(next[other]).toBe(before[other])
      }
    ),
    runs
  )
})

test('the calendar shows the periods that the server computes', () => {
  const utc = getTimeZone('UTC')
  const fromMs = Date.parse(`${monday}T00:00:00Z`)
  fc.assert(
    fc.property(anyItem, any => {
      const shown = findItemOccurrences([{ key: 'a', name: 'A', item: any }], monday)
        .filter(
          ({ end, start }) => end > `${monday}T00:00:00` && start < `${addDaysToDate(monday, 7)}T00:00:00`
        )
        .map(({ start, end }) => [start, end])
      const expected = listWindowsBetween(utc, [any], fromMs, fromMs + 7 * 86_400_000).map(
        ({ startMs, endMs }) => [
          formatLocalIsoTime(utc, startMs).slice(0, 19),
          formatLocalIsoTime(utc, endMs).slice(0, 19)
        ]
      )
      expect(shown).toEqual(expected)
    }),
    runs
  )
})

test('clock changes of a week are found in every kind of zone', () => {
  expect(findWeekClockChanges('Europe/Berlin', '2026-03-23')).toEqual([
    { date: '2026-03-29', kind: 'skipped', fromMinute: 120, toMinute: 180 }
  ])
  expect(findWeekClockChanges('Europe/Berlin', '2026-10-19')).toEqual([
    { date: '2026-10-25', kind: 'repeated', fromMinute: 120, toMinute: 180 }
  ])
  expect(findWeekClockChanges('Australia/Lord_Howe', '2026-09-28')).toEqual([
    { date: '2026-10-04', kind: 'skipped', fromMinute: 120, toMinute: 150 }
  ])
  expect(findWeekClockChanges('Asia/Kathmandu', '2026-03-23')).toEqual([])
})

test('pixels are days and steps of 15 minutes', () => {
  const lanes = Array.from({ length: 7 }, (_, index) => ({
    left: index * 100,
    right: index * 100 + 100,
    height: 960
  }))
  const from = { x: 150, y: 100 }
  expect(toGridOffset(lanes, from, { x: 151, y: 104 })).toEqual({ days: 0, minutes: 0 })
  expect(toGridOffset(lanes, from, { x: 350, y: 140 })).toEqual({ days: 2, minutes: 60 })
  expect(toGridOffset(lanes, from, { x: -50, y: 60 })).toEqual({ days: -1, minutes: -60 })
  expect(toGridOffset(lanes, from, { x: 2_000, y: 100 })).toEqual({ days: 5, minutes: 0 })
  expect([gridMinuteAt(0, 960), gridMinuteAt(245, 960), gridMinuteAt(960, 960)]).toEqual([0, 360, 1_425])
})
