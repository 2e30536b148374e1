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
  await sql`update playouts set left_at_ms = ${nowMs} where station_id = ${stationId} and seen_at_ms <= ${nowMs}`
}
