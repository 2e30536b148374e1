import { airtimeMs } from '../../model/autodj/durations.ts'
import { recordPastPlayChange } from '../../stores/db/library/library.ts'
import type { Tx } from '../../stores/db/sql.ts'
import type { StationChange } from '../change-station.ts'
import { reportDeadlineMs, confirmProvisionalPlay } from './provisional-plays.ts'

/** One of the newest plays of a station. */
export interface RecentPlay extends TimedPlay {
  /** Its position in the queue; null if it was not queued. */
  readonly position: number | null
  readonly isInterrupt: boolean
}

const nearAtMost = 50

/** The newest plays in order of time, newest last. */
export async function readRecentPlays(tx: Tx, stationId: number): Promise<RecentPlay[]> {
  const plays = await tx<RecentPlay[]>`
    select h.id, h.started_at_ms as "startedAtMs", h.ended_at_ms as "endedAtMs", h.duration_ms as "durationMs",
      h.is_bridged as "isProvisional", q.position, coalesce(q.is_interrupt, false) as "isInterrupt"
    from (
      select * from song_history where station_id between ${stationId} and ${stationId}
      order by station_id desc, started_at_ms desc, id desc limit ${nearAtMost}
    ) h left join queue q on q.station_id = ${stationId} and q.history_id = h.id`
  return plays.toSorted((a, b) => a.startedAtMs - b.startedAtMs || a.id - b.id)
}

/** The earliest time at which a play can be placed; older plays were not read. */
export function earliestPlacementMs(near: readonly RecentPlay[]): number {
  return near.length < nearAtMost ? -Infinity : (near[0]?.startedAtMs ?? -Infinity)
}

/** Ends the play before a reported one, and removes a provisional play that did not start. */
export async function applyPlacement(
  { tx, station }: StationChange,
  { cut, removed }: ReportPlacement
): Promise<void> {
  if (removed) {
    await tx`update queue set played_at_ms = null, history_id = null
      where station_id = ${station.id} and history_id = ${removed.id}`
    const [gone] = await tx<{ trackId: number | null }[]>`
      delete from song_history where id = ${removed.id} returning track_id as "trackId"`
    // Cached libraries contain the removed play, and have marked its track.
    await recordPastPlayChange(tx, station.id, gone?.trackId ?? null)
  }
  if (!cut) return
  await confirmProvisionalPlay(tx, cut.play)
  await tx`
    update song_history set ended_at_ms = least(${cut.atMs}::bigint, stopped_at_ms) where id = ${cut.play.id}`
}

interface Neighbours {
  readonly play: RecentPlay
  readonly before: RecentPlay | undefined
  readonly after: RecentPlay | undefined
}

/** Moves the start of a play to the reported time, within the limits of its neighbors. */
export async function movePlayStart(
  { tx, station, mark }: StationChange,
  { play, before, after }: Neighbours,
  atMs: number
): Promise<void> {
  mark(['playback'])
  const latestMs = play.endedAtMs ?? after?.startedAtMs ?? Infinity
  const startMs = Math.max(Math.min(atMs, latestMs), before?.startedAtMs ?? 0)
  const dueAtMs = play.endedAtMs === null ? reportDeadlineMs(startMs, play.durationMs) : null
  if (before && before.endedAtMs === play.startedAtMs)
    await tx`update song_history set ended_at_ms = ${startMs} where id = ${before.id}`
  await tx`update song_history set started_at_ms = ${startMs}, due_at_ms = ${dueAtMs} where id = ${play.id}`
  await tx`update queue set played_at_ms = ${startMs}, plays_at_ms = ${startMs}
    where station_id = ${station.id} and history_id = ${play.id}`
}

/** The times of a play. */
export interface TimedPlay {
  readonly id: number
  readonly startedAtMs: number
  /** Null for the current play. */
  readonly endedAtMs: number | null
  readonly durationMs: number
  readonly isProvisional: boolean
}

/** The effect of a report on the plays around it. */
export interface ReportPlacement {
  readonly startedAtMs: number
  /** When another play began, if the report is late; null: the reported play is current. */
  readonly endedAtMs: number | null
  /** This play ends at the reported time. */
  readonly cut: { readonly play: TimedPlay; readonly atMs: number } | null
  /** This provisional play is removed: the report shows what played instead. */
  readonly removed: TimedPlay | null
}

/**
 * Finds the place of a play that began at `atMs`. `plays` are the newest ones, newest last. Plays never
 * overlap. A provisional play stays if it has been heard by then; its own report may follow.
 */
export function computePlacement(plays: readonly TimedPlay[], atMs: number): ReportPlacement {
  const next = plays.find(play => play.startedAtMs > atMs && !isReplacedProvisional(play, atMs))
  const earlier = plays.filter(play => play !== next && (!next || play.startedAtMs < next.startedAtMs))
  const last = earlier.at(-1)
  const removed = last && isReplacedProvisional(last, atMs) ? last : null
  const before = removed ? earlier.at(-2) : last
  const startedAtMs = before ? Math.max(atMs, before.startedAtMs) : atMs
  return {
    startedAtMs,
    endedAtMs: next?.startedAtMs ?? null,
    cut: before && needsNewEnd(before, startedAtMs, removed) ? { play: before, atMs: startedAtMs } : null,
    removed
  }
}

/** A song may exceed its planned length by this much. */
const moreAtMost = 15_000

/** Whether the end of a play changes: it would overlap, or a provisional play had ended it. */
function needsNewEnd({ endedAtMs }: TimedPlay, atMs: number, guess: TimedPlay | null): boolean {
  if (endedAtMs === null || endedAtMs > atMs) return true
  return guess !== null && endedAtMs === guess.startedAtMs && atMs - endedAtMs <= moreAtMost
}

/** Whether a provisional play did not start, because the play at `atMs` started instead. */
function isReplacedProvisional({ isProvisional, startedAtMs, durationMs }: TimedPlay, atMs: number): boolean {
  return isProvisional && atMs < startedAtMs + airtimeMs(durationMs) / 2
}
