import type { Target } from './websocket.ts'

/** A message to the receiver process. It replies to each command with one `ReceiverReport`. */
export type Command =
  /** Opens or closes clients until `count` are open. */
  | { readonly type: 'open'; readonly target: Target; readonly count: number }
  /** Resets the counters and samples. */
  | { readonly type: 'count'; readonly sampling: Sampling }
  | { readonly type: 'read' }
  /**
   * Waits until the server has stopped and listens again, resets the counters, and reconnects all clients at
   * once.
   */
  | { readonly type: 'reconnect'; readonly sampling: Sampling }

/** How frames are identified, and which clients sample them. */
export interface Sampling {
  /** The text before the number that identifies a frame. */
  readonly marker: string
  /** Whether the last occurrence of the marker in a frame counts, instead of the first. */
  readonly isLast: boolean
  /** Every nth client is sampled. */
  readonly every: number
  /** Whether the other clients stop reading, so that their frames stay in kernel buffers. */
  readonly pauseOthers?: boolean
}

/** What was received since the counters were reset. */
export interface ReceiverReport {
  /** Connected clients. */
  readonly clients: number
  /** Received publications: frames of at least 50 bytes. */
  readonly frames: number
  readonly bytes: number
  /** CPU seconds of the receiver process since its start. */
  readonly cpuSeconds: number
  /**
   * For each sampled client, the first arrival of each frame: client index, frame number, and time (`nowMs`).
   */
  readonly samples: readonly (readonly [client: number, frame: number, atMs: number])[]
  /** The time (`nowMs`) at which the server listened again after `reconnect`; 0 before. */
  readonly listeningAtMs: number
  /** Why the command failed; '' if it succeeded. */
  readonly error: string
}
