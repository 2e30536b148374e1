import type { FetchFaultReason } from '../../platform/outbound/guarded-fetch.ts'

/** Why a delivery did not arrive. `http`: the response was not a success, or not HTTP. */
export type DeliveryFaultReason = FetchFaultReason | 'mail' | 'config'

/** The result of one attempt. */
export interface AttemptResult {
  readonly startedAtMs: number
  readonly durationMs: number
  /** HTTP or SMTP status; 0 without an answer. */
  readonly status: number
  /** null if it arrived. */
  readonly fault: DeliveryFaultReason | null
  /** From `Retry-After`. */
  readonly retryAfterMs: number | null
  /** The beginning of the answer. */
  readonly response: string
  /** Without query and secrets. */
  readonly url: string
}

/** The recent deliveries of a web hook. Times are Unix milliseconds. */
export interface FailureState {
  readonly failures: number
  readonly failingSinceMs: number | null
  /** How often in a row the circuit breaker opened, and until when it is open. */
  readonly pauses: number
  readonly pausedUntilMs: number
  readonly lastSentMs: number
}

/** The consequences of an attempt. */
export interface DeliveryOutcome {
  readonly state: 'pending' | 'delivered' | 'failed'
  /** null if the delivery has ended. */
  readonly nextAttemptMs: number | null
  readonly failureState: FailureState
  /** Why the web hook is disabled, for operators; null if it is not. */
  readonly disabled: string | null
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Delays before retries, from Standard Webhooks: ten attempts with the first. */
const delaysMs = [5 * second, 5 * minute, 30 * minute, ...[2, 5, 10, 14, 20, 24].map(hours => hours * hour)]
export const maxDeliveryAttempts = delaysMs.length + 1

/** Each delay is up to a fifth shorter or longer, which spreads retries. */
const jitter = 0.2
const maxRetryAfterMs = hour

const failuresToPause = 5
const maxPauseMs = hour
const failuresToDisable = 100
const failingToDisableMs = 120 * hour

/**
 * Computes the consequences of the `attempts`-th attempt of a delivery; `random` is 0 to 1. Five failures in a
 * row pause the web hook for a minute; then one delivery is tried, and each failure doubles the pause up to an
 * hour. An answer 410, 100 failures in a row, or five days without success disable it.
 */
export function computeDeliveryOutcome(
  result: AttemptResult,
  attempts: number,
  before: FailureState,
  random: number
): DeliveryOutcome {
  const { startedAtMs, durationMs, status, fault } = result
  if (fault === null) return deliveredOutcome(startedAtMs)
  const endedAtMs = startedAtMs + durationMs
  const failures = before.failures + 1
  const failingSinceMs = before.failingSinceMs ?? startedAtMs
  const pauses = failures >= failuresToPause ? before.pauses + 1 : 0
  const pauseMs = pauses === 0 ? 0 : Math.min(minute * 2 ** (pauses - 1), maxPauseMs)
  const health = {
    failures,
    failingSinceMs,
    pauses,
    pausedUntilMs: pauses === 0 ? 0 : endedAtMs + pauseMs,
    lastSentMs: before.lastSentMs
  }
  const disabled = reasonToDisable(status, failures, endedAtMs - failingSinceMs)
  const delayMs = delaysMs[attempts - 1]
  if (disabled !== null || delayMs === undefined)
    return { state: 'failed', nextAttemptMs: null, failureState: health, disabled }
  const jittered = Math.round(delayMs * (1 - jitter + 2 * jitter * random))
  const requestedMs = Math.min(result.retryAfterMs ?? 0, maxRetryAfterMs)
  return {
    state: 'pending',
    nextAttemptMs: endedAtMs + Math.max(jittered, requestedMs),
    failureState: health,
    disabled
  }
}

/** The outcome of an attempt that arrived; it does not depend on those before. */
export function deliveredOutcome(startedAtMs: number): DeliveryOutcome {
  const health = { failures: 0, failingSinceMs: null, pauses: 0, pausedUntilMs: 0, lastSentMs: startedAtMs }
  return { state: 'delivered', nextAttemptMs: null, failureState: health, disabled: null }
}

function reasonToDisable(status: number, failures: number, failingMs: number): string | null {
  if (status === 410) return 'the receiver answered 410 (Gone)'
  if (failures >= failuresToDisable) return `${failures} attempts in a row have failed`
  return failingMs >= failingToDisableMs ? 'no delivery has arrived for five days' : null
}
