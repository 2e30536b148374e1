import { describe, expect, test } from 'vitest'

import {
  type AttemptResult,
  maxDeliveryAttempts,
  type FailureState,
  computeDeliveryOutcome
} from '../../../src/webhooks/deliveries/outcome.ts'

const minute = 60_000
const hour = 60 * minute
const atMs = 1_767_950_000_000
const well: FailureState = { failures: 0, failingSinceMs: null, pauses: 0, pausedUntilMs: 0, lastSentMs: 7 }

const attempted = (given: Partial<AttemptResult> = {}): AttemptResult => ({
  startedAtMs: atMs,
  durationMs: 100,
  status: 200,
  fault: null,
  retryAfterMs: null,
  response: '',
  url: '',
  ...given
})
const failed = (given: Partial<AttemptResult> = {}) => attempted({ status: 500, fault: 'http', ...given })

describe('an attempt', () => {
  test('that arrives resets the failures, and its start counts for the rate limit', () => {
    const ill = { failures: 9, failingSinceMs: 1, pauses: 3, pausedUntilMs: 5, lastSentMs: 7 }
    expect(computeDeliveryOutcome(attempted(), 3, ill, 0.5)).toEqual({
      state: 'delivered',
      nextAttemptMs: null,
      failureState: { ...well, lastSentMs: atMs },
      disabled: null
    })
  })

  test('that fails is retried after the delays of Standard Webhooks with a fifth of jitter, ten times in all', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(attempts => {
      const at = (random: number) =>
        (computeDeliveryOutcome(failed(), attempts, well, random).nextAttemptMs ?? 0) - atMs - 100
      expect(at(0)).toBe(Math.round(at(0.5) * 0.8))
      expect(at(1)).toBe(Math.round(at(0.5) * 1.2))
      return at(0.5)
    })
    expect(delays).toEqual(
      [5_000, 5 * minute, 30 * minute].concat([2, 5, 10, 14, 20, 24].map(hours => hours * hour))
    )
    expect(delays.reduce((sum, delay) => sum + delay, 0)).toBe(75 * hour + 35 * minute + 5_000)
    expect(computeDeliveryOutcome(failed(), maxDeliveryAttempts, well, 0.5)).toMatchObject({
      state: 'failed',
      nextAttemptMs: null
    })
  })

  test('with Retry-After is not retried earlier, and the wait is limited to an hour', () => {
    const next = (asked: number) =>
      computeDeliveryOutcome(failed({ retryAfterMs: asked }), 1, well, 0.5).nextAttemptMs
    expect(next(120_000)).toBe(atMs + 100 + 120_000)
    expect(next(1_000)).toBe(atMs + 100 + 5_000)
    expect(next(9 * hour)).toBe(atMs + 100 + hour)
  })

  test('that fails five times in a row pauses the web hook for a minute, doubled each time up to an hour', () => {
    let health = well
    const pauses: number[] = []
    for (let failure = 1; failure <= 13; failure++) {
      health = computeDeliveryOutcome(failed(), 1, health, 0.5).failureState
      pauses.push(health.pausedUntilMs === 0 ? 0 : (health.pausedUntilMs - atMs - 100) / minute)
    }
    expect(pauses).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60])
    expect(health.lastSentMs).toBe(7)
  })

  test('answered 410 disables the web hook', () => {
    const outcome = computeDeliveryOutcome(failed({ status: 410 }), 1, well, 0.5)
    expect(outcome).toMatchObject({ state: 'failed', nextAttemptMs: null })
    expect(outcome.disabled).toContain('410')
  })

  test('that is the hundredth failure in a row, or fails after five days of failures, disables it', () => {
    const ill = (failures: number, sinceMs: number): FailureState => ({
      ...well,
      failures,
      failingSinceMs: sinceMs
    })
    expect(computeDeliveryOutcome(failed(), 1, ill(98, atMs), 0.5).disabled).toBeNull()
    expect(computeDeliveryOutcome(failed(), 1, ill(99, atMs), 0.5).disabled).toContain('100')
    expect(computeDeliveryOutcome(failed(), 1, ill(5, atMs - 120 * hour + 101), 0.5).disabled).toBeNull()
    expect(computeDeliveryOutcome(failed(), 1, ill(5, atMs - 120 * hour), 0.5).disabled).toContain(
      'five days'
    )
  })
})
