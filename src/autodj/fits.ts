import { airtimeMs } from './estimate.ts'
import type { Play, Playlist, Slot } from './library.ts'
import { batchAt } from './merge.ts'
import { firstOf, poolsOf } from './pools.ts'
import type { Window } from './schedule.ts'
import { at } from './tracks.ts'

/**
 * How long a playlist may hold the air from a slot on: what it plays first in a window always fits, what follows may overrun
 * the window by what the station allows. Milliseconds.
 */
export function longestAt({ id }: Playlist, slot: Slot, window: Window | null): number {
  if (window === null) return Infinity
  const { rules, past } = slot.library
  const isOne = (play: Play) => play.playlistId === id && play.startsAtMs >= window.startMs
  const isFirst = !slot.ahead.some(isOne) && !past.plays.some(isOne)
  return isFirst ? Infinity : window.endMs + rules.overrunMs - slot.atMs
}

/** Whether anything of a playlist is short enough. */
export function hasFitting(playlist: Playlist, slot: Slot, window: Window | null): boolean {
  const longestMs = longestAt(playlist, slot, window)
  if (longestMs === Infinity || playlist.source === 'stream') return true
  if (playlist.options.has('merge')) return batchAt(playlist, slot).airtimeMs <= longestMs
  const { durations } = playlist.tracks
  const isShort = (index: number) => airtimeMs(at(durations, index)) <= longestMs
  const [rest, ...borrowed] = poolsOf(playlist, slot, window, 0)
  if (playlist.order === 'sequential') return isShort(firstOf(playlist, rest))
  return [rest, ...borrowed].some(pool => durations.some((_, index) => pool.isIn(index) && isShort(index)))
}

/** By how much a play that holds the air for a time goes beyond its window. Milliseconds. */
export function overrunAt({ atMs }: Slot, window: Window | null, heldMs: number): number {
  return window === null ? 0 : Math.max(0, atMs + heldMs - window.endMs)
}
