import type { Library } from '../autodj/library.ts'
import { type SimulationStart, simulate, type SimulatedPlay } from '../autodj/simulate.ts'

/** What was simulated. */
export interface Run {
  /** As it was at the beginning. */
  readonly library: Library
  readonly fromMs: number
  readonly untilMs: number
  /**
   * All plays and silences that began from `fromMs` (inclusive) to `untilMs` (exclusive), each where the last
   * one ended.
   */
  readonly plays: readonly SimulatedPlay[]
}

/** Simulates a station up to a time. */
export function runUntil(beginning: SimulationStart, untilMs: number): Run {
  const { library, fromMs } = beginning
  const plays: SimulatedPlay[] = []
  for (const each of simulate(beginning)) {
    if (each.startsAtMs >= untilMs) break
    const last = plays.at(-1)
    const isLonger = each.play === null && last?.play === null
    if (isLonger) plays[plays.length - 1] = { ...last, endsAtMs: each.endsAtMs }
    else plays.push(each)
  }
  const endMs = plays.at(-1)?.endsAtMs ?? fromMs
  // Nothing will ever be played again.
  if (endMs < untilMs) plays.push({ startsAtMs: endMs, endsAtMs: untilMs, play: null, log: [] })
  return { library, fromMs, untilMs, plays }
}

/** A station that is to be simulated. */
export interface SimulatedStation {
  readonly name: string
  /** Its time zone is that of the library's rules. */
  readonly beginning: SimulationStart
  /** How a song is called, for people. */
  readonly songName: (mediaId: number | null) => string
}
