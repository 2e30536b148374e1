import type { Trigger } from '../../model/station/triggers.ts'
import type { RetryPolicy } from '../types/hook-type.ts'

/** A pending delivery. Times are Unix milliseconds. */
export interface PendingDelivery {
  readonly id: number
  readonly triggers: readonly Trigger[]
  readonly happenedAtMs: number
  readonly attempts: number
  readonly nextAttemptMs: number
  /** Requested again by an operator: sent after new events, waits for no retry, is never merged or ended. */
  readonly isAgain: boolean
}

/** The state of a web hook that decides what is sent next. */
export interface HookSendState {
  readonly policy: RetryPolicy
  readonly rateLimitMs: number
  /** When the last successful delivery began; 0: none. */
  readonly lastSentMs: number
  /** Until when the circuit breaker is open; 0: it is closed. */
  readonly pausedUntilMs: number
}

const hourMs = 3_600_000

/** A delivery that ends without having arrived. */
interface Ended {
  readonly id: number
  readonly as: 'superseded' | 'expired' | 'merged'
}

/** Deliveries to end, and the one to send or the time of the next check. */
export interface NextDelivery {
  readonly ended: readonly Ended[]
  readonly send: { readonly id: number; readonly triggers: readonly Trigger[] } | null
  /** When something may be due; null if something is sent now or nothing is pending. */
  readonly nextCheckMs: number | null
}

/**
 * Chooses the next delivery of a web hook from `pending`, which is in the order of events. Events are sent
 * one after the other in their order; an event that failed holds back newer ones until its first retry.
 * Within `rateLimitMs` after a delivery all events wait, and are then sent as one: the newest state with all
 * triggers. The first attempt is always made.
 */
export function chooseNextDelivery(
  pending: readonly PendingDelivery[],
  state: HookSendState,
  nowMs: number
): NextDelivery {
  const ended = findStale(pending, state.policy, nowMs)
  const endedIds = new Set(ended.map(({ id }) => id))
  const left = pending.filter(({ id }) => !endedIds.has(id))
  if (left.length === 0) return { ended, send: null, nextCheckMs: null }
  if (state.pausedUntilMs > nowMs) return { ended, send: null, nextCheckMs: state.pausedUntilMs }
  const times = dueTimes(left, state)
  const due = left.filter((_, index) => (times[index] ?? 0) <= nowMs)
  const next = due.find(({ isAgain }) => !isAgain) ?? due[0]
  if (!next) return { ended, send: null, nextCheckMs: times.reduce((a, b) => Math.min(a, b)) }
  const merged = state.rateLimitMs > 0 && isUntried(next) ? left.filter(isUntried) : [next]
  const newest = merged.at(-1) ?? next
  return {
    ended: [...ended, ...merged.slice(0, -1).map(({ id }): Ended => ({ id, as: 'merged' }))],
    send: { id: newest.id, triggers: [...new Set(merged.flatMap(({ triggers }) => triggers))] },
    nextCheckMs: null
  }
}

const isUntried = ({ attempts, isAgain }: PendingDelivery) => attempts === 0 && !isAgain

function findStale(pending: readonly PendingDelivery[], policy: RetryPolicy, nowMs: number): Ended[] {
  const newestIndex = pending.findLastIndex(({ isAgain }) => !isAgain)
  return pending.flatMap(({ id, attempts, isAgain, happenedAtMs }, index): Ended[] => {
    if (attempts === 0 || isAgain) return []
    if (policy === 'newest' && index < newestIndex) return [{ id, as: 'superseded' }]
    return policy === 'hour' && nowMs - happenedAtMs >= hourMs ? [{ id, as: 'expired' }] : []
  })
}

/** When each delivery may be sent. In one pass, because there may be 100,000. */
function dueTimes(pending: readonly PendingDelivery[], { rateLimitMs, lastSentMs }: HookSendState): number[] {
  let earliestPlacementMs = rateLimitMs > 0 ? lastSentMs + rateLimitMs : 0
  return pending.map(({ isAgain, attempts, nextAttemptMs }) => {
    if (isAgain) return nextAttemptMs
    const dueMs = Math.max(nextAttemptMs, earliestPlacementMs)
    if (attempts === 1) earliestPlacementMs = Math.max(earliestPlacementMs, nextAttemptMs)
    return dueMs
  })
}
