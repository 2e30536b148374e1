import { expect, test } from 'vitest'

import { asRefusal, Refusal, refusalOf } from '../../../../web/dashboard/api/api-error.ts'
import { turnsText } from '../../../../web/dashboard/schedule/playlist-words.ts'
import { scheduleText } from '../../../../web/dashboard/schedule/schedule-words.ts'
import { clockText } from '../../../../web/dashboard/ui/clock-text.ts'
import { summaryOf } from '../../../../web/dashboard/ui/listener-series.ts'
import { agoText, counted, durationText } from '../../../../web/dashboard/ui/text.ts'
import { placeName } from '../../../../web/dashboard/ui/time.ts'
import {
  answerText,
  attemptText,
  deliveryChip,
  hookChip,
  triggersText
} from '../../../../web/dashboard/web-hooks/hook.ts'

const item = { start_time: 900, end_time: 1730, start_date: '', end_date: '', days: [] as number[] }

test('a schedule is told in few words', () => {
  const day = `${clockText(540)}–${clockText(1_050)}`
  expect(scheduleText(item)).toBe(`Every day ${day}`)
  expect(scheduleText({ ...item, days: [1, 2, 3, 4, 5] })).toBe(`Mon–Fri ${day}`)
  expect(scheduleText({ ...item, days: [7, 1, 2, 4] })).toBe(`Mon, Tue, Thu, Sun ${day}`)
  expect(scheduleText({ ...item, end_time: 900 })).toBe(`Every day at ${clockText(540)}`)
  expect(scheduleText({ ...item, end_date: '2026-12-24' })).toBe(`Every day ${day}, until 2026-12-24`)
  const oneDay = { ...item, start_date: '2026-12-24', end_date: '2026-12-24' }
  expect(scheduleText(oneDay)).toBe(`Every day ${day} on 2026-12-24`)
})

test('a playlist says when its turn is', () => {
  const playlist = {
    type: 'default',
    source: 'songs',
    remote_type: 'stream',
    weight: 5,
    play_per_songs: 0,
    play_per_minutes: 1,
    play_per_hour_minute: 5
  }
  const types = ['default', 'once_per_x_songs', 'once_per_x_minutes', 'once_per_hour', 'custom']
  expect(types.map(type => turnsText({ ...playlist, type }))).toEqual([
    'Rotation, weight 5',
    'Never',
    'Every minute',
    'Once an hour, at :05',
    'By hand only'
  ])
  expect(turnsText({ ...playlist, source: 'remote_url' })).toBe('Stream, where nothing else plays')
})

test('a hook says how it is: what went wrong comes first', () => {
  const hook = { is_enabled: true, state: 'active', failures: 0, lastSentAt: 5 }
  expect(hookChip(hook, null)).toEqual({ text: 'Arriving', mood: 'good' })
  expect(hookChip(hook, 'delivered').text).toBe('Arriving')
  expect(hookChip(hook, 'cancelled').text).toBe('Ready')
  expect(hookChip({ ...hook, lastSentAt: 0 }, null).text).toBe('Ready')
  expect(hookChip({ ...hook, failures: 3 }, null)).toEqual({ text: 'Failed 3 times', mood: 'bad' })
  expect(hookChip({ ...hook, failures: 3, is_enabled: false }, null).text).toBe('Switched off')
  expect(hookChip({ ...hook, is_enabled: false, state: 'auto_disabled' }, null).mood).toBe('bad')
  expect(deliveryChip('pending', 0).text).toBe('Waiting')
  expect(deliveryChip('pending', 2)).toEqual({ text: 'Failed, tried again', mood: 'bad' })
  expect(deliveryChip('unheard of', 1)).toEqual({ text: 'unheard of', mood: 'quiet' })
  expect(triggersText(['song_changed', 'station_offline'])).toBe('Song changes, station goes silent')
  expect(triggersText([])).toBe('Everything')
  expect(answerText(502, 'http', 12)).toBe('502, 12 ms')
  expect(answerText(0, 'refused', 0)).toBe('connection refused')
  expect(answerText(0, '', 0)).toBe('')
})

test('an attempt that failed is told in a sentence', () => {
  expect(attemptText({ status: 410, error: 'http', duration_ms: 7 })).toBe('The server answered 410.')
  expect(attemptText({ status: 0, error: 'timeout', duration_ms: 10_012 })).toBe('No answer within 10 s.')
  expect(attemptText({ status: 0, error: 'refused', duration_ms: 1 })).toBe('Connection refused.')
  expect(attemptText({ status: 0, error: 'of tomorrow', duration_ms: 1 })).toBe('Of tomorrow.')
})

test('clocks have twelve hours or twenty-four, and zones the names of places', () => {
  expect([0, 845].map(minutes => clockText(minutes, 'en-GB'))).toEqual(['00:00', '14:05'])
  expect(clockText(845, 'en-US')).toMatch(/^2:05\sPM$/)
  const zones = ['America/Argentina/ComodRivadavia', 'America/New_York', 'UTC', 'Antarctica/McMurdo']
  expect(zones.map(placeName)).toEqual(['Comod Rivadavia', 'New York', 'UTC', 'McMurdo'])
})

test('counts and times are told as people do', () => {
  expect(counted(2, 'delivery', 'deliveries')).toBe('2 deliveries')
  expect([counted(1, 'listener'), counted(0, 'listener')]).toEqual(['1 listener', '0 listeners'])
  expect([59, 61, 7_300, 200_000].map(durationText)).toEqual(['59 seconds', '1 minute', '2 hours', '2 days'])
  expect(agoText(Date.now() / 1_000 - 65)).toBe('1 minute ago')
  expect(agoText(Date.now() / 1_000 + 65)).toBe('just now')
})

test('a chart is told in a sentence', () => {
  const at = (minute: number, total: number, most = total, fewest = total) => ({
    at: minute * 60,
    total,
    most,
    fewest
  })
  expect(summaryOf([at(0, 5), at(5, 9, 12), at(10, 3, 4, 1)], seconds => `${seconds / 60}`)).toBe(
    'Listeners since 0: 3 now, at most 12 at 5, at least 1 at 10'
  )
  expect(summaryOf([], String)).toBe('Nobody counted listeners yet')
})

test('a refusal is told by its message, which is text; what cannot be read, by its status', () => {
  const body = { code: 409, type: 'ConflictException', message: 'It is <b>sent</b>.', formatted_message: 'x' }
  expect(refusalOf(409, body, null).message).toBe('It is <b>sent</b>.')
  expect(refusalOf(403, { ...body, type: 'PermissionDeniedException' }, null).message).toBe(
    'This key may not do that.'
  )
  expect(refusalOf(403, { ...body, type: 'NotLoggedInException' }, null).isStranger).toBe(true)
  expect(refusalOf(429, body, '7').message).toBe('Too many requests: try again in 7 seconds.')
  expect(refusalOf(429, body, null).message).toBe('It is <b>sent</b>.')
  expect(refusalOf(502, '<html>', null).message).toBe('The server answered with an error (502).')
  expect(asRefusal(new TypeError('fetch failed'))).toEqual(new Refusal('The server cannot be reached.'))
})
