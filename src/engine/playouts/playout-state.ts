import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { disconnectedAfterMs } from './patience.ts'

/**
 * SQL: whether playout `o` of station `s` is connected. One that takes no commands calls only between songs, so it is
 * connected while a song plays.
 */
export const isPlayoutConnectedFragment = (sql: Sql | Tx, nowMs: number): Fragment => sql`
  (o.left_at_ms is null and case when o.takes_commands then o.seen_at_ms > ${nowMs - disconnectedAfterMs}
    else exists (select from song_history h where h.station_id = s.id and h.ended_at_ms is null) end)`

/** Whether the programs that play a station run. */
export interface RunningStationServices {
  /** What controls playback: for the backend `clock`, Cuewire itself. */
  readonly backend: boolean
  /** The streaming server, by its last poll. */
  readonly frontend: boolean
}

/** Reads which services of a station run. */
export async function readRunningStationServices(
  sql: Sql,
  stationId: number,
  nowMs: number
): Promise<RunningStationServices> {
  const [found] = await sql<RunningStationServices[]>`
    select s.is_enabled and case s.backend
        when 'clock' then true
        when 'liquidsoap' then exists (
          select from playouts o where o.station_id = s.id and ${isPlayoutConnectedFragment(sql, nowMs)})
        else false end as backend,
      s.is_enabled and exists (
        select from polls p where p.station_id = s.id and p.remote_id is null and p.answered_at_ms is not null
          and p.failing_since_ms is null) as frontend
    from stations s where s.id = ${stationId}`
  return found ?? { backend: false, frontend: false }
}
