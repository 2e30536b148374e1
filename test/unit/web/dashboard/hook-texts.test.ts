import { expect, test } from 'vitest'

import type { WebhookDelivery } from '../../../../web/dashboard/api/responses.ts'
import {
  deliveryChip,
  describeFailure,
  findLastAttempt,
  formatResponse,
  formatTriggers,
  hookChip,
  lastPage
} from '../../../../web/dashboard/web-hooks/hook.ts'

const delivery = (id: number, attemptedAt: number): WebhookDelivery => ({
  id,
  happened_at: 1,
  triggers: [],
  state: 'pending',
  attempts: 0,
  attempted_at: attemptedAt,
  status: 0,
  error: '',
  duration_ms: 0,
  response: '',
  next_attempt: 0,
  message_id: '',
  url: ''
})

test('the delivery that was attempted last is found among many pending ones', () => {
  expect([0, 1, 20, 21, 107].map(count => lastPage(count, 20))).toEqual([1, 1, 1, 2, 6])
  expect(findLastAttempt([delivery(3, 0), delivery(2, 50), delivery(1, 60)])?.id).toBe(1)
  expect(findLastAttempt([delivery(3, 0)])).toBe(null)
})

test('the state of a hook shows failures first', () => {
  const hook = { is_enabled: true, state: 'active', failures: 0, lastSentAt: 5 }
  expect(hookChip(hook, null)).toEqual({ text: 'Working', tone: 'good' })
  expect(hookChip(hook, 'delivered').text).toBe('Working')
  expect(hookChip(hook, 'cancelled').text).toBe('Ready')
  expect(hookChip({ ...hook, lastSentAt: 0 }, null).text).toBe('Ready')
  expect(hookChip({ ...hook, failures: 3 }, null)).toEqual({ text: 'Failed 3 times', tone: 'bad' })
  expect(hookChip({ ...hook, failures: 3, is_enabled: false }, null).text).toBe('Disabled')
  expect(hookChip({ ...hook, is_enabled: false, state: 'auto_disabled' }, null).tone).toBe('bad')
})

test('deliveries, triggers and responses are described, unknown values as they are', () => {
  expect(deliveryChip({ state: 'pending', attempts: 0 }).text).toBe('Pending')
  expect(deliveryChip({ state: 'pending', attempts: 2 })).toEqual({ text: 'Failed, retrying', tone: 'bad' })
  expect(deliveryChip({ state: 'unknown', attempts: 1 })).toEqual({ text: 'unknown', tone: 'neutral' })
  expect(formatTriggers(['song_changed', 'station_offline'])).toBe('Song changes, station goes offline')
  expect(formatTriggers([])).toBe('All events')
  expect(formatResponse({ status: 502, error: 'http', duration_ms: 12 })).toBe('502, 12 ms')
  expect(formatResponse({ status: 0, error: 'refused', duration_ms: 0 })).toBe('connection refused')
  expect(formatResponse({ status: 0, error: '', duration_ms: 0 })).toBe('')
})

test('a failed attempt is described in a sentence', () => {
  const describe = (status: number, error: string, durationMs: number) =>
    describeFailure({ status, error, duration_ms: durationMs })
  expect(describe(410, 'http', 7)).toBe('The server responded with 410.')
  expect(describe(0, 'timeout', 10_012)).toBe('No response within 10 s.')
  expect(describe(0, 'refused', 1)).toBe('Connection refused.')
  expect(describe(0, 'unknown', 1)).toBe('Unknown.')
})
