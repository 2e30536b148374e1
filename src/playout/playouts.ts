import type { Sql, Tx } from '../db/sql.ts'

/** Notes that a playout has called. `takesCommands`: it waits for commands, so that its silence means something. */
export async function notePlayout(
  sql: Sql | Tx,
  stationId: number,
  nowMs: number,
  takesCommands = false
): Promise<void> {
  await sql`
    insert into playouts (station_id, seen_at_ms, takes_commands) values (${stationId}, ${nowMs}, ${takesCommands})
    on conflict (station_id) do update set seen_at_ms = greatest(playouts.seen_at_ms, excluded.seen_at_ms),
      left_at_ms = null, takes_commands = playouts.takes_commands or excluded.takes_commands`
}

/** Notes that a playout which was waiting for commands has gone, unless it has called since. */
export async function notePlayoutLeft(sql: Sql, stationId: number, nowMs: number): Promise<void> {
  await sql`
    update playouts set left_at_ms = ${nowMs}, left_last_ms = ${nowMs}
    where station_id = ${stationId} and seen_at_ms <= ${nowMs}`
}

/** A playout has just started: what it played when it was seen to go has ended then. Nobody else is told before the next song. */
export async function noteRestart(tx: Tx, stationId: number): Promise<void> {
  await tx`
    update song_history h set stopped_at_ms = o.left_last_ms from playouts o
    where o.station_id = ${stationId} and h.station_id = ${stationId} and h.ended_at_ms is null
      and h.streamer = '' and o.left_last_ms >= h.started_at_ms`
}
