import { randomUUID } from 'node:crypto'

import type { Trigger } from '../station/triggers.ts'
import { renderDisconnect } from './frames.ts'
import { type Ending, endings } from './protocol.ts'

/** What a session needs of the wire; every kind of connection brings one. */
export interface Transport {
  /** Sends one frame or queues it; nothing happens once the connection is closed. */
  readonly send: (frame: string | Uint8Array) => void
  /** Bytes that were sent and that the client has not taken yet. */
  readonly waitingBytes: () => number
  /** Closes after what is queued, as far as the wire lets it. */
  readonly close: (code: number, reason: string) => void
  /** Joins what is sent inside `action` into as few packets as possible. */
  readonly cork: (action: () => void) => void
}

/** One client, from its connection to its end. */
export interface Session {
  readonly id: string
  readonly transport: Transport
  /** The API key it showed; empty if none. */
  key: string
  /**
   * `waiting` for the subscribe message, `asking` whether the key may listen, `connected` after the connect
   * frame, `ended`.
   */
  phase: 'waiting' | 'asking' | 'connected' | 'ended'
  readonly openedAtMs: number
  pingAtMs: number
  readonly subscriptions: Map<string, Subscription>
  /** Subscriptions whose newest state is held back until the client reads on. */
  readonly held: Set<Subscription>
  /** Since when more waits for the client than it should. */
  slowSinceMs: number | null
  /** A message that came while the one before it was being answered: the newest wins. */
  nextMessage: string | null
}

export interface Subscription {
  readonly session: Session
  readonly channel: string
  /** Deliveries announced before it joined are older than its snapshot. */
  readonly joinedAt: number
  /** The epoch the client knows; empty before the first state. */
  epoch: string
  /** Triggers of publications that were held back. */
  readonly missed: Set<Trigger>
}

export function openSession(transport: Transport, key: string): Session {
  return {
    id: randomUUID(),
    transport,
    key,
    phase: 'waiting',
    openedAtMs: Date.now(),
    pingAtMs: Infinity,
    subscriptions: new Map(),
    held: new Set(),
    slowSinceMs: null,
    nextMessage: null
  }
}

/**
 * Tells the client why and closes. A message that cannot be read is closed without a disconnect frame, and so
 * is one that is too big.
 */
export function endSession(session: Session, ending: Ending): void {
  if (session.phase === 'ended') return
  session.phase = 'ended'
  const { transport } = session
  const { code, reason } = endings[ending]
  transport.cork(() => {
    if (ending !== 'badRequest' && ending !== 'tooBig') transport.send(renderDisconnect(ending))
    // "Going away" is the close code that generic clients come back from.
    transport.close(ending === 'shutdown' ? 1001 : code, reason)
  })
}
