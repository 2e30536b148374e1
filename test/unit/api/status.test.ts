import { expect, test } from 'vitest'

import { renderServerTime } from '../../../src/api/admin/status.ts'

test('the time is rendered in every format, in UTC', () => {
  expect(renderServerTime(new Date('2026-07-08T12:00:00.999Z'))).toEqual({
    timestamp: 1_783_512_000,
    utc_datetime: '2026-07-08 12:00:00',
    utc_date: 'July 8, 2026',
    utc_time: '12:00pm',
    utc_json: '2026-07-08T12:00:00.000000Z'
  })
})

test('midnight is 12 am', () => {
  expect(renderServerTime(new Date('2026-07-08T00:05:00Z')).utc_time).toBe('12:05am')
})
