import type { StationState } from '../../station/state.ts'

/**
 * What a long poll waits for, `waitMs` at most: a higher offset than `since`, or another epoch than `epoch`.
 */
export interface LongPollRequest {
  readonly stationId: number
  readonly since: number
  readonly epoch: string
  readonly waitMs: number
  readonly address: string
}

/** Why a wait has ended: there is news, time is up, or the server can hold nobody any longer. */
export type LongPollEnd = 'news' | 'timeout' | 'release'

/** The long polls that wait for a change. */
export interface LongPolls {
  /**
   * Calls `end` once, later: when a change brings what is awaited, or when `waitMs` have passed. The function
   * it gives forgets the wait. `full`: there is no room; `released`: nobody waits any more.
   */
  readonly wait: (
    awaited: LongPollRequest,
    end: (why: LongPollEnd) => void
  ) => (() => void) | 'full' | 'released'
  readonly size: () => number
  /** Ends all waits, and takes no new ones. Resolves when everybody has been told. */
  readonly release: () => Promise<void>
}

export interface LongPollsOptions {
  /** Calls `listener` after every change of a station. */
  readonly onChange: (listener: (state: StationState) => void) => void
  /** Whether a station is there: nobody waits for one that is gone. */
  readonly isKnown?: (stationId: number) => boolean
  /** Room for one more connection that waits, to be given back by what it returns; null: there is none. */
  readonly admit?: (address: string) => (() => void) | null
  /** How exact time-outs are. */
  readonly tickMs?: number
  /** How long answers may keep the event loop at a time; at least one is given. */
  readonly sliceMs?: number
}

interface Waiter {
  readonly awaited: LongPollRequest
  /** By `performance.now()`. */
  readonly deadlineMs: number
  readonly end: (why: LongPollEnd) => void
  readonly giveBack: () => void
  stage: 'waiting' | 'ended' | 'gone'
}

export function openLongPolls(options: LongPollsOptions): LongPolls {
  const { onChange, isKnown = () => true, admit = admitUpTo(10_000), tickMs = 100, sliceMs = 2 } = options
  const byStation = new Map<number, Set<Waiter>>()
  /** Those whose wait is over and who have not been told; in the order they are told. */
  const ended: { readonly waiter: Waiter; readonly why: LongPollEnd }[] = []
  let size = 0
  let timer: NodeJS.Timeout | null = null
  let isTelling = false
  let isReleased = false

  function forget(waiter: Waiter): void {
    if (waiter.stage === 'gone') return
    waiter.stage = 'gone'
    size -= 1
    waiter.giveBack()
    const { stationId } = waiter.awaited
    const others = byStation.get(stationId)
    others?.delete(waiter)
    if (others?.size === 0) byStation.delete(stationId)
    if (size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }

  function tellSoon(): void {
    if (isTelling || ended.length === 0) return
    isTelling = true
    setImmediate(tell)
  }

  function tell(): void {
    isTelling = false
    const until = performance.now() + sliceMs
    let told = 0
    for (const { waiter, why } of ended) {
      told++
      if (waiter.stage === 'gone') continue
      forget(waiter)
      waiter.end(why)
      if (performance.now() >= until) break
    }
    ended.splice(0, told)
    tellSoon()
  }

  /** Ends the waits of these for which `why` gives a reason. */
  function endThose(waiters: Iterable<Waiter>, why: (waiter: Waiter) => LongPollEnd | null): void {
    for (const waiter of waiters) {
      const reason = waiter.stage === 'waiting' ? why(waiter) : null
      if (reason === null) continue
      waiter.stage = 'ended'
      ended.push({ waiter, why: reason })
    }
    tellSoon()
  }

  function endLate(): void {
    const nowMs = performance.now()
    for (const [stationId, waiters] of byStation) {
      const isGone = !isKnown(stationId)
      endThose(waiters, ({ deadlineMs }) => (isGone || deadlineMs <= nowMs ? 'timeout' : null))
    }
  }

  onChange(state => {
    const waiters = byStation.get(state.stationId)
    if (waiters) endThose(waiters, ({ awaited }) => (isNewsTo(awaited, state) ? 'news' : null))
  })

  const isAnybodyThere = () => size > 0

  return {
    size: () => size,
    wait: (awaited, end) => {
      if (isReleased) return 'released'
      const giveBack = admit(awaited.address)
      if (giveBack === null) return 'full'
      const waiter: Waiter = {
        awaited,
        deadlineMs: performance.now() + awaited.waitMs,
        end,
        giveBack,
        stage: 'waiting'
      }
      const others = byStation.get(awaited.stationId) ?? new Set()
      byStation.set(awaited.stationId, others.add(waiter))
      size += 1
      timer ??= setInterval(endLate, tickMs)
      return () => forget(waiter)
    },
    release: async () => {
      isReleased = true
      for (const waiters of byStation.values()) endThose(waiters, () => 'release')
      while (isAnybodyThere()) await new Promise(resolve => setImmediate(resolve))
    }
  }
}

/** Whether a state is what a long poll waits for. */
export function isNewsTo(
  { since, epoch }: Pick<LongPollRequest, 'since' | 'epoch'>,
  state: StationState
): boolean {
  return state.offset > since || epoch !== state.epoch
}

/** Room for so many, whoever they are. */
export function admitUpTo(limit: number): () => (() => void) | null {
  let taken = 0
  const giveBack = () => void (taken -= 1)
  return () => {
    if (taken >= limit) return null
    taken += 1
    return giveBack
  }
}
