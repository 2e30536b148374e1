import type { Trigger } from '../../station/triggers.ts'

/** A pending delivery. Times are Unix milliseconds. */
export interface Pending {
  readonly id: number
  readonly triggers: readonly Trigger[]
  readonly happenedAtMs: number
  readonly attempts: number
  readonly nextAttemptMs: number
  /** An operator asked for it again: news comes first, it waits for no retry, and it is what it is. */
  readonly isAgain: boolean
}

/** The state of a web hook that decides what is sent next. */
export interface RetryState {
  readonly patience: RetryPolicy
  readonly rateLimitMs: number
  /** When the last delivery began that did not fail; 0: none. */
  readonly lastSentMs: number
  /** The circuit breaker is open until then; 0: it is not. */
  readonly pausedUntilMs: number
}

/**
 * How long an event is retried. `every`: to the end. `newest`: until there is a newer event. `hour`: for an
 * hour.
 */
export type RetryPolicy = 'every' | 'newest' | 'hour'

const hourMs = 3_600_000

/** A delivery that ends without having arrived. */
interface Given {
  readonly id: number
  readonly as: 'superseded' | 'expired' | 'merged'
}

/** Deliveries to end, and the one to send or the time of the next check. */
export interface Next {
  readonly given: readonly Given[]
  readonly send: { readonly id: number; readonly triggers: readonly Trigger[] } | null
  /** When something may be due, if nothing is sent now; null: nothing is pending. */
  readonly lookAtMs: number | null
}

/**
 * Chooses the next delivery of a web hook. Events are sent one after the other in their order; an event that
 * failed holds back newer ones until its first retry. Within `rateLimitMs` after a delivery all events wait
 * and are sent as one: the newest state with all triggers. The first attempt is always made. `pending` is in
 * the order of events.
 */
export function nextDelivery(pending: readonly Pending[], pace: RetryState, nowMs: number): Next {
  const stale = staleOf(pending, pace.patience, nowMs)
  const left = pending.filter(({ id }) => !stale.some(each => each.id === id))
  if (left.length === 0) return { given: stale, send: null, lookAtMs: null }
  if (pace.pausedUntilMs > nowMs) return { given: stale, send: null, lookAtMs: pace.pausedUntilMs }
  const times = left.map(each => ({ each, atMs: dueOf(each, left, pace) }))
  const inTime = times.filter(({ atMs }) => atMs <= nowMs).map(({ each }) => each)
  const due = inTime.find(({ isAgain }) => !isAgain) ?? inTime[0]
  if (!due) return { given: stale, send: null, lookAtMs: Math.min(...times.map(({ atMs }) => atMs)) }
  const merged = pace.rateLimitMs > 0 && isFresh(due) ? left.filter(isFresh) : [due]
  const newest = merged.at(-1) ?? due
  return {
    given: [...stale, ...merged.slice(0, -1).map(({ id }): Given => ({ id, as: 'merged' }))],
    send: { id: newest.id, triggers: [...new Set(merged.flatMap(({ triggers }) => triggers))] },
    lookAtMs: null
  }
}

const isFresh = ({ attempts, isAgain }: Pending) => attempts === 0 && !isAgain

function staleOf(pending: readonly Pending[], patience: RetryPolicy, nowMs: number): Given[] {
  return pending.flatMap((each, index): Given[] => {
    if (each.attempts === 0 || each.isAgain) return []
    const { id } = each
    if (patience === 'newest' && pending.slice(index + 1).some(newer => !newer.isAgain))
      return [{ id, as: 'superseded' }]
    return patience === 'hour' && nowMs - each.happenedAtMs >= hourMs ? [{ id, as: 'expired' }] : []
  })
}

/** When a delivery may be sent. */
function dueOf(each: Pending, pending: readonly Pending[], { rateLimitMs, lastSentMs }: RetryState): number {
  if (each.isAgain) return each.nextAttemptMs
  const opensMs = rateLimitMs > 0 ? lastSentMs + rateLimitMs : 0
  const ahead = pending
    .slice(0, pending.indexOf(each))
    .filter(other => !other.isAgain && other.attempts === 1)
  return Math.max(each.nextAttemptMs, opensMs, ...ahead.map(({ nextAttemptMs }) => nextAttemptMs))
}
