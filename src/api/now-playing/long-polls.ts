import type { ShownPosition } from '../../model/station/live-view.ts'
import { connectionsMetric } from '../../platform/metrics/push.ts'
import { openTimeSlices } from '../../platform/runtime/time-slices.ts'

/** Waits at most `waitMs` for an offset above `since`, or an epoch other than `epoch`. */
export interface LongPollRequest {
  readonly stationId: number
  readonly since: number
  readonly epoch: string
  readonly waitMs: number
  readonly address: string
}

/** Why a long poll ended. `released`: the server is stopping. */
export type LongPollEnd = 'changed' | 'timed-out' | 'released'

/** The long polls that wait on a server. */
export type LongPolls = ReturnType<typeof openLongPolls>

export interface LongPollsOptions {
  /** Calls `listener` after every change of a station. */
  readonly onChange: (listener: (station: ShownPosition) => void) => void
  /** Whether a station exists. Long polls for a deleted station time out at once. */
  readonly isKnown: (stationId: number) => boolean
  /** Admits one more connection; the returned function frees its place. Null: no place is free. */
  readonly admit: (address: string, stationId: number) => (() => void) | null
  /** The length of the time slices in which `end` is called. */
  readonly sliceMs?: number
}

interface Waiter {
  readonly request: LongPollRequest
  /** By `performance.now()`. */
  readonly deadlineMs: number
  readonly end: (reason: LongPollEnd) => void
  readonly freePlace: () => void
  /** Null while the long poll waits. */
  reason: LongPollEnd | null
}

/** The accuracy of timeouts. */
const tickMs = 100

export function openLongPolls({ onChange, isKnown, admit, sliceMs = 2 }: LongPollsOptions) {
  const byStation = new Map<number, Set<Waiter>>()
  /** Waiters with a reason, in the order in which `end` is called; those of `batch` come first. */
  let ended: Waiter[] = []
  let batch: Waiter[] = []
  let next = 0
  let size = 0
  let timer: NodeJS.Timeout | null = null
  let isReleased = false

  /** Returns whether the waiter was not removed before. */
  function remove(waiter: Waiter): boolean {
    const { stationId } = waiter.request
    const waiters = byStation.get(stationId)
    if (!waiters?.delete(waiter)) return false
    if (waiters.size === 0) byStation.delete(stationId)
    size -= 1
    connectionsMetric.long_poll--
    waiter.freePlace()
    if (size === 0 && timer !== null) {
      clearInterval(timer)
      timer = null
    }
    return true
  }

  const slices = openTimeSlices(sliceMs, () => {
    if (next === batch.length) {
      batch = ended
      ended = []
      next = 0
    }
    const waiter = batch[next++]
    if (waiter?.reason && remove(waiter)) waiter.end(waiter.reason)
    return next < batch.length || ended.length > 0
  })

  function endWhere(waiters: Iterable<Waiter>, reason: LongPollEnd, isDue: (waiter: Waiter) => boolean) {
    for (const waiter of waiters) {
      if (waiter.reason !== null || !isDue(waiter)) continue
      waiter.reason = reason
      ended.push(waiter)
    }
    if (ended.length > 0) slices.wake()
  }

  function checkTimeouts(): void {
    const nowMs = performance.now()
    for (const [stationId, waiters] of byStation) {
      const isDeleted = !isKnown(stationId)
      endWhere(waiters, 'timed-out', ({ deadlineMs }) => isDeleted || deadlineMs <= nowMs)
    }
  }

  onChange(state => {
    const waiters = byStation.get(state.stationId)
    if (waiters) endWhere(waiters, 'changed', ({ request }) => endsLongPoll(request, state))
  })

  const hasWaiters = () => size > 0

  return {
    size: () => size,
    /**
     * Calls `end` once, asynchronously, unless the returned function is called before. Returns `full` if
     * `admit` refuses, `released` after `release`; then `end` is not called.
     */
    wait: (request: LongPollRequest, end: (reason: LongPollEnd) => void) => {
      if (isReleased) return 'released'
      const freePlace = admit(request.address, request.stationId)
      if (freePlace === null) return 'full'
      const deadlineMs = performance.now() + request.waitMs
      const waiter: Waiter = { request, deadlineMs, end, freePlace, reason: null }
      const waiters = byStation.get(request.stationId) ?? new Set()
      byStation.set(request.stationId, waiters.add(waiter))
      size += 1
      connectionsMetric.long_poll++
      timer ??= setInterval(checkTimeouts, tickMs)
      return () => void remove(waiter)
    },
    /** Ends all long polls and accepts no new ones. Resolves once `end` was called for each. */
    release: async () => {
      isReleased = true
      for (const waiters of byStation.values()) endWhere(waiters, 'released', () => true)
      while (hasWaiters()) await new Promise(resolve => setImmediate(resolve))
    }
  }
}

/** Whether a state ends a long poll from this position. */
export function endsLongPoll(
  { since, epoch }: Pick<LongPollRequest, 'since' | 'epoch'>,
  state: ShownPosition
): boolean {
  return state.offset > since || epoch !== state.epoch
}
