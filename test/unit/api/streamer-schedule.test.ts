import { expect, test } from 'vitest'

import { mayGoLive } from '../../../src/api/streamers/streamer-login.ts'
import type { ScheduleItem } from '../../../src/model/autodj/schedule.ts'

const item = (start_time: number, end_time: number, days: number[] = []): ScheduleItem => ({
  id: 1,
  start_time,
  end_time,
  start_date: '',
  end_date: '',
  days,
  loop_once: false
})

const berlin = (scheduleItems: ScheduleItem[], at: string) =>
  mayGoLive({ isActive: true, enforceSchedule: true, scheduleItems }, 'Europe/Berlin', Date.parse(at))

const times: [what: string, items: ScheduleItem[], at: string, isAllowed: boolean][] = [
  ['before it begins', [item(900, 1100)], '2026-07-06T06:59:59.999Z', false],
  ['as it begins', [item(900, 1100)], '2026-07-06T07:00:00Z', true],
  ['just before it ends', [item(900, 1100)], '2026-07-06T08:59:59.999Z', true],
  ['as it ends', [item(900, 1100)], '2026-07-06T09:00:00Z', false],
  ['on another day', [item(900, 1100, [2])], '2026-07-06T08:00:00Z', false],
  ['after midnight', [item(2300, 100, [1])], '2026-07-06T22:30:00Z', true],
  ['in the second of two', [item(900, 1100), item(1300, 1400)], '2026-07-06T11:30:00Z', true],
  ['without any', [], '2026-07-06T08:00:00Z', false],
  // The clock goes from 02:00 to 03:00: the night has an hour less.
  ['before the clock goes forward', [item(100, 330)], '2026-03-29T00:59:59Z', true],
  ['after the clock went forward', [item(100, 330)], '2026-03-29T01:29:59Z', true],
  ['an hour too late for that night', [item(100, 330)], '2026-03-29T01:30:00Z', false],
  // The clock goes from 03:00 back to 02:00: an item from 02:30 to 02:45 ends at the second 02:45.
  ['before the clock goes back', [item(230, 245)], '2026-10-25T00:30:00Z', true],
  ['when it is that time again', [item(230, 245)], '2026-10-25T01:44:59Z', true],
  ['when that time is over', [item(230, 245)], '2026-10-25T01:45:00Z', false]
]

test.for(times)('an enforced schedule applies %s', ([, items, at, isAllowed]) => {
  expect(berlin(items, at)).toBe(isAllowed)
})

test('without an enforced schedule any active account may go live, and no inactive one', () => {
  const row = { isActive: true, enforceSchedule: false, scheduleItems: [] }
  expect(mayGoLive(row, 'UTC', 0)).toBe(true)
  expect(mayGoLive({ ...row, isActive: false }, 'UTC', 0)).toBe(false)
})
