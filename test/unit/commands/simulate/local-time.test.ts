import { expect, test } from 'vitest'

import { formatLength, formatLocalTime } from '../../../../src/commands/simulate/calendar.ts'
import { getTimeZone } from '../../../../src/model/autodj/time-zone.ts'

test('an instant is formatted in local time, before and after a clock change', () => {
  const berlin = getTimeZone('Europe/Berlin')
  expect(formatLocalTime(berlin, Date.UTC(2026, 2, 29, 0, 59, 59))).toBe('Sun 2026-03-29 01:59:59')
  expect(formatLocalTime(berlin, Date.UTC(2026, 2, 29, 1))).toBe('Sun 2026-03-29 03:00:00')
  expect(formatLocalTime(getTimeZone('Asia/Kathmandu'), Date.UTC(2026, 0, 11, 18, 15))).toBe(
    'Mon 2026-01-12 00:00:00'
  )
})

test('a length has hours only if needed', () => {
  expect([0, 999, 61_000, 3_599_999, 3_600_000, 360_000_000].map(formatLength)).toEqual([
    '0:00',
    '0:00',
    '1:01',
    '59:59',
    '1:00:00',
    '100:00:00'
  ])
})
