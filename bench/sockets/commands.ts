import type { Target } from './websocket.ts'

/** What the process of the receiver is told; it answers each command with one `Answer`. */
export type Command =
  /** Opens or closes clients until there are so many. */
  | { readonly type: 'open'; readonly target: Target; readonly count: number }
  /** Starts counting from zero. */
  | { readonly type: 'count'; readonly marks: Marks }
  | { readonly type: 'read' }
  /**
   * Waits for the server to go and to be back; then all clients open another connection at once, and count
   * anew.
   */
  | { readonly type: 'return'; readonly marks: Marks }

/**
 * The number after `marker` is the mark of a frame; every `every`th client looks for it, the last one if
 * `isLast`.
 */
export interface Marks {
  readonly marker: string
  readonly isLast: boolean
  readonly every: number
  /** Whether the other clients leave what comes to them in the kernel meanwhile. */
  readonly othersWait?: boolean
}

/** What was received since the count began. */
export interface Answer {
  /** Clients that are connected. */
  readonly clients: number
  /** Publications, which are the frames of 50 bytes and more. */
  readonly frames: number
  readonly bytes: number
  /** CPU seconds of the receiver since its start. */
  readonly cpuSeconds: number
  /**
   * Per client that looked: its index, mark and moment on the common clock (ms), at the first sight of each
   * mark.
   */
  readonly samples: readonly (readonly [client: number, mark: number, atMs: number])[]
  /** When the server listened again, for clients that `return`; 0 before. */
  readonly backAtMs: number
  /** What went wrong, '' if nothing. */
  readonly problem: string
}
