import { type Clock, noClock } from './clock.ts'
import type { Known, NowPlaying, Reason, Transport } from './interface.ts'

/** How things stand with following one station. Times are those of `openLocalTime`. */
export interface Course {
  /** The ways to try, best first. */
  readonly ways: readonly Transport[]
  readonly staleAfterMs: number
  readonly startedAtMs: number
  /** Counts connections: what comes from another than this one is late. */
  readonly connection: number
  readonly phase: Phase
  /** How often in a row no way led anywhere, or none that held. */
  readonly failures: number
  /** The newest document, and where it stands; null before the first one. */
  readonly document: Document | null
  /** What the next patch is for: the last publication of this connection; null where there was none. */
  readonly base: unknown
  /** The epoch this connection speaks of. */
  readonly epoch: string
  /** The server says that there is no such station. */
  readonly isMissing: boolean
  /** When the document was last known to be true; null if it never was. */
  readonly newsAtMs: number | null
  /** The server is there, but does not know by itself. */
  readonly isDoubtful: boolean
  /** Since when nobody is there to tell news; null while somebody is. */
  readonly aloneSinceMs: number | null
  readonly clock: Clock
}

export interface Document {
  readonly np: NowPlaying
  readonly epoch: string
  readonly offset: number
}

/** `left`: what is tried next where this way is closed. `heardAtMs`: when the server last said anything. */
export type Phase =
  | { readonly type: 'waiting'; readonly untilMs: number; readonly order: readonly Transport[] }
  | {
      readonly type: 'opening'
      readonly way: Transport
      readonly left: readonly Transport[]
      readonly sinceMs: number
    }
  | {
      readonly type: 'open'
      readonly way: Transport
      readonly sinceMs: number
      readonly heardAtMs: number
    }
  | { readonly type: 'over'; readonly reason: Extract<Reason, 'refused' | 'closed'> }

/** The beginning, at `atMs`: nothing is tried yet, but is due at once. */
export function startCourse(
  ways: readonly Transport[],
  atMs: number,
  { staleAfterMs, known }: { readonly staleAfterMs: number; readonly known?: Known | undefined }
): Course {
  return {
    ways,
    staleAfterMs,
    startedAtMs: atMs,
    connection: 0,
    phase: { type: 'waiting', untilMs: atMs, order: ways },
    failures: 0,
    document: known ?? null,
    base: null,
    epoch: '',
    isMissing: false,
    newsAtMs: known ? atMs : null,
    isDoubtful: false,
    aloneSinceMs: atMs,
    clock: known ? { aheadMs: known.timeMs - atMs, isDoubted: false } : noClock
  }
}
