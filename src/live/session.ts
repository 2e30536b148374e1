import type { Trigger } from '../station/triggers.ts'
import type { Owner } from './admission.ts'
import type { Channel } from './channels.ts'
import type { LiveStation } from './feed/live-station.ts'
import { type Frame, openFrame, renderDisconnect } from './frames.ts'
import { channelCredit, type DisconnectReason, disconnectReasons } from './protocol.ts'

/** A connection as the session uses it; each transport implements it. */
export interface Transport {
  /**
   * Sends one frame or queues it; false if something waits for the client now. Nothing happens once the
   * connection is closed.
   */
  readonly send: (frame: Frame) => boolean
  /** Bytes that were sent and that the client has not taken yet, as far as that is known. */
  readonly waitingBytes: () => number
  /** Closes after what is queued, as far as the wire lets it. */
  readonly close: (code: number, reason: string) => void
  /** Joins what is sent inside `action` into as few packets as possible. */
  readonly cork: (action: () => void) => void
}

/** A client that connects. */
export interface NewClient {
  /** The API key it showed; empty if none. */
  readonly key: string
  /** How long changes are held back for it, in milliseconds. */
  readonly delayMs: number
  /** Where it comes from. */
  readonly owner: Owner
}

/**
 * One client, from its connection to its end. There are very many: what most never need is null until it is
 * needed.
 */
export interface Session {
  readonly transport: Transport
  readonly owner: Owner
  readonly delayMs: number
  key: string
  /**
   * `waiting` for the subscribe message, `authorizing` while the key is checked, `connected` after the connect
   * frame, `ended`.
   */
  phase: 'waiting' | 'authorizing' | 'connected' | 'ended'
  /**
   * When it is too late for the first message, and after that when the next ping is due, by
   * `performance.now()`.
   */
  dueAtMs: number
  subscriptions: readonly Subscription[]
  /** False once something waited for the client, until nothing does. */
  isClear: boolean
  /** Subscriptions whose newest state is held back until the client reads on. */
  held: Set<Subscription> | null
  /** Since when more waits for the client than it should; by `performance.now()`; 0 if it does not. */
  slowSinceMs: number
  /** Messages that wait for their turn, in their order. */
  inbox: string[] | null
  /** How many channels it may name before that is too much; fills up again with time. */
  credit: number
}

export interface Subscription {
  readonly session: Session
  readonly channel: Channel
  /** Deliveries announced before it joined are older than its snapshot. */
  readonly joinedAt: number
  /** The state the client knows; no epoch before the first. Nothing older is sent to it. */
  epoch: string
  offset: number
  /**
   * What a difference would be to: the state whose document the client has. `null`: it has none we know of.
   */
  base: LiveStation | null
  /** Whether it wants differences. */
  readonly isDelta: boolean
  /** Triggers of publications that were held back. */
  missed: Set<Trigger> | null
}

export function openSession(
  transport: Transport,
  { key, delayMs, owner }: NewClient,
  dueAtMs: number
): Session {
  return {
    transport,
    owner,
    delayMs,
    key,
    phase: 'waiting',
    dueAtMs,
    subscriptions: [],
    isClear: true,
    held: null,
    slowSinceMs: 0,
    inbox: null,
    credit: channelCredit
  }
}

/** Sends a frame, and notes if the client did not take it at once. */
export function sendFrame(session: Session, frame: Frame): void {
  if (!session.transport.send(frame)) session.isClear = false
}

/**
 * Sends the reason and closes. A message that cannot be parsed or is too long closes the session without a
 * disconnect frame.
 */
export function endSession(session: Session, ending: DisconnectReason): void {
  if (session.phase === 'ended') return
  session.phase = 'ended'
  const { transport } = session
  const { code, reason } = disconnectReasons[ending]
  transport.cork(() => {
    if (ending !== 'badRequest' && ending !== 'tooBig') transport.send(openFrame(renderDisconnect(ending)))
    // "Going away" is the close code that generic clients come back from.
    transport.close(ending === 'shutdown' ? 1001 : code, reason)
  })
}
