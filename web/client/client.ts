import { type Means, overEvents, overWebSocket, type Way, type Wish } from './connection.ts'
import { type Course, startCourse } from './course.ts'
import type {
  followStation as Declared,
  Fetch,
  Reason,
  Snapshot,
  Status,
  Transport,
  WebSocketClass
} from './interface.ts'
import { openListeners } from './listeners.ts'
import { dueAtMs, type Effect } from './moves.ts'
import { overPolls } from './over-polls.ts'
import { progressAt } from './progress.ts'
import { type Input, step } from './step.ts'

const ways: Readonly<Record<Transport, Way>> = { websocket: overWebSocket, sse: overEvents, poll: overPolls }

/** What there may be around us: a page, or Node. */
interface Surroundings {
  readonly WebSocket?: WebSocketClass
  readonly fetch?: Fetch
  readonly location?: { readonly origin: string }
  readonly addEventListener?: (type: string, listener: () => void) => void
  readonly removeEventListener?: (type: string, listener: () => void) => void
}

/** Timers take no more. */
const longestTimerMs = 2 ** 31 - 1

/** See `interface.ts`. */
export const followStation: typeof Declared = options => {
  const around: Surroundings = globalThis
  const { station, apiKey = '', transports = ['websocket', 'sse', 'poll'], known } = options
  const server = new URL(options.server ?? around.location?.origin ?? '')
  if (!server.pathname.endsWith('/')) server.pathname += '/'
  const means: Means = {
    WebSocket: options.WebSocket ?? around.WebSocket,
    fetch: options.fetch ?? around.fetch?.bind(globalThis)
  }
  const now = openLocalTime(byMs => take({ type: 'jumped', byMs }))
  const listeners = openListeners()
  const staleAfterMs = options.staleAfterMs ?? defaultStaleAfterMs
  let course: Course = startCourse(transports, now(), { staleAfterMs, known })
  let snapshot = snapshotOf(course, now())
  let close: () => void = nothing
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Takes a step for each input, and shows where that led to. */
  function take(...inputs: readonly Input[]): void {
    const atMs = now()
    for (const input of inputs) {
      const next = step(course, input, atMs, Math.random())
      course = next.course
      for (const effect of next.effects) perform(effect)
    }
    show(atMs)
  }

  function perform(effect: Effect): void {
    close()
    close = nothing
    if (effect.type === 'close') return
    const { connection, way } = effect
    const wish: Wish = {
      server,
      station: String(station),
      apiKey,
      position: () => course.document,
      onMessages: messages =>
        take(...messages.map(message => ({ type: 'message', connection, message }) as const)),
      onEnd: end => take({ type: 'ended', connection, ...end })
    }
    close = ways[way](wish, means)
  }

  function show(atMs: number): void {
    const before = snapshot
    snapshot = snapshotOf(course, atMs)
    clearTimeout(timer)
    const wakeMs = Math.min(dueAtMs(course), nextTurnMs(course, atMs)) - atMs
    if (wakeMs < Infinity)
      timer = setTimeout(() => take({ type: 'timer' }), Math.min(Math.max(wakeMs, 0) + 1, longestTimerMs))
    listeners.compare(before, snapshot)
  }

  const wake = () => take({ type: 'woken' })
  const wakers = ['online', 'pageshow', 'visibilitychange']
  for (const type of wakers) around.addEventListener?.(type, wake)
  const cut = () => take({ type: 'cut' })
  around.addEventListener?.('offline', cut)
  // Whoever called may listen first.
  queueMicrotask(() => take({ type: 'timer' }))

  const serverTimeMs = () => now() + (course.clock.aheadMs ?? 0)
  return {
    get snapshot() {
      return snapshot
    },
    on: (name, listener) => listeners.on(name, listener),
    progress: () => progressAt(snapshot.np, serverTimeMs()),
    serverTimeMs,
    wake,
    close: () => {
      for (const type of wakers) around.removeEventListener?.(type, wake)
      around.removeEventListener?.('offline', cut)
      take({ type: 'closed' })
    }
  }
}

const nothing = () => {}

function snapshotOf(course: Course, atMs: number): Snapshot {
  const { document, newsAtMs, phase } = course
  return {
    ...statusAt(course, atMs),
    via: phase.type === 'open' ? phase.way : null,
    np: document?.np ?? null,
    trueAtMs: newsAtMs === null ? null : Date.now() - (atMs - newsAtMs)
  }
}

/** What is less is rounding, or a clock that is being corrected: it must not add up. */
const leastJumpMs = 500

/**
 * A clock that only goes forward, in milliseconds from `Date.now()` on. It goes on while the machine sleeps,
 * as `performance.now()` does not, and does not go back when the clock is set, as `Date.now()` does. When the
 * machine slept or its clock was set forward, which look the same, `onJump` is called before the first time
 * that is later by that.
 */
export function openLocalTime(
  onJump: (byMs: number) => void,
  date: () => number = () => Date.now(),
  steady: () => number = () => performance.now()
): () => number {
  let lead = date() - steady()
  let base = lead
  return () => {
    const steadyMs = steady()
    const nextLead = date() - steadyMs
    const jumpMs = nextLead - lead
    lead = nextLead
    if (jumpMs >= leastJumpMs) {
      base += jumpMs
      onJump(jumpMs)
    }
    return base + steadyMs
  }
}

/** News come every 15 seconds at least. */
export const defaultStaleAfterMs = 20_000
/** Without a connection a document is believed in for so long. */
const aloneMs = 5_000
/** A first answer may take so long. */
const firstAnswerMs = 10_000
/** What has not been true for so long is not worth showing. */
const tooOldMs = 300_000

/** What may be said of what is known, at `atMs`. */
export function statusAt(
  course: Course,
  atMs: number
): { readonly status: Status; readonly reason: Reason | null } {
  const { phase, document, isMissing, newsAtMs } = course
  if (phase.type === 'over') return { status: 'offline', reason: phase.reason }
  if (isMissing) return { status: 'offline', reason: 'unknown' }
  const [staleAtMs, oldAtMs] = turns(course)
  if (document === null || newsAtMs === null) {
    const isLost = course.failures > 0 || atMs >= staleAtMs
    return isLost ? { status: 'offline', reason: 'unreachable' } : { status: 'connecting', reason: null }
  }
  if (atMs >= oldAtMs) return { status: 'offline', reason: 'unreachable' }
  return { status: atMs >= staleAtMs ? 'stale' : 'live', reason: null }
}

/** When the status changes by itself: the first time, and the second. */
function turns(course: Course): [number, number] {
  const { newsAtMs, aloneSinceMs, isDoubtful, staleAfterMs, startedAtMs } = course
  if (newsAtMs === null) return [startedAtMs + firstAnswerMs, Infinity]
  const silentAtMs = newsAtMs + (isDoubtful ? 0 : staleAfterMs)
  return [
    aloneSinceMs === null ? silentAtMs : Math.min(silentAtMs, aloneSinceMs + aloneMs),
    newsAtMs + Math.max(tooOldMs, staleAfterMs)
  ]
}

/** The next time at which the status changes if nothing happens; Infinity if it does not. */
export function nextTurnMs(course: Course, atMs: number): number {
  if (course.phase.type === 'over' || course.isMissing) return Infinity
  return Math.min(...turns(course).filter(turnMs => turnMs > atMs))
}
