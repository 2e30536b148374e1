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

/**
 * How far the server's clock is ahead of ours, in milliseconds. A time that arrives was true when it was
 * sent, so it is a lower bound; the highest is the nearest to the truth.
 */
export interface Clock {
  readonly aheadMs: number | null
  /** Whether the last bound was far below the highest. */
  readonly isDoubted: boolean
}

export const noClock: Clock = { aheadMs: null, isDoubted: false }

/** A second and a slow network make no more than this. */
const doubtMs = 2_000

/**
 * Takes a time of the server, which arrived at `localMs`. An exact one (in milliseconds) is believed as it
 * is; one in whole seconds is up to a second low, so that it only counts where it says more. Two in a row
 * that are far too low mean that our own clock was set, or goes too fast: then the middle of the second is
 * nearest.
 */
export function noteTime(
  { aheadMs, isDoubted }: Clock,
  serverMs: number,
  localMs: number,
  isExact: boolean
): Clock {
  const bound = serverMs - localMs
  if (aheadMs === null || isExact || bound >= aheadMs) return { aheadMs: bound, isDoubted: false }
  if (bound > aheadMs - doubtMs) return { aheadMs, isDoubted: false }
  return isDoubted ? { aheadMs: bound + 500, isDoubted: false } : { aheadMs, isDoubted: true }
}

/**
 * After our time jumped forward. If our clock was set, the server's is ahead by that much less; if the
 * machine slept, this is too low until the server tells the time: a lower bound in both cases.
 */
export function afterJump({ aheadMs, isDoubted }: Clock, byMs: number): Clock {
  return { aheadMs: aheadMs === null ? null : aheadMs - byMs, isDoubted }
}
