import type { FetchFaultWord } from '../../outbound/guarded-fetch.ts'

/** Why a delivery did not arrive. `http`: the response was not a success, or not HTTP. */
export type Fault = FetchFaultWord | 'mail' | 'config'

/** The result of one attempt. */
export interface AttemptResult {
  readonly startedAtMs: number
  readonly durationMs: number
  /** HTTP or SMTP status, 0 without an answer. */
  readonly status: number
  /** null: it arrived. */
  readonly fault: Fault | null
  /** What `Retry-After` asks for. */
  readonly retryAfterMs: number | null
  /** The beginning of the answer. */
  readonly response: string
  /** Where it went, without a query and without secrets. */
  readonly url: string
}

/** The recent deliveries of a web hook. Times are Unix milliseconds. */
export interface Health {
  readonly failures: number
  readonly failingSinceMs: number | null
  /** How often in a row the circuit breaker was opened, and until when it is. */
  readonly pauses: number
  readonly pausedUntilMs: number
  readonly lastSentMs: number
}

/** The consequences of an attempt. */
export interface DeliveryOutcome {
  readonly state: 'pending' | 'delivered' | 'failed'
  /** null: it is over. */
  readonly nextAttemptMs: number | null
  readonly health: Health
  /** Why the hook is switched off, for people; null: it is not. */
  readonly disabled: string | null
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Delays before the retries, from Standard Webhooks: ten attempts with the first. */
const delaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour
]
export const attemptsAtMost = delaysMs.length + 1

/** Each delay is up to a fifth shorter or longer, so that retries are spread. */
const jitter = 0.2
const retryAfterAtMostMs = hour

const failuresToPause = 5
const pauseAtMostMs = hour
const failuresToDisable = 100
const failingToDisableMs = 120 * hour

const gone = 410

/**
 * What follows from the `attempts`-th attempt of a delivery; `random` is 0 to 1. Five failures in a row pause
 * the hook for a minute; then one delivery tries, and each failure doubles the pause up to an hour. It is
 * switched off by an answer 410, 100 failures in a row, or five days without success.
 */
export function outcomeOf(
  attempted: AttemptResult,
  attempts: number,
  before: Health,
  random: number
): DeliveryOutcome {
  const { startedAtMs, durationMs, status, fault } = attempted
  if (fault === null) return deliveredOutcome(startedAtMs)
  const endedAtMs = startedAtMs + durationMs
  const failures = before.failures + 1
  const failingSinceMs = before.failingSinceMs ?? startedAtMs
  const pauses = failures >= failuresToPause ? before.pauses + 1 : 0
  const pauseMs = pauses === 0 ? 0 : Math.min(minute * 2 ** (pauses - 1), pauseAtMostMs)
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
    return { state: 'failed', nextAttemptMs: null, health, disabled }
  const jittered = Math.round(delayMs * (1 - jitter + 2 * jitter * random))
  const askedMs = Math.min(attempted.retryAfterMs ?? 0, retryAfterAtMostMs)
  return { state: 'pending', nextAttemptMs: endedAtMs + Math.max(jittered, askedMs), health, disabled }
}

/** The outcome of an attempt that arrived, whatever was before. */
export function deliveredOutcome(startedAtMs: number): DeliveryOutcome {
  const health = { failures: 0, failingSinceMs: null, pauses: 0, pausedUntilMs: 0, lastSentMs: startedAtMs }
  return { state: 'delivered', nextAttemptMs: null, health, disabled: null }
}

function reasonToDisable(status: number, failures: number, failingMs: number): string | null {
  if (status === gone) return 'the receiver answered 410: it wants no more'
  if (failures >= failuresToDisable) return `${failures} attempts in a row have failed`
  return failingMs >= failingToDisableMs ? 'nothing has arrived for five days' : null
}

const asked = new Set([429, 502, 503, 504])

/**
 * What `Retry-After` asks for where a status gives it a meaning: seconds or a date (RFC 9110, 10.2.3); else
 * null.
 */
export function retryAfterMs(status: number, header: string | undefined, nowMs: number): number | null {
  if (!asked.has(status) || header === undefined) return null
  const text = header.trim()
  if (/^\d{1,10}$/.test(text)) return Number(text) * second
  // Date reads much that is no date of HTTP.
  const date = /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}
