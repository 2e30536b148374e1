import { interrupts, isPlayable, type Slot } from './library.ts'
import { nextOpening, type Window } from './schedule.ts'

/** A stream without a schedule is looked at again after this time, at the latest. */
const streamMs = 600_000

/**
 * How long a stream plays from a slot on, in milliseconds: to the end of its window, or without one until something with a schedule
 * may play.
 */
export function streamLengthAt({ library, atMs }: Slot, window: Window | null): number {
  if (window !== null) return window.endMs - atMs
  const { zone } = library.rules
  const openings = library.playlists
    .filter(playlist => isPlayable(playlist) && !interrupts(playlist))
    .flatMap(({ schedule }) =>
      schedule.length === 0 ? [] : (nextOpening(zone, schedule, atMs, streamMs) ?? [])
    )
  return Math.min(streamMs, ...openings.map(openingMs => openingMs - atMs))
}
