import type { Tx } from '../stores/db/sql.ts'
import { raiseLibraryVersion } from './queue/libraries.ts'
import type { StationOnAir } from './station-facts.ts'

/** Smaller differences are the error of the clock measurement, or of the clocks of playouts. */
export const maxClockErrorMs = 1_000
/** Maximum number of plays that are pulled back at once. */
const playsAtMost = 1_000

/** Whether a station may have plays that begin or end after now. */
export const mayHaveFuturePlays = ({ station, play }: StationOnAir) =>
  // A silent station may have a play that ended after now.
  play === null || play.startedAtMs > station.readAtMs + maxClockErrorMs

/** Moves plays and broadcasts that begin or end after now, because of a wrong clock, to now. */
export async function pullBackFuturePlays(tx: Tx, onAir: StationOnAir): Promise<boolean> {
  const { id: stationId, readAtMs: nowMs } = onAir.station
  const fromMs = nowMs + maxClockErrorMs
  if (!mayHaveFuturePlays(onAir)) return false
  // Part of the text: for a parameter Postgres estimates a tenth of the table and reads all of it.
  const some = tx.unsafe(`limit ${playsAtMost}`)
  // Other plays may be less far ahead and would overlap with it.
  const plays = await tx`
    with near as (
      (select id, started_at_ms, ended_at_ms from song_history
        where (station_id, started_at_ms) > (${stationId}, ${nowMs}) and station_id <= ${stationId}
        order by station_id, started_at_ms ${some})
      union
      (select id, started_at_ms, ended_at_ms from song_history
        where station_id between ${stationId} and ${stationId} and ended_at_ms > ${nowMs}
        order by station_id, ended_at_ms desc ${some})
    )
    update song_history set started_at_ms = least(started_at_ms, ${nowMs}), ended_at_ms = case when ended_at_ms > ${nowMs} then ${nowMs} else ended_at_ms end,
      due_at_ms = due_at_ms - greatest(0, started_at_ms - ${nowMs})
    where id in (select id from near)
      and exists (select from near where started_at_ms > ${fromMs} or ended_at_ms > ${fromMs})`
  const broadcasts = await tx`
    update broadcasts set started_at_ms = least(started_at_ms, ${nowMs}), ended_at_ms = case when ended_at_ms > ${nowMs} then ${nowMs} else ended_at_ms end
    where id in (
        select id from broadcasts where station_id between ${stationId} and ${stationId}
        order by station_id, id desc ${some})
      and (ended_at_ms is null and started_at_ms > ${fromMs} or ended_at_ms > ${fromMs})`
  if (plays.count + broadcasts.count === 0) return false
  // Libraries in memory hold the wrong times.
  await raiseLibraryVersion(tx, stationId)
  return true
}
