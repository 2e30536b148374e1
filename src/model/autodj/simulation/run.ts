import type { AutodjLibrary, Playlist } from '../library.ts'
import { simulatePlays, type SimulatedPlay, type SimulationStart } from '../simulate.ts'

/** A finished simulation. */
export interface SimulationRun {
  /** As it was at the start. */
  readonly library: AutodjLibrary
  readonly fromMs: number
  readonly untilMs: number
  /** Consecutive plays and silences that started from `fromMs` (inclusive) to `untilMs` (exclusive). */
  readonly plays: readonly SimulatedPlay[]
}

/**
 * Simulates a station up to a time. Consecutive silences are joined. The run ends early, after a play, once
 * `mayContinue` returns false.
 */
export function simulateUntil(
  start: SimulationStart,
  untilMs: number,
  mayContinue: () => boolean = () => true
): SimulationRun {
  const { library, fromMs } = start
  const plays: SimulatedPlay[] = []
  for (const each of simulatePlays(start)) {
    if (each.startsAtMs >= untilMs) break
    if (!mayContinue()) return { library, fromMs, untilMs: each.startsAtMs, plays }
    const last = plays.at(-1)
    const isMoreSilence = each.play === null && last?.play === null
    if (isMoreSilence) plays[plays.length - 1] = { ...last, endsAtMs: each.endsAtMs }
    else plays.push(each)
  }
  const endMs = plays.at(-1)?.endsAtMs ?? fromMs
  // The simulation ended early: nothing will ever play again.
  if (endMs < untilMs) plays.push({ startsAtMs: endMs, endsAtMs: untilMs, play: null, log: [] })
  return { library, fromMs, untilMs, plays }
}

/** A station to be simulated. */
export interface SimulatedStation {
  readonly name: string
  readonly start: SimulationStart
  /** Returns the display name of a song. */
  readonly songName: (mediaId: number | null) => string
}

/** The display name of the source of a play: its playlist, a request, or silence. */
export function playSourceName(playlists: readonly Playlist[], { play }: SimulatedPlay): string {
  if (play === null) return 'silence'
  if (play.playlistId === null) return play.requestId === null ? 'manual' : 'request'
  return playlists.find(({ id }) => id === play.playlistId)?.name ?? 'deleted playlist'
}
