import type { ListenGrant } from '../model/station/listen-grant.ts'
import type { Trigger } from '../model/station/triggers.ts'
import { disconnectsMetric, type TransportName } from '../platform/metrics/push.ts'
import type { LiveStation } from './feed/live-station.ts'
import { type EncodedFrame, encodeFrame, renderDisconnectFrame } from './frames.ts'
import { channelBurst, type DisconnectReason, disconnectReasons } from './protocol.ts'

/** The owner of the connections from an address: one object for all of them. */
export interface ConnectionOwner {
  readonly name: string
  connections: number
}

/** A connection as the session uses it; each transport implements it. */
export interface LiveTransport {
  /** Its kind, for metrics. */
  readonly name: TransportName
  /** Sends or buffers one frame. Returns false if unsent bytes exist now. A no-op on a closed connection. */
  readonly send: (frame: EncodedFrame) => boolean
  /** Sends a ping frame, if the transport has them. The connection closes if the client does not answer. */
  readonly ping: () => void
  /** Number of unsent bytes, as far as it is known. */
  readonly waitingBytes: () => number
  /**
   * Sends a last frame unless it is null, and closes after the buffered frames were sent, if the transport allows it.
   * Not in a cork: when that of a WebSocket ends, uWebSockets.js does not close the connection.
   */
  readonly close: (code: number, reason: string, last: EncodedFrame | null) => void
  /** Sends the frames of `action` in as few packets as possible. */
  readonly cork: (action: () => void) => void
}

/** One client, from connecting to its end. Members that few sessions need are null until then. */
export interface LiveSession {
  readonly transport: LiveTransport
  /** Its address, for limits. */
  readonly owner: ConnectionOwner
  /** Delay of its publications, in milliseconds. */
  readonly delayMs: number
  /** Its API key or listen token; empty if it sent none. */
  key: string
  /** What its key grants if that is a valid listen token. */
  grant: ListenGrant | null
  /** `waiting`: for the subscribe message. `authorizing`: the key is checked. */
  phase: 'waiting' | 'authorizing' | 'connected' | 'ended'
  /** The timeout of the first message; after it, when the next ping is due. By `performance.now()`. */
  dueAtMs: number
  subscriptions: readonly Subscription[]
  /** The stations that it was shown; see `followers.ts`. */
  follows: readonly number[]
  /** False from the first unsent byte until none is left. */
  isClear: boolean
  /** Subscriptions whose newest state is sent when the client reads again. */
  heldBack: Set<Subscription> | null
  /** Since when it is behind, by `performance.now()`; 0 if it is not. */
  slowSinceMs: number
  /** Messages that were not handled yet, in order. */
  inbox: string[] | null
  /** How many channels it may name now; refilled every second. */
  credit: number
}

/** What a session follows before its first subscription and after its end. */
export const noFollowedStations: readonly number[] = []

/** A client that connects. */
export type NewClient = Readonly<Pick<LiveSession, 'key' | 'delayMs' | 'owner'>>

export interface Subscription {
  readonly session: LiveSession
  readonly channel: Channel
  /** Deliveries announced before it joined are older than its snapshot. */
  readonly joinedAt: number
  /** The state the client has; `epoch` is empty before the first. Nothing older is sent. */
  epoch: string
  offset: number
  /** The state that the next delta refers to; null if the client has no known document. */
  base: LiveStation | null
  /** Whether it asked for deltas. */
  readonly isDelta: boolean
  /** Triggers of publications that were held back. */
  missedTriggers: Set<Trigger> | null
}

/**
 * The subscribers of one name with the same delay and heartbeat interval. Exists while it has subscribers.
 */
export interface Channel {
  readonly name: string
  readonly delayMs: number
  /** The heartbeat interval that its subscribers requested; 0: the usual one. */
  readonly heartbeatMs: number
  /** Whether its state was stale at the last check. Not updated with the usual heartbeat interval. */
  isStale: boolean
  readonly subscribers: Set<Subscription>
  /** When its state is repeated if nothing changes, by `performance.now()`. */
  dueAtMs: number
  /** The revision of its newest publication; 0 before the first. */
  revision: number
  /** With a delay: the state that its subscribers are shown. */
  shown: LiveStation | null
  /** Changes to be shown later, in order. */
  readonly postponed: {
    readonly station: LiveStation
    readonly triggers: ReadonlySet<Trigger>
    readonly dueAtMs: number
  }[]
  /** The newest publication without triggers; all subscribers within a second get the same bytes. */
  repeated: {
    readonly station: LiveStation
    readonly nowSeconds: number
    readonly staleSince: number | null
    readonly frame: EncodedFrame
  } | null
}

export function openLiveSession(transport: LiveTransport, client: NewClient, dueAtMs: number): LiveSession {
  const { key, delayMs, owner } = client
  return {
    transport,
    owner,
    delayMs,
    key,
    grant: null,
    phase: 'waiting',
    dueAtMs,
    subscriptions: [],
    follows: noFollowedStations,
    isClear: true,
    heldBack: null,
    slowSinceMs: 0,
    inbox: null,
    credit: channelBurst
  }
}

/** Sends the reason and closes; without a disconnect frame if a message was unparseable or too long. */
export function endLiveSession(session: LiveSession, ending: DisconnectReason): void {
  if (session.phase === 'ended') return
  session.phase = 'ended'
  const { transport } = session
  const { code, reason } = disconnectReasons[ending]
  disconnectsMetric[code]++
  const isUnread = ending === 'badRequest' || ending === 'tooBig'
  const last = isUnread ? null : encodeFrame(renderDisconnectFrame(ending))
  // Generic clients reconnect after 1001 ("going away").
  transport.close(ending === 'shutdown' ? 1001 : code, reason, last)
}
