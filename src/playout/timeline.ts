import { airtimeMs } from '../autodj/estimate.ts'

/** A play as far as its place in time is concerned. */
export interface TimedPlay {
  readonly id: number
  readonly startedAtMs: number
  /** Null while it is on air. */
  readonly endedAtMs: number | null
  readonly durationMs: number
  readonly isBridged: boolean
}

/** What a report of a play that began at a time does to the plays around it. */
export interface Placement {
  readonly startedAtMs: number
  /** Null: it is on air; else another play began then, and this report is a late one. */
  readonly endedAtMs: number | null
  /** Ends then. */
  readonly cut: { readonly play: TimedPlay; readonly atMs: number } | null
  /** Was only taken to have begun, and has not: the report tells what was there in its place. */
  readonly removed: TimedPlay | null
}

/**
 * Where a play that began at `atMs` has its place among the others (`plays`: the newest ones, in time, the newest last).
 * Plays never overlap. One that the clock began in place of a report stays where the report comes so late that it has been heard; its
 * own report, which may come later, says that it was there.
 */
export function placeInTime(plays: readonly TimedPlay[], atMs: number): Placement {
  const next = plays.find(play => play.startedAtMs > atMs && !isGuess(play, atMs))
  const earlier = plays.filter(play => play !== next && (!next || play.startedAtMs < next.startedAtMs))
  const last = earlier.at(-1)
  const removed = last && isGuess(last, atMs) ? last : null
  const before = removed ? earlier.at(-2) : last
  const startedAtMs = before ? Math.max(atMs, before.startedAtMs) : atMs
  return {
    startedAtMs,
    endedAtMs: next?.startedAtMs ?? null,
    cut: before && isLonger(before, startedAtMs, removed) ? { play: before, atMs: startedAtMs } : null,
    removed
  }
}

/** A song does not go on for much longer than the clock had thought. */
const moreAtMost = 15_000

/** Whether a play has to be told its end anew: it would overlap, or a guess had ended it. */
function isLonger({ endedAtMs }: TimedPlay, atMs: number, guess: TimedPlay | null): boolean {
  if (endedAtMs === null || endedAtMs > atMs) return true
  return guess !== null && endedAtMs === guess.startedAtMs && atMs - endedAtMs <= moreAtMost
}

/** Whether a play was only taken to have begun, and what began at `atMs` did so in its place. */
function isGuess({ isBridged, startedAtMs, durationMs }: TimedPlay, atMs: number): boolean {
  return isBridged && atMs < startedAtMs + airtimeMs(durationMs) / 2
}
