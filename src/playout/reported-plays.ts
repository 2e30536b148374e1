import type { Tx } from '../db/sql.ts'
import { bridgeDueMs, markHeard } from './bridge.ts'
import type { StationChange } from './change-station.ts'
import { countLibraryChange } from './libraries.ts'
import type { Placement, TimedPlay } from './timeline.ts'

/** One of the newest plays of a station. */
export interface NearPlay extends TimedPlay {
  /** The place in the queue that it had; null where it had none. */
  readonly position: number | null
  readonly isInterrupt: boolean
}

const nearAtMost = 50

/** The newest plays, in time, the newest last. */
export async function readNear(tx: Tx, stationId: number): Promise<NearPlay[]> {
  const plays = await tx<NearPlay[]>`
    select h.id, h.started_at_ms as "startedAtMs", h.ended_at_ms as "endedAtMs", h.duration_ms as "durationMs",
      h.is_bridged as "isBridged", q.position, coalesce(q.is_interrupt, false) as "isInterrupt"
    from (
      select * from song_history where station_id between ${stationId} and ${stationId}
      order by station_id desc, started_at_ms desc, id desc limit ${nearAtMost}
    ) h left join queue q on q.station_id = ${stationId} and q.history_id = h.id`
  return plays.toSorted((a, b) => a.startedAtMs - b.startedAtMs || a.id - b.id)
}

/** From when on a play can be placed among these: what lies further back than all of them was not read. */
export function earliestMs(near: readonly NearPlay[]): number {
  return near.length < nearAtMost ? -Infinity : (near[0]?.startedAtMs ?? -Infinity)
}

/** Makes room for a play: ends the one before it, and takes back what was only thought to have begun. */
export async function settle({ tx, station }: StationChange, { cut, removed }: Placement): Promise<void> {
  if (removed) {
    await tx`update queue set played_at_ms = null, history_id = null
      where station_id = ${station.id} and history_id = ${removed.id}`
    await tx`delete from song_history where id = ${removed.id}`
    // Copies of what was played know of it.
    await countLibraryChange(tx, station.id)
  }
  if (!cut) return
  await markHeard(tx, cut.play)
  await tx`
    update song_history set ended_at_ms = least(${cut.atMs}::bigint, stopped_at_ms),
      listeners_end = case when ended_at_ms is null then ${station.listenersTotal} else listeners_end end
    where id = ${cut.play.id}`
}

interface Neighbours {
  readonly play: NearPlay
  readonly before: NearPlay | undefined
  readonly after: NearPlay | undefined
}

/** Moves the beginning of a play to when it really began, as far as its neighbours let it. */
export async function moveStart(
  { tx, station, mark }: StationChange,
  { play, before, after }: Neighbours,
  atMs: number
): Promise<void> {
  mark(['playback'])
  const latestMs = play.endedAtMs ?? after?.startedAtMs ?? Infinity
  const startMs = Math.max(Math.min(atMs, latestMs), before?.startedAtMs ?? 0)
  const dueAtMs = play.endedAtMs === null ? bridgeDueMs(startMs, play.durationMs) : null
  if (before && before.endedAtMs === play.startedAtMs)
    await tx`update song_history set ended_at_ms = ${startMs} where id = ${before.id}`
  await tx`update song_history set started_at_ms = ${startMs}, due_at_ms = ${dueAtMs} where id = ${play.id}`
  await tx`update queue set played_at_ms = ${startMs}, plays_at_ms = ${startMs}
    where station_id = ${station.id} and history_id = ${play.id}`
}
