/**
 * How far the server's clock is ahead of ours, in milliseconds. A time that arrives was true when it was sent, so it is
 * a lower bound; the highest is the nearest to the truth.
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
 * Takes a time of the server, which arrived at `localMs`. An exact one (in milliseconds) is believed as it is; one in whole
 * seconds is up to a second low, so that it only counts where it says more. Two in a row that are far too low mean
 * that our own clock was set, or goes too fast: then the middle of the second is nearest.
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
 * After our time jumped forward. If our clock was set, the server's is ahead by that much less; if the machine slept, this
 * is too low until the server tells the time: a lower bound in both cases.
 */
export function afterJump({ aheadMs, isDoubted }: Clock, byMs: number): Clock {
  return { aheadMs: aheadMs === null ? null : aheadMs - byMs, isDoubted }
}
