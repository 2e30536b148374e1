import {
  type PlayOrRow,
  isInterruptingPlaylist,
  isPlayablePlaylist,
  type Playlist,
  type QueueSlot
} from './library.ts'
import { findNextWindowStart, type ScheduleWindow } from './schedule.ts'

const unknownDurationMs = 180_000
const minAirtimeMs = 1_000

/** The time on air, in milliseconds: at least a second; three minutes for an unknown duration. */
export function airtimeMs(durationMs: number): number {
  return durationMs === 0 ? unknownDurationMs : Math.max(minAirtimeMs, durationMs)
}

/** Returns the overlap of a play with the next one: its own, else that of the station. 0 if the station has none. */
export function overlapWithNextMs(
  { overlapMs }: Pick<PlayOrRow, 'overlapMs'>,
  stationOverlapMs: number
): number {
  return stationOverlapMs === 0 ? 0 : (overlapMs ?? stationOverlapMs)
}

/** When the next track starts. A track that is shorter than the overlap is not faded into the next. */
export function nextStartMs(startMs: number, durationMs: number, overlapMs: number): number {
  const airMs = airtimeMs(durationMs)
  return startMs + (airMs >= overlapMs ? Math.max(minAirtimeMs, airMs - overlapMs) : airMs)
}

/** A stream without a schedule is planned for at most this time. */
const maxStreamMs = 600_000

/** How long a stream plays: to the end of its window; without a window, until another schedule opens. */
export function streamDurationMs({ library, atMs }: QueueSlot, window: ScheduleWindow | null): number {
  if (window !== null) return window.endMs - atMs
  const openings = library.playlists
    .filter(playlist => isPlayablePlaylist(playlist) && !isInterruptingPlaylist(playlist))
    .flatMap(({ schedule }) => findNextWindowStart(library.rules.zone, schedule, atMs, maxStreamMs) ?? [])
  return Math.min(maxStreamMs, ...openings.map(openingMs => openingMs - atMs))
}

/** The longest airtime for a slot: no limit for the first play in a window; later ones may overrun it. */
export function computeMaxAirtimeMs(
  { id }: Playlist,
  slot: QueueSlot,
  window: ScheduleWindow | null
): number {
  if (window === null) return Infinity
  const { rules, past } = slot.library
  const isInWindow = (play: PlayOrRow) => play.playlistId === id && play.startsAtMs >= window.startMs
  const isFirst = !slot.rowsBefore.some(isInWindow) && !past.plays.some(isInWindow)
  return isFirst ? Infinity : window.endMs + rules.overrunMs - slot.atMs
}
