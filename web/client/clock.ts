import type { NowPlaying, Progress } from './interface.ts'

/** Smaller jumps are rounding or a gradual correction of the clock. They must not add up. */
const minJumpMs = 500

/**
 * A clock that never goes back, in milliseconds, starting at `Date.now()`. Unlike `performance.now()` it
 * advances while the machine sleeps. `onJump` is called when the machine slept or its clock was set forward,
 * which look the same, before the first time that includes the jump is returned.
 */
export function openLocalClock(
  onJump: (byMs: number) => void,
  date: () => number = () => Date.now(),
  steady: () => number = () => performance.now()
): () => number {
  let lead = date() - steady()
  let base = lead
  return () => {
    const steadyMs = steady()
    const nextLead = date() - steadyMs
    const jumpMs = nextLead - lead
    lead = nextLead
    if (jumpMs >= minJumpMs) {
      base += jumpMs
      onJump(jumpMs)
    }
    return base + steadyMs
  }
}

/** The server's clock relative to local time. */
export interface ServerClock {
  /**
   * How far the server is ahead, in milliseconds; null if unknown. Each received time is a lower bound,
   * because it was current when it was sent. The highest bound is the most accurate.
   */
  readonly aheadMs: number | null
  /** Whether the last bound was far below the highest. */
  readonly isSuspect: boolean
}

export const unknownClock: ServerClock = { aheadMs: null, isSuspect: false }

/** The rounding to whole seconds and a slow network stay below this. */
const suspectMs = 2_000

/**
 * Adds a server time that arrived at `localMs`. An exact time (in milliseconds) is taken as it is. A time in
 * whole seconds is up to a second low and counts only if it raises the bound. Two in a row that are far too
 * low mean that the local clock was set or runs fast; then the middle of the second is used.
 */
export function addServerTime(
  { aheadMs, isSuspect }: ServerClock,
  serverMs: number,
  localMs: number,
  isExact: boolean
): ServerClock {
  const bound = serverMs - localMs
  if (aheadMs === null || isExact || bound >= aheadMs) return { aheadMs: bound, isSuspect: false }
  if (bound > aheadMs - suspectMs) return { aheadMs, isSuspect: false }
  return isSuspect ? { aheadMs: bound + 500, isSuspect: false } : { aheadMs, isSuspect: true }
}

/** The progress of the current song at a time of the server; null if nothing plays. */
export function progressAt(np: NowPlaying | null, serverMs: number): Progress | null {
  if (np === null || np.now_playing.sh_id === 0) return null
  const { played_at: playedAt, duration, elapsed } = np.now_playing
  const passedMs = Math.max(0, serverMs - playedAt * 1_000)
  if (duration === 0) return { elapsedMs: passedMs, durationMs: null, remainingMs: null }
  const durationMs = duration * 1_000
  // A song that ended early, for a jingle, is sent as fully elapsed.
  const elapsedMs = elapsed >= duration ? durationMs : Math.min(passedMs, durationMs)
  return { elapsedMs, durationMs, remainingMs: durationMs - elapsedMs }
}
