import { expect, test } from 'vitest'

import {
  ApiRequestError,
  parseErrorResponse,
  toApiRequestError
} from '../../../../web/dashboard/api/api-error.ts'
import {
  describePlaylistFrequency,
  formatScheduleItem
} from '../../../../web/dashboard/schedule/schedule-text.ts'
import { formatAge, formatCount, describeDuration, isolateBidi } from '../../../../web/dashboard/ui/text.ts'
import { formatMinuteOfDay, formatZoneName } from '../../../../web/dashboard/ui/time.ts'

const item = { start_time: 900, end_time: 1730, start_date: '', end_date: '', days: [] as number[] }

test('a schedule is formatted with joined days, times and dates', () => {
  const day = `${formatMinuteOfDay(540)}–${formatMinuteOfDay(1_050)}`
  expect(formatScheduleItem(item)).toBe(`Every day ${day}`)
  expect(formatScheduleItem({ ...item, days: [1, 2, 3, 4, 5] })).toBe(`Mon–Fri ${day}`)
  expect(formatScheduleItem({ ...item, days: [7, 1, 2, 4] })).toBe(`Mon, Tue, Thu, Sun ${day}`)
  expect(formatScheduleItem({ ...item, end_time: 900 })).toBe(`Every day at ${formatMinuteOfDay(540)}`)
  expect(formatScheduleItem({ ...item, end_date: '2026-12-24' })).toBe(`Every day ${day}, until 2026-12-24`)
  const oneDay = { ...item, start_date: '2026-12-24', end_date: '2026-12-24' }
  expect(formatScheduleItem(oneDay)).toBe(`Every day ${day} on 2026-12-24`)
})

test('the frequency of a playlist follows from its type', () => {
  const playlist = {
    type: 'default' as const,
    source: 'songs' as const,
    remote_type: 'stream' as const,
    weight: 5,
    play_per_songs: 0,
    play_per_minutes: 1,
    play_per_hour_minute: 5
  }
  const types = ['default', 'once_per_x_songs', 'once_per_x_minutes', 'once_per_hour', 'custom'] as const
  expect(types.map(type => describePlaylistFrequency({ ...playlist, type }))).toEqual([
    'Rotation, weight 5',
    'Never',
    'Every minute',
    'Once an hour, at :05',
    'Manual only'
  ])
  expect(describePlaylistFrequency({ ...playlist, source: 'remote_url' })).toBe(
    'Stream, if nothing else can play'
  )
})

test('times of day follow the locale, and time zones are named after their cities', () => {
  expect([0, 845].map(minutes => formatMinuteOfDay(minutes, 'en-GB'))).toEqual(['00:00', '14:05'])
  expect(formatMinuteOfDay(845, 'en-US')).toMatch(/^2:05\sPM$/)
  const zones = ['America/Argentina/ComodRivadavia', 'America/New_York', 'UTC', 'Antarctica/McMurdo']
  expect(zones.map(formatZoneName)).toEqual(['Comod Rivadavia', 'New York', 'UTC', 'McMurdo'])
})

test('counts, durations and ages have the right unit', () => {
  expect(formatCount(2, 'delivery', 'deliveries')).toBe('2 deliveries')
  expect([formatCount(1, 'listener'), formatCount(0, 'listener')]).toEqual(['1 listener', '0 listeners'])
  const durations = ['59 seconds', '1 minute', '2 hours', '2 days']
  expect([59, 61, 7_300, 200_000].map(describeDuration)).toEqual(durations)
  expect(formatAge(Date.now() / 1_000 - 65)).toBe('1 minute ago')
  expect(formatAge(Date.now() / 1_000 + 65)).toBe('just now')
})

test('an error has the plain-text message of the response, or else its status', () => {
  const body = { code: 409, type: 'ConflictException', message: 'It is <b>sent</b>.', formatted_message: 'x' }
  expect(parseErrorResponse(409, body, null).message).toBe('It is <b>sent</b>.')
  expect(parseErrorResponse(403, { ...body, type: 'PermissionDeniedException' }, null).message).toBe(
    'You do not have permission to do that.'
  )
  expect(parseErrorResponse(403, { ...body, type: 'NotLoggedInException' }, null).isUnauthenticated).toBe(
    true
  )
  expect(parseErrorResponse(429, body, '7').message).toBe('Too many requests. Try again in 7 seconds.')
  expect(parseErrorResponse(429, body, null).message).toBe('It is <b>sent</b>.')
  expect(parseErrorResponse(502, '<html>', null).message).toBe('The server returned an error (502).')
  expect(toApiRequestError(new TypeError('fetch failed'))).toEqual(
    new ApiRequestError('The server cannot be reached.')
  )
})

test('a right-to-left name is isolated, and other names stay as they are', () => {
  expect(isolateBidi('Harbour FM 👩‍🚀')).toBe('Harbour FM 👩‍🚀')
  expect(isolateBidi('\u202eMF')).toBe('\u2068\u202eMF\u2069')
  expect(isolateBidi('\u202eM\u2069F')).toBe('\u2068\u202eMF\u2069')
  expect(isolateBidi('راديو')).toBe('\u2068راديو\u2069')
})
