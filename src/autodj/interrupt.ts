import { dueAt } from './due.ts'
import { interrupts, isPlayable, type Play, type Playlist, type Slot } from './library.ts'
import { nextHourlyTarget, nextOpening } from './schedule.ts'

/** How many openings of one playlist are looked at within one track. */
const looksAtMost = 24

/** Without a schedule or a type of its own it would cut for ever. */
const mayCut = (playlist: Playlist) =>
  interrupts(playlist) &&
  isPlayable(playlist) &&
  (playlist.schedule.length > 0 || playlist.type !== 'default')

export function interrupting(slot: Slot): readonly Playlist[] {
  return slot.library.playlists.filter(mayCut)
}

/**
 * When a playlist with `interrupt` cuts a play that is heard from `fromMs` to `toMs`: the first moment after `fromMs` at
 * which one becomes due; null if none does. A play is not cut by its own playlist. `slotAt` gives the slot that would be there.
 */
export function nextCut(
  play: Pick<Play, 'playlistId'>,
  fromMs: number,
  toMs: number,
  slotAt: (atMs: number) => Slot
): number | null {
  const slot = slotAt(fromMs)
  let firstMs: number | null = null
  for (const playlist of interrupting(slot)) {
    if (playlist.id === play.playlistId) continue
    const atMs = firstDue(playlist, fromMs, firstMs ?? toMs, slotAt)
    if (atMs !== null) firstMs = atMs
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
    const next = nextMoment(playlist, atMs, toMs, slotAt)
    if (next === null || next >= toMs) return null
    if (dueAt(playlist, slotAt(next)).why === null) return next
    atMs = next
  }
  return null
}

/** The next time at which a playlist may become due by itself; counts of songs change between tracks only. */
function nextMoment(
  playlist: Playlist,
  afterMs: number,
  toMs: number,
  slotAt: (atMs: number) => Slot
): number | null {
  const { zone } = slotAt(afterMs).library.rules
  const moments: number[] = []
  if (playlist.type === 'once_per_hour') moments.push(nextHourlyTarget(zone, playlist.hourMinute, afterMs))
  if (playlist.type === 'once_per_x_minutes') {
    const last = slotAt(afterMs)
    const dueMs = lastStart(last, playlist.id) + playlist.everyMinutes * 60_000
    if (dueMs > afterMs) moments.push(dueMs)
  }
  if (playlist.schedule.length > 0) {
    const openingMs = nextOpening(zone, playlist.schedule, afterMs, toMs - afterMs)
    if (openingMs !== null) moments.push(openingMs)
  }
  return moments.length === 0 ? null : Math.min(...moments)
}

function lastStart({ library, ahead }: Slot, playlistId: number): number {
  const play =
    ahead.findLast(row => row.playlistId === playlistId) ??
    library.past.plays.findLast(row => row.playlistId === playlistId)
  return play?.startsAtMs ?? library.past.older.get(playlistId)?.startsAtMs ?? -Infinity
}
