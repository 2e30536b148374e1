import { addServerTime } from './clock.ts'
import type { FollowState, ConnectionPhase } from './follow-state.ts'
import type { Transport } from './interface.ts'
import { isPublishedData, mergeJsonPatch, type ServerMessage, type PublicationMessage } from './message.ts'

export type FollowInput =
  | { readonly type: 'message'; readonly connection: number; readonly message: ServerMessage }
  | ({ readonly type: 'ended'; readonly connection: number } & ConnectionEnd)
  | { readonly type: 'timer' }
  /** The page became visible, or the network is back. */
  | { readonly type: 'woken' }
  /** The machine slept, or its clock was set forward. */
  | { readonly type: 'jumped'; readonly byMs: number }
  /** There is a new listen token. Open streams have the old one; polls use the new one by themselves. */
  | { readonly type: 'renewed' }
  /** The network was lost. */
  | { readonly type: 'offline' }
  | { readonly type: 'closed' }

/** How a connection ended. `code` is that of the WebSocket or of the disconnect frame. */
export interface ConnectionEnd {
  readonly code?: number
  readonly retryAfterMs?: number
}

/** What to do next. A connection that is opened replaces the previous one, which is closed first. */
export type ConnectionEffect =
  | { readonly type: 'open'; readonly connection: number; readonly transport: Transport }
  | { readonly type: 'close' }

export interface FollowStep {
  readonly state: FollowState
  readonly effect: ConnectionEffect | null
}

const openTimeoutMs = 8_000
/** The server sends a ping every 25 seconds, which confirms the state. */
const confirmationTimeoutMs = 35_000
/** Timeout for any message, if the server cannot confirm the state or the station does not exist. */
const pingTimeoutMs = 60_000
/** A connection that ends earlier counts as a failure. */
const stableAfterMs = 5_000
const maxBackoffMs = 15_000
const shutdownBackoffMs = 5_000

/** When `applyFollowInput` has something to do if nothing else happens; Infinity if never. */
export function followTimerDueAtMs({ phase, isMissing, isServerStale, confirmedAtMs }: FollowState): number {
  if (phase.type === 'ended') return Infinity
  if (phase.type === 'waiting') return phase.untilMs
  if (phase.type === 'opening') return phase.sinceMs + openTimeoutMs
  return isMissing || isServerStale
    ? phase.receivedAtMs + pingTimeoutMs
    : Math.max(confirmedAtMs ?? 0, phase.sinceMs) + confirmationTimeoutMs
}

/**
 * One step of following a station. `random` is from 0 to 1 and spreads the reconnects of clients that lost
 * the same server. Returns the same state object if nothing changes.
 */
export function applyFollowInput(
  state: FollowState,
  input: FollowInput,
  atMs: number,
  random: number
): FollowStep {
  const { phase } = state
  const isCurrent = 'connection' in input && input.connection === state.connection && phase.type !== 'waiting'
  if (phase.type === 'ended' || ('connection' in input && !isCurrent)) return stay(state)
  const isDue = atMs >= followTimerDueAtMs(state)
  switch (input.type) {
    case 'message':
      return handleMessage(state, input.message, atMs, random)
    case 'ended':
      return disconnect(state, atMs, random, input)
    case 'timer':
      if (!isDue) return stay(state)
      return phase.type === 'waiting' ? open(state, phase.order, atMs) : disconnect(state, atMs, random)
    case 'woken':
      if (phase.type === 'waiting') return open(state, phase.order, atMs)
      // A connection seldom survives the sleep of a machine, and shows no station that needs a new session.
      return (isDue || state.isMissing) && phase.type === 'open'
        ? open(state, state.transports, atMs)
        : stay(state)
    case 'jumped': {
      // Exact if the local clock was set. If the machine slept, a lower bound until the next server time.
      const aheadMs = state.clock.aheadMs === null ? null : state.clock.aheadMs - input.byMs
      const jumped = { ...state, clock: { ...state.clock, aheadMs } }
      return open(jumped, phase.type === 'waiting' ? phase.order : state.transports, atMs)
    }
    case 'renewed':
      return phase.type === 'open' && phase.transport !== 'poll'
        ? open(state, reorder(state.transports, phase.transport, true), atMs)
        : stay(state)
    case 'offline':
      return phase.type === 'open' ? disconnect(state, atMs, random) : stay(state)
    case 'closed':
      return end(state, 'closed')
    default:
      return input satisfies never
  }
}

const stay = (state: FollowState): FollowStep => ({ state, effect: null })

const end = (state: FollowState, reason: 'closed' | 'refused'): FollowStep => ({
  state: { ...state, phase: { type: 'ended', reason } },
  effect: { type: 'close' }
})

/** Opens the first of these transports. */
function open(state: FollowState, [transport, ...next]: readonly Transport[], atMs: number): FollowStep {
  if (transport === undefined) return stay(state)
  const connection = state.connection + 1
  const phase: ConnectionPhase = { type: 'opening', transport, next, sinceMs: atMs }
  const disconnectedAtMs = state.disconnectedAtMs ?? atMs
  return {
    state: { ...state, connection, phase, base: null, disconnectedAtMs },
    effect: { type: 'open', connection, transport }
  }
}

/** Drops the connection and tries the next transport, or waits before it starts over. */
function disconnect(
  state: FollowState,
  atMs: number,
  random: number,
  { code = 0, retryAfterMs = 0 }: ConnectionEnd = {}
): FollowStep {
  const { phase, transports } = state
  if (phase.type === 'waiting' || phase.type === 'ended') return stay(state)
  const isOpening = phase.type === 'opening'
  if (isOpening && phase.next.length > 0) return open(state, phase.next, atMs)
  const isShutdown = code === 3001 || code === 1001
  const wasStable = isShutdown || (!isOpening && atMs - phase.sinceMs >= stableAfterMs)
  const failures = wasStable ? 0 : state.failures + 1
  const backoffMs = isShutdown ? shutdownBackoffMs : Math.min(maxBackoffMs, 1_000 * 2 ** failures)
  const isPreferred = isShutdown || (wasStable && atMs < followTimerDueAtMs(state))
  return {
    state: {
      ...state,
      failures,
      base: null,
      disconnectedAtMs: state.disconnectedAtMs ?? atMs,
      phase: {
        type: 'waiting',
        untilMs: atMs + Math.max(retryAfterMs, random * backoffMs),
        order: isOpening ? transports : reorder(transports, phase.transport, isPreferred)
      }
    },
    effect: { type: 'close' }
  }
}

/** Moves a stable transport to the front and an unstable one to the end. Polling never moves. */
function reorder(transports: readonly Transport[], transport: Transport, isPreferred: boolean) {
  if (transport === 'poll') return transports
  const others = transports.filter(each => each !== transport)
  return isPreferred ? [transport, ...others] : [...others, transport]
}

/** Handles a message of the current connection. */
function handleMessage(state: FollowState, message: ServerMessage, atMs: number, random: number): FollowStep {
  switch (message.type) {
    case 'time':
      return stay(withTime(state, message.timeMs, atMs, false))
    case 'ping':
      return stay(state.phase.type === 'open' ? withConfirmation(asOpen(state, atMs), atMs) : state)
    case 'connect': {
      const { epoch, upTo, timeMs } = message
      const { document, confirmedAtMs } = state
      const isUpToDate = document?.epoch === epoch && document.offset === upTo
      return stay({
        ...withTime(asConnected(state, atMs), timeMs, atMs, true),
        epoch,
        confirmedAtMs: isUpToDate ? atMs : confirmedAtMs
      })
    }
    case 'missing': {
      const connected = withTime(asConnected(state, atMs), message.timeMs, atMs, true)
      return stay({ ...connected, isMissing: true, document: null, epoch: '', confirmedAtMs: null })
    }
    case 'unchanged':
      return stay({ ...asConnected(state, atMs), base: state.base, confirmedAtMs: atMs })
    case 'publication':
      return applyPublication(state, message, atMs) ?? disconnect(state, atMs, random)
    case 'disconnect': {
      const isFinal = message.code >= 3500 && message.code < 4000
      return isFinal ? end(state, 'refused') : disconnect(state, atMs, random, message)
    }
    case 'malformed':
      return disconnect(state, atMs, random)
    default:
      return message satisfies never
  }
}

/** The connection is open and something was received. */
function asOpen(state: FollowState, atMs: number): FollowState {
  const { phase } = state
  if (phase.type === 'waiting' || phase.type === 'ended') return state
  const { transport } = phase
  const sinceMs = phase.type === 'open' ? phase.sinceMs : atMs
  return { ...state, phase: { type: 'open', transport, sinceMs, receivedAtMs: atMs } }
}

/** With rare heartbeats the server publishes at once that a state is stale. So a ping confirms the state. */
const withConfirmation = (state: FollowState, atMs: number): FollowState =>
  state.confirmedAtMs === null || state.isServerStale || state.disconnectedAtMs !== null
    ? state
    : { ...state, confirmedAtMs: atMs }

/** The connection delivers state. */
const asConnected = (state: FollowState, atMs: number): FollowState => ({
  ...asOpen(state, atMs),
  disconnectedAtMs: null,
  isMissing: false,
  isServerStale: false,
  base: null
})

/** Null if the publication is malformed, or is a delta that does not apply. */
function applyPublication(state: FollowState, message: PublicationMessage, atMs: number): FollowStep | null {
  const { isDelta, offset } = message
  const epoch = message.epoch ?? state.epoch
  if (isDelta && state.base === null) return null
  const data = isDelta ? mergeJsonPatch(state.base, message.data) : message.data
  if (!isPublishedData(data)) return null
  const connected: FollowState = { ...asConnected(state, atMs), epoch, base: data }
  const { document } = state
  // A server may be behind the one that was connected before.
  if (document?.epoch === epoch && document.offset > offset) return stay(connected)
  const { np, current_time: time, stale_since: staleSince } = data
  const timed = time === undefined ? connected : withTime(connected, time * 1_000, atMs, false)
  const isServerStale = staleSince !== undefined
  const confirmedAtMs = isServerStale ? Math.min(atMs, staleSince * 1_000 - (timed.clock.aheadMs ?? 0)) : atMs
  return stay({ ...timed, document: { np, epoch, offset }, confirmedAtMs, isServerStale })
}

const withTime = (state: FollowState, timeMs: number | null, atMs: number, isExact: boolean): FollowState =>
  timeMs === null ? state : { ...state, clock: addServerTime(state.clock, timeMs, atMs, isExact) }
