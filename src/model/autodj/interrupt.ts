import { checkPlaylistDue, findLastPlayOfPlaylist } from './due.ts'
import {
  type PlayOrRow,
  isInterruptingPlaylist,
  isPlayablePlaylist,
  type Playlist,
  type QueueSlot
} from './library.ts'
import { rankIndexOf } from './pick.ts'
import { nextHourlyTarget, findNextWindowStart, findWindowAt } from './schedule.ts'
import { minuteMs } from './time-zone.ts'

/** Maximum number of times checked per playlist and track. */
const maxChecks = 24

/** Rotation playlists without a schedule are always due and would interrupt without end. */
const canInterrupt = (playlist: Playlist) =>
  isInterruptingPlaylist(playlist) &&
  isPlayablePlaylist(playlist) &&
  (playlist.schedule.length > 0 || playlist.type !== 'default')

const isDue = (playlist: Playlist, slot: QueueSlot) => checkPlaylistDue(playlist, slot).obstacle === null

/** The playlists that interrupt in a slot. */
export function findInterruptingPlaylists(slot: QueueSlot): Playlist[] {
  return slot.library.playlists.filter(playlist => canInterrupt(playlist) && isDue(playlist, slot))
}

/** A play that may be interrupted. */
export type InterruptiblePlay = Pick<PlayOrRow, 'playlistId' | 'isInterrupt'>

/**
 * Whether an interrupt became known late, so that the current play must end at once. Interrupts themselves
 * continue, and playlists that count songs wait for the end of the song.
 */
export function isInterruptOverdue(play: InterruptiblePlay, slot: QueueSlot): boolean {
  return !play.isInterrupt && findInterruptingPlaylists(slot).some(({ type }) => type !== 'once_per_x_songs')
}

/**
 * The first time after `fromMs` at which an interrupting playlist becomes due, or null if none does before
 * `toMs`. An interrupt is only interrupted by a playlist of higher rank. `slotAt` returns the slot at a time.
 */
export function findNextInterruptMs(
  play: InterruptiblePlay,
  fromMs: number,
  toMs: number,
  slotAt: (atMs: number) => QueueSlot
): number | null {
  const { playlists } = slotAt(fromMs).library
  const own = playlists.find(({ id }) => id === play.playlistId)
  const maxRank = play.isInterrupt && own ? rankIndexOf(own) : Infinity
  let firstMs: number | null = null
  for (const playlist of playlists) {
    if (!canInterrupt(playlist) || rankIndexOf(playlist) >= maxRank) continue
    firstMs = findFirstDue(playlist, fromMs, firstMs ?? toMs, slotAt) ?? firstMs
  }
  return firstMs
}

function findFirstDue(
  playlist: Playlist,
  fromMs: number,
  toMs: number,
  slotAt: (atMs: number) => QueueSlot
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
function nextDueTime(playlist: Playlist, slot: QueueSlot, toMs: number): number | null {
  const { zone } = slot.library.rules
  const { id, type, schedule, hourMinute, everyMinutes } = playlist
  const times: number[] = []
  if (type === 'once_per_hour') times.push(nextHourlyTarget(zone, hourMinute, slot.atMs))
  if (type === 'once_per_x_minutes') {
    const dueMs = (findLastPlayOfPlaylist(slot, id)?.startsAtMs ?? -Infinity) + everyMinutes * minuteMs
    if (dueMs > slot.atMs) times.push(dueMs)
  }
  if (schedule.length > 0) {
    const openingMs = findNextWindowStart(zone, schedule, slot.atMs, toMs - slot.atMs)
    if (openingMs !== null) times.push(openingMs)
    // A track that does not fit into this window may fit into an overlapping one.
    const closingMs = schedule.length > 1 ? findWindowAt(zone, schedule, slot.atMs)?.endMs : undefined
    if (closingMs !== undefined) times.push(closingMs)
  }
  return times.length === 0 ? null : Math.min(...times)
}
