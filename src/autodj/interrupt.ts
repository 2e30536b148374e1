import { dueAt, lastPlay } from './due.ts'
import { interrupts, isPlayable, type HeardPlay, type Playlist, type Slot } from './library.ts'
import { rankOf } from './pools.ts'
import { nextHourlyTarget, nextOpening, windowAt } from './schedule.ts'

/** How many openings of one playlist are looked at within one track. */
const looksAtMost = 24

/** Without a schedule or a type of its own it would cut for ever. */
const mayCut = (playlist: Playlist) =>
  interrupts(playlist) &&
  isPlayable(playlist) &&
  (playlist.schedule.length > 0 || playlist.type !== 'default')

const isDue = (playlist: Playlist, slot: Slot) => dueAt(playlist, slot).why === null

/** The playlists that cut in at a slot. */
export function dueInterrupts(slot: Slot): Playlist[] {
  return slot.library.playlists.filter(playlist => mayCut(playlist) && isDue(playlist, slot))
}

/** What may be cut: a play, by the playlist that it comes from. */
export type Cuttable = Pick<HeardPlay, 'playlistId' | 'isInterrupt'>

/**
 * Whether a play that runs is to be cut at once, because what should have cut it was not known in time. What
 * cuts in itself is left alone, and songs are not counted in the middle of one.
 */
export function isOverdue(play: Cuttable, slot: Slot): boolean {
  return !play.isInterrupt && dueInterrupts(slot).some(({ type }) => type !== 'once_per_x_songs')
}

/**
 * When a playlist with `interrupt` cuts a play that is heard from `fromMs` to `toMs`: the first moment after
 * `fromMs` at which one becomes due; null if none does. What cuts in itself is cut only by what is picked
 * before it. `slotAt` gives the slot that would be there.
 */
export function nextCut(
  play: Cuttable,
  fromMs: number,
  toMs: number,
  slotAt: (atMs: number) => Slot
): number | null {
  const { playlists } = slotAt(fromMs).library
  const own = playlists.find(({ id }) => id === play.playlistId)
  const mostRank = play.isInterrupt && own ? rankOf(own) : Infinity
  let firstMs: number | null = null
  for (const playlist of playlists) {
    if (!mayCut(playlist) || rankOf(playlist) >= mostRank) continue
    firstMs = firstDue(playlist, fromMs, firstMs ?? toMs, slotAt) ?? firstMs
  }
  return firstMs
}

function firstDue(
  playlist: Playlist,
  fromMs: number,
  toMs: number,
  slotAt: (atMs: number) => Slot
): number | null {
  let atMs = fromMs
  for (let look = 0; look < looksAtMost; look++) {
    const next = nextMoment(playlist, slotAt(atMs), toMs)
    if (next === null || next >= toMs) return null
    if (isDue(playlist, slotAt(next))) return next
    atMs = next
  }
  return null
}

/** The next time at which a playlist may become due by itself; counts of songs change between tracks only. */
function nextMoment(playlist: Playlist, slot: Slot, toMs: number): number | null {
  const { zone } = slot.library.rules
  const { id, type, schedule, hourMinute, everyMinutes } = playlist
  const moments: number[] = []
  if (type === 'once_per_hour') moments.push(nextHourlyTarget(zone, hourMinute, slot.atMs))
  if (type === 'once_per_x_minutes') {
    const dueMs = (lastPlay(slot, id)?.startsAtMs ?? -Infinity) + everyMinutes * 60_000
    if (dueMs > slot.atMs) moments.push(dueMs)
  }
  if (schedule.length > 0) {
    const openingMs = nextOpening(zone, schedule, slot.atMs, toMs - slot.atMs)
    if (openingMs !== null) moments.push(openingMs)
    // What did not fit into this window may fit into another one that it has covered.
    const closingMs = schedule.length > 1 ? windowAt(zone, schedule, slot.atMs)?.endMs : undefined
    if (closingMs !== undefined) moments.push(closingMs)
  }
  return moments.length === 0 ? null : Math.min(...moments)
}
