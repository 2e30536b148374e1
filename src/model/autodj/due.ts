import { airtimeMs, computeMaxAirtimeMs } from './durations.ts'
import type { LastPlay, Playlist, RemovedRow, QueueSlot } from './library.ts'
import type { PlaylistObstacle } from './log-entry.ts'
import { findPreviousPlay } from './previous-play.ts'
import { lastHourlyTarget, nextHourlyTarget, type ScheduleWindow, findWindowAt } from './schedule.ts'
import { minuteMs } from './time-zone.ts'
import { columnValueAt } from './track-columns.ts'
import { findTrackPools, firstTrackInPool, isLoopDone, playsLoopOnce, planNextBatch } from './track-pools.ts'

/** An hourly jingle less than this time away counts as adjacent. */
const maxJingleMs = minuteMs
/** How late an hourly playlist may start, and how late if no song ended in time. */
const maxLateMs = 15 * minuteMs
const maxLateOnAirMs = 45 * minuteMs
const minHourlyGapMs = 30 * minuteMs

/** Whether a playlist is due in a slot. */
export interface DueCheck {
  /** Why it is not due; null if it is. */
  readonly obstacle: PlaylistObstacle | null
  /** The schedule window of the slot; null without a schedule. */
  readonly window: ScheduleWindow | null
  /** Identifies the occurrence for `single_track`: the hourly target, else the start of the window. */
  readonly occurrenceMs: number | null
}

/** Checks the settings, schedule and type of a playlist. Plays and the rows before the slot count. */
export function checkPlaylistDue(playlist: Playlist, slot: QueueSlot): DueCheck {
  const { atMs } = slot
  const { zone } = slot.library.rules
  const { schedule, type, hourMinute } = playlist
  const window = schedule.length === 0 ? null : findWindowAt(zone, schedule, atMs)
  const targetMs = type === 'once_per_hour' ? lastHourlyTarget(zone, hourMinute, atMs) : null
  const occurrenceMs = targetMs ?? window?.startMs ?? null
  return { obstacle: findObstacle(), window, occurrenceMs }

  function findObstacle(): PlaylistObstacle | null {
    if (!playlist.isEnabled || type === 'custom') return 'disabled'
    if (playlist.tracks.ids.length === 0) return 'empty'
    if (schedule.length > 0 && window === null) return 'not_scheduled'
    const byType = findTypeObstacle(playlist, slot, targetMs)
    if (byType !== null) return byType
    if (window === null) return null
    if (
      playlist.options.has('single_track') &&
      hasPlayedOccurrence(slot, playlist.id, targetMs ?? window.startMs)
    )
      return 'already_played'
    if (playsLoopOnce(playlist, window) && isLoopDone(playlist, slot, window)) return 'loop_done'
    return hasFittingTrack(playlist, slot, window) ? null : 'overrun'
  }
}

function findTypeObstacle(
  playlist: Playlist,
  slot: QueueSlot,
  targetMs: number | null
): PlaylistObstacle | null {
  switch (playlist.type) {
    case 'once_per_x_minutes': {
      if (playlist.everyMinutes === 0) return 'not_configured'
      const last = findLastPlayOfPlaylist(slot, playlist.id)
      const isDue = last === null || last.startsAtMs <= slot.atMs - playlist.everyMinutes * minuteMs
      return isDue ? null : 'too_soon'
    }
    case 'once_per_x_songs': {
      if (playlist.everySongs === 0) return 'not_configured'
      const last = findLastPlayOfPlaylist(slot, playlist.id)
      if (last !== null && last.visibleAfter < playlist.everySongs) return 'not_enough_songs'
      return playlist.isJingle && isNextToJingle(slot) ? 'too_soon' : null
    }
    case 'once_per_hour':
      return targetMs === null ? 'too_soon' : findHourlyObstacle(playlist, slot, targetMs)
    case 'default':
    case 'custom':
      return null
    default:
      return playlist.type satisfies never
  }
}

/** Whether the previous row is a jingle, or an hourly jingle is less than a minute away. */
function isNextToJingle(slot: QueueSlot): boolean {
  const { rules, playlists } = slot.library
  return (
    findPreviousPlay(slot)?.isVisible === false ||
    playlists.some(
      ({ type, isJingle, isEnabled, hourMinute }) =>
        type === 'once_per_hour' &&
        isJingle &&
        isEnabled &&
        nextHourlyTarget(rules.zone, hourMinute, slot.atMs) - slot.atMs < maxJingleMs
    )
  )
}

function findHourlyObstacle({ id }: Playlist, slot: QueueSlot, targetMs: number): PlaylistObstacle | null {
  const { atMs } = slot
  const lateMs = atMs - targetMs
  const isInTime =
    lateMs <= maxLateMs || (lateMs < maxLateOnAirMs && startOfPlayAt(slot, targetMs + maxLateMs) < targetMs)
  if (!isInTime) return 'too_soon'
  const sinceMs = Math.max(targetMs, atMs - minHourlyGapMs)
  const last = findLastPlayOfPlaylist(slot, id)
  return last !== null && last.startsAtMs >= sinceMs ? 'already_played' : null
}

/** When the play started that is on air at a time before the slot; Infinity if unknown. */
function startOfPlayAt({ library, rowsBefore }: QueueSlot, atMs: number): number {
  const hasStarted = (play: { readonly startsAtMs: number }) => play.startsAtMs <= atMs
  const play = rowsBefore.findLast(hasStarted) ?? library.past.plays.findLast(hasStarted)
  return play?.startsAtMs ?? Infinity
}

/** The last play of a playlist before the slot, or null. Removed rows count as played. */
export function findLastPlayOfPlaylist(
  { library, rowsBefore }: QueueSlot,
  playlistId: number
): LastPlay | null {
  const { plays, older, removed } = library.past
  const removedAtMs = removed.reduce(
    (latest, each) => (each.playlistId === playlistId ? Math.max(latest, each.startsAtMs) : latest),
    -Infinity
  )
  let visibleAfter = 0
  for (const rows of [rowsBefore, plays]) {
    for (let index = rows.length - 1; index >= 0; index--) {
      const row = rows[index]
      if (!row) break
      if (row.playlistId === playlistId || row.startsAtMs < removedAtMs)
        return { startsAtMs: Math.max(row.startsAtMs, removedAtMs), visibleAfter }
      if (row.isVisible) visibleAfter++
    }
  }
  const before = older.get(playlistId)
  const startsAtMs = Math.max(removedAtMs, before?.startsAtMs ?? -Infinity)
  if (startsAtMs === -Infinity) return null
  // Counts all older plays if a row was removed among them: its position is unknown.
  return { startsAtMs, visibleAfter: visibleAfter + (before?.visibleAfter ?? 0) }
}

function hasPlayedOccurrence(
  { library, rowsBefore }: QueueSlot,
  playlistId: number,
  occurrenceMs: number
): boolean {
  const { plays, removed } = library.past
  const isOfOccurrence = (play: RemovedRow) =>
    play.playlistId === playlistId && (play.occurrenceMs === occurrenceMs || play.startsAtMs >= occurrenceMs)
  return [rowsBefore, plays, removed].some(rows => rows.some(isOfOccurrence))
}

/** Whether a playlist has a track that is short enough for the rest of its window. */
function hasFittingTrack(playlist: Playlist, slot: QueueSlot, window: ScheduleWindow): boolean {
  const maxMs = computeMaxAirtimeMs(playlist, slot, window)
  if (maxMs === Infinity || playlist.source === 'stream') return true
  if (playlist.options.has('merge')) return planNextBatch(playlist, slot).airtimeMs <= maxMs
  const { durations } = playlist.tracks
  const isShort = (index: number) => airtimeMs(columnValueAt(durations, index)) <= maxMs
  const pools = findTrackPools(playlist, slot, window, 0)
  if (playlist.order === 'sequential') return isShort(firstTrackInPool(playlist, pools[0]))
  return pools.some(pool => durations.some((_, index) => pool.includes(index) && isShort(index)))
}
