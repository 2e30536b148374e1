import { openLocalClock, progressAt } from './clock.ts'
import { type StartConnection, openEventStream, openWebSocket } from './connection.ts'
import { openEmitter } from './emitter.ts'
import {
  defaultStaleAfterMs,
  type FollowState,
  nextStatusChangeMs,
  initialFollowState,
  followStatusAt
} from './follow-state.ts'
import {
  followTimerDueAtMs,
  type ConnectionEffect,
  type FollowInput,
  applyFollowInput
} from './follow-step.ts'
import type { followStation as Declared, Fetch, Snapshot, Transport, WebSocketClass } from './interface.ts'
import type { ServerMessage } from './message.ts'
import { openPolling } from './polling.ts'
import { openTimeline } from './timeline.ts'
import { openTokenRenewal } from './tokens.ts'

const openers: Readonly<Record<Transport, StartConnection>> = {
  websocket: openWebSocket,
  sse: openEventStream,
  poll: openPolling
}

/** The globals of a browser or of Node that are used if they exist. */
interface Globals {
  readonly WebSocket?: WebSocketClass
  readonly fetch?: Fetch
  readonly location?: { readonly origin: string }
  readonly addEventListener?: (type: string, listener: () => void) => void
  readonly removeEventListener?: (type: string, listener: () => void) => void
}

/** The longest delay that timers accept. */
const maxTimerMs = 2 ** 31 - 1

/** The code with which the server ends a connection whose listen token has expired or was revoked. */
const tokenExpired = 3005

/** See `interface.ts`. */
export const followStation: typeof Declared = options => {
  const globals: Globals = globalThis
  const { station, apiKey = '', token = '', transports = ['websocket', 'sse', 'poll'], known } = options
  const { WebSocket = globals.WebSocket, fetch = globals.fetch?.bind(globalThis) } = options
  const { staleAfterMs = defaultStaleAfterMs } = options
  const server = new URL(options.server ?? globals.location?.origin ?? '')
  if (!server.pathname.endsWith('/')) server.pathname += '/'
  const now = openLocalClock(byMs => take({ type: 'jumped', byMs }))
  const listeners = openEmitter()
  let state = initialFollowState(transports, now(), { staleAfterMs, known })
  const timeline = options.delay === undefined ? null : openTimeline(options.delay)
  let snapshot = createSnapshot(state, now())
  const tokens = typeof token === 'function' ? openTokenRenewal(token, () => take({ type: 'renewed' })) : null
  let close: (() => void) | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Takes a step for each input and updates the snapshot. */
  function take(...inputs: readonly FollowInput[]): void {
    const atMs = now()
    for (const input of inputs) {
      const next = applyFollowInput(state, input, atMs, Math.random())
      state = next.state
      if (next.effect !== null) perform(next.effect)
    }
    update(atMs)
  }

  function perform(effect: ConnectionEffect): void {
    close?.()
    close = null
    if (effect.type === 'close') return
    const { connection, transport } = effect
    const start = () =>
      openers[transport]({
        server,
        station: String(station),
        get apiKey() {
          return tokens?.current() ?? (typeof token === 'string' && token !== '' ? token : apiKey)
        },
        WebSocket,
        fetch,
        position: () => state.document,
        onMessages: messages => {
          if (messages.some(isRefusal)) tokens?.discard()
          take(...messages.map(message => ({ type: 'message', connection, message }) as const))
        },
        onEnd: end => take({ type: 'ended', connection, ...end })
      })
    close =
      tokens === null ? start() : startAfter(tokens.ready(), start, () => take({ type: 'ended', connection }))
  }

  function update(atMs: number): void {
    const before = snapshot
    snapshot = createSnapshot(state, atMs)
    clearTimeout(timer)
    const isEnded = state.phase.type === 'ended'
    const checkAtMs = timeline === null || isEnded ? Infinity : timeline.nextCheckMs(atMs)
    const delayMs = Math.min(followTimerDueAtMs(state), nextStatusChangeMs(state, atMs), checkAtMs) - atMs
    if (delayMs < Infinity)
      timer = setTimeout(() => take({ type: 'timer' }), Math.min(Math.max(delayMs, 0) + 1, maxTimerMs))
    listeners.emitChanges(before, snapshot)
  }

  function createSnapshot(from: FollowState, atMs: number): Snapshot {
    const { document, confirmedAtMs, phase, clock } = from
    const times = { atMs, aheadMs: clock.aheadMs ?? 0 }
    return {
      ...followStatusAt(from, atMs),
      via: phase.type === 'open' ? phase.transport : null,
      np: timeline === null ? (document?.np ?? null) : timeline.show(document, times),
      trueAtMs: confirmedAtMs === null ? null : Date.now() - (atMs - confirmedAtMs)
    }
  }

  const wake = () => take({ type: 'woken' })
  const globalListeners = [
    ['online', wake],
    ['pageshow', wake],
    ['visibilitychange', wake],
    ['offline', () => take({ type: 'offline' })]
  ] as const
  for (const [type, listener] of globalListeners) globals.addEventListener?.(type, listener)
  // The caller can add listeners first.
  queueMicrotask(() => take({ type: 'timer' }))

  const serverTimeMs = () => now() + (state.clock.aheadMs ?? 0)
  return {
    get snapshot() {
      return snapshot
    },
    on: (name, listener) => listeners.on(name, listener),
    progress: () => progressAt(snapshot.np, serverTimeMs() - (timeline?.delayMs ?? 0)),
    serverTimeMs,
    wake,
    close: () => {
      for (const [type, listener] of globalListeners) globals.removeEventListener?.(type, listener)
      tokens?.close()
      take({ type: 'closed' })
    }
  }
}

/** Whether a listen token may be the reason for a message: expired or revoked, or without access. */
const isRefusal = (message: ServerMessage) =>
  message.type === 'missing' || (message.type === 'disconnect' && message.code === tokenExpired)

/** Opens a connection once `ready` resolves. Returns a function to close it, or to not open it. */
function startAfter(ready: Promise<void>, start: () => () => void, onFailure: () => void): () => void {
  let isClosed = false
  let close: (() => void) | null = null
  ready.then(
    () => {
      if (!isClosed) close = start()
    },
    () => {
      if (!isClosed) onFailure()
    }
  )
  return () => {
    isClosed = true
    close?.()
  }
}
