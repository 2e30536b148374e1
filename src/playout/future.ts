import type { Tx } from '../db/sql.ts'
import { countLibraryChange } from './queue.ts'

/** What is ahead of the time by less is no fault: processes measure the time, and playouts report in their own. */
export const aheadAtMostMs = 1_000
/** So many plays at a time are pulled back. */
const most = 1_000

/**
 * Lets plays and broadcasts that begin or end after now do so now: the time went back, or whoever noted them had a wrong one. Without this a station
 * would stand still until its play begins. Returns whether there was anything.
 */
export async function pullBack(tx: Tx, stationId: number, nowMs: number): Promise<boolean> {
  const fromMs = nowMs + aheadAtMostMs
  const plays = await tx`
    update song_history set started_at_ms = least(started_at_ms, ${nowMs}), ended_at_ms = case when ended_at_ms > ${nowMs} then ${nowMs} else ended_at_ms end,
      due_at_ms = due_at_ms - greatest(0, started_at_ms - ${nowMs})
    where id in (
      select id from song_history where station_id = ${stationId} order by started_at_ms desc, id desc limit ${most}
    ) and (started_at_ms > ${fromMs} or ended_at_ms > ${fromMs})`
  const broadcasts = await tx`
    update broadcasts set started_at_ms = least(started_at_ms, ${nowMs}), ended_at_ms = case when ended_at_ms > ${nowMs} then ${nowMs} else ended_at_ms end
    where id in (select id from broadcasts where station_id = ${stationId} order by id desc limit ${most})
      and (ended_at_ms is null and started_at_ms > ${fromMs} or ended_at_ms > ${fromMs})`
  if (plays.count + broadcasts.count === 0) return false
  // Copies of what was played know the wrong times.
  await countLibraryChange(tx, stationId)
  await tx`update stations set revision = revision + 1, playback_revision = revision + 1, live_revision = revision + 1
    where id = ${stationId}`
  return true
}
