import { hasFitting } from './candidate.ts'
import { lastBefore, type Playlist, type Slot } from './library.ts'
import type { Obstacle } from './log-entry.ts'
import { hourlyTarget, isLoopDone, loopsOnce, nextHourlyTarget, type Window, windowAt } from './schedule.ts'

const minuteMs = 60_000
/** Jingles are shorter than this. */
const jingleMs = minuteMs
/** An hourly playlist may be this late, or later where nothing could start in between. */
const hourlyMs = 15 * minuteMs
const hourlyMostMs = 45 * minuteMs
const hourlyApartMs = 30 * minuteMs

/** Whether a playlist is to be played in a slot; `why` says why not. */
export interface Due {
  readonly why: Obstacle | null
  /** The window that the slot is in, where the playlist has a schedule. */
  readonly window: Window | null
  /** What `single_track` counts by: the minute of an hourly playlist, else the opening of the window. */
  readonly occurrenceMs: number | null
}

/** By its schedule, then by its type. Counts what was aired or stands ahead of the slot, in air order. */
export function dueAt(playlist: Playlist, slot: Slot): Due {
  const { library, atMs } = slot
  const { zone } = library.rules
  const { schedule, options } = playlist
  const window = schedule.length === 0 ? null : windowAt(zone, schedule, atMs)
  const targetMs = playlist.type === 'once_per_hour' ? hourlyTarget(zone, playlist.hourMinute, atMs) : null
  const occurrenceMs = targetMs ?? window?.startMs ?? null
  return { why: hindrance(), window, occurrenceMs }

  function hindrance(): Obstacle | null {
    if (!playlist.isEnabled || playlist.type === 'custom') return 'disabled'
    if (playlist.tracks.ids.length === 0) return 'empty'
    if (schedule.length > 0 && window === null) return 'not_scheduled'
    const byType = typeHindrance(playlist, slot, targetMs)
    if (byType !== null) return byType
    if (window !== null && occurrenceMs !== null && options.has('single_track'))
      if (hasPlayed(slot, playlist.id, occurrenceMs)) return 'already_played'
    if (window !== null && loopsOnce(playlist, window) && isLoopDone(playlist, slot, window))
      return 'loop_done'
    return hasFitting(playlist, slot, window) ? null : 'overrun'
  }
}

function typeHindrance(playlist: Playlist, slot: Slot, targetMs: number | null): Obstacle | null {
  switch (playlist.type) {
    case 'once_per_x_minutes': {
      if (playlist.everyMinutes === 0) return 'not_configured'
      const last = lastPlay(slot, playlist.id)
      const isDue = last === null || last.startsAtMs <= slot.atMs - playlist.everyMinutes * minuteMs
      return isDue ? null : 'too_soon'
    }
    case 'once_per_x_songs': {
      if (playlist.everySongs === 0) return 'not_configured'
      const last = lastPlay(slot, playlist.id)
      if (last !== null && last.visibleAfter < playlist.everySongs) return 'not_enough_songs'
      return playlist.isJingle && isBesideJingle(slot) ? 'too_soon' : null
    }
    case 'once_per_hour':
      return targetMs === null ? 'too_soon' : hourlyHindrance(playlist, slot, targetMs)
    case 'default':
    case 'custom':
      return null
    default:
      return playlist.type satisfies never
  }
}

const isHourlyJingle = ({ type, isJingle, isEnabled }: Playlist) =>
  type === 'once_per_hour' && isJingle && isEnabled

/**
 * Whether a jingle would follow a jingle, or have one of the hour follow it. One that counts songs has time
 * until another song has been heard.
 */
function isBesideJingle(slot: Slot): boolean {
  const { rules, playlists } = slot.library
  return (
    lastBefore(slot)?.isVisible === false ||
    playlists
      .filter(isHourlyJingle)
      .some(({ hourMinute }) => nextHourlyTarget(rules.zone, hourMinute, slot.atMs) - slot.atMs < jingleMs)
  )
}

function hourlyHindrance({ id }: Playlist, slot: Slot, targetMs: number): Obstacle | null {
  const { atMs } = slot
  const lateMs = atMs - targetMs
  const isInTime =
    lateMs <= hourlyMs || (lateMs < hourlyMostMs && runningAt(slot, targetMs + hourlyMs) < targetMs)
  if (!isInTime) return 'too_soon'
  const sinceMs = Math.max(targetMs, atMs - hourlyApartMs)
  const last = lastPlay(slot, id)
  return last !== null && last.startsAtMs >= sinceMs ? 'already_played' : null
}

/** When the play began that is on air at a time before the slot; infinite if nothing is known to be. */
function runningAt({ library, ahead }: Slot, atMs: number): number {
  const play =
    ahead.findLast(row => row.startsAtMs <= atMs) ??
    library.past.plays.findLast(row => row.startsAtMs <= atMs)
  return play?.startsAtMs ?? Infinity
}

/**
 * The newest play of a playlist, aired or ahead of the slot, and the visible plays after it. What an operator
 * took out of the queue counts as played.
 */
export function lastPlay(
  { library, ahead }: Slot,
  playlistId: number
): { readonly startsAtMs: number; readonly visibleAfter: number } | null {
  const { plays, older, refused } = library.past
  const refusedAtMs = refused.reduce(
    (latest, each) => (each.playlistId === playlistId ? Math.max(latest, each.startsAtMs) : latest),
    -Infinity
  )
  let visibleAfter = 0
  for (const rows of [ahead, plays]) {
    for (let index = rows.length - 1; index >= 0; index--) {
      const row = rows[index]
      if (!row) break
      if (row.playlistId === playlistId || row.startsAtMs < refusedAtMs)
        return { startsAtMs: Math.max(row.startsAtMs, refusedAtMs), visibleAfter }
      if (row.isVisible) visibleAfter++
    }
  }
  const before = older.get(playlistId)
  const startsAtMs = Math.max(refusedAtMs, before?.startsAtMs ?? -Infinity)
  // Where in between something was taken out is not known: all of it counts, so that nothing waits for ever.
  return startsAtMs === -Infinity
    ? null
    : { startsAtMs, visibleAfter: visibleAfter + (before?.visibleAfter ?? 0) }
}

/** Whether a playlist has a play in the occurrence that began at a time. */
function hasPlayed({ library, ahead }: Slot, playlistId: number, occurrenceMs: number): boolean {
  const { plays, refused } = library.past
  const isOne = (play: { playlistId: number | null; startsAtMs: number; occurrenceMs: number | null }) =>
    play.playlistId === playlistId && (play.occurrenceMs === occurrenceMs || play.startsAtMs >= occurrenceMs)
  return ahead.some(isOne) || plays.some(isOne) || refused.some(isOne)
}
