import type { Means, Way, Wish } from './connection.ts'
import { type Course, startCourse } from './course.ts'
import type { Fetch, followStation as Declared, Snapshot, Transport, WebSocketClass } from './interface.ts'
import { openListeners } from './listeners.ts'
import { openLocalTime } from './local-time.ts'
import { dueAtMs, type Effect } from './moves.ts'
import { overEvents } from './over-events.ts'
import { overPolls } from './over-polls.ts'
import { overWebSocket } from './over-websocket.ts'
import { progressAt } from './progress.ts'
import { defaultStaleAfterMs, nextTurnMs, statusAt } from './status.ts'
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
