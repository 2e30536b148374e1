import { checkDue, findLastPlay } from './due.ts'
import { type PlayOrRow, isInterrupting, isPlayable, type Playlist, type Slot } from './library.ts'
import { rankOf } from './pick.ts'
import { nextHourlyTarget, nextWindowStart, windowAt } from './schedule.ts'
import { minuteMs } from './zone.ts'

/** Maximum number of times checked per playlist and track. */
const maxChecks = 24

/** Rotation playlists without a schedule are always due and would interrupt without end. */
const canInterrupt = (playlist: Playlist) =>
  isInterrupting(playlist) &&
  isPlayable(playlist) &&
  (playlist.schedule.length > 0 || playlist.type !== 'default')

const isDue = (playlist: Playlist, slot: Slot) => checkDue(playlist, slot).obstacle === null

/** The playlists that interrupt in a slot. */
export function findInterrupters(slot: Slot): Playlist[] {
  return slot.library.playlists.filter(playlist => canInterrupt(playlist) && isDue(playlist, slot))
}

/** A play that may be interrupted. */
export type InterruptiblePlay = Pick<PlayOrRow, 'playlistId' | 'isInterrupt'>

/**
 * Whether an interrupt became known late, so that the current play must end at once. Interrupts themselves
 * continue, and playlists that count songs wait for the end of the song.
 */
export function isInterruptOverdue(play: InterruptiblePlay, slot: Slot): boolean {
  return !play.isInterrupt && findInterrupters(slot).some(({ type }) => type !== 'once_per_x_songs')
}

/**
 * The first time after `fromMs` at which an interrupting playlist becomes due, or null if none does before
 * `toMs`. An interrupt is only interrupted by a playlist of higher rank. `slotAt` returns the slot at a time.
 */
export function findNextInterrupt(
  play: InterruptiblePlay,
  fromMs: number,
  toMs: number,
  slotAt: (atMs: number) => Slot
): number | null {
  const { playlists } = slotAt(fromMs).library
  const own = playlists.find(({ id }) => id === play.playlistId)
  const maxRank = play.isInterrupt && own ? rankOf(own) : Infinity
  let firstMs: number | null = null
  for (const playlist of playlists) {
    if (!canInterrupt(playlist) || rankOf(playlist) >= maxRank) continue
    firstMs = findFirstDue(playlist, fromMs, firstMs ?? toMs, slotAt) ?? firstMs
  }
  return firstMs
}

function findFirstDue(
  playlist: Playlist,
  fromMs: number,
  toMs: number,
  slotAt: (atMs: number) => Slot
): number | null {
  let atMs = fromMs
  for (let checks = 0; checks < maxChecks; checks++) {
    const next = nextDueTime(playlist, slotAt(atMs), toMs)
    if (next === null || next >= toMs) return null
    if (isDue(playlist, slotAt(next))) return next
    atMs = next
  }
  return null
}

/** The next time at which a playlist may become due, or null. Song counts only change between songs. */
function nextDueTime(playlist: Playlist, slot: Slot, toMs: number): number | null {
  const { zone } = slot.library.rules
  const { id, type, schedule, hourMinute, everyMinutes } = playlist
  const times: number[] = []
  if (type === 'once_per_hour') times.push(nextHourlyTarget(zone, hourMinute, slot.atMs))
  if (type === 'once_per_x_minutes') {
    const dueMs = (findLastPlay(slot, id)?.startsAtMs ?? -Infinity) + everyMinutes * minuteMs
    if (dueMs > slot.atMs) times.push(dueMs)
  }
  if (schedule.length > 0) {
    const openingMs = nextWindowStart(zone, schedule, slot.atMs, toMs - slot.atMs)
    if (openingMs !== null) times.push(openingMs)
    // A track that does not fit into this window may fit into an overlapping one.
    const closingMs = schedule.length > 1 ? windowAt(zone, schedule, slot.atMs)?.endMs : undefined
    if (closingMs !== undefined) times.push(closingMs)
  }
  return times.length === 0 ? null : Math.min(...times)
}
