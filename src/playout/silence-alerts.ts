import { raiseAlert } from '../db/notifications.ts'
import type { Sql } from '../db/sql.ts'

const alertAfterMs = 60_000
/** Maximum number of alerts per run. */
const most = 500

const prefix = 'station-silent:'

/** Notifies operators once of each silent clock station that was on air. Returns the number of alerts. */
export async function raiseSilenceAlerts(sql: Sql, nowMs: number): Promise<number> {
  await sql`
    delete from open_facts f where starts_with(f.fact, ${prefix}) and not exists (
      select from stations s where f.fact = ${prefix} || s.id and s.is_enabled and s.backend = 'clock'
        and not exists (select from song_history h where h.station_id = s.id and h.ended_at_ms is null))`
  const silent = await sql<{ id: number; name: string; sinceMs: number }[]>`
    select s.id, s.name, last.ended_at_ms as "sinceMs"
    from stations s cross join lateral (
      select ended_at_ms from song_history h
      where h.station_id = s.id and h.ended_at_ms is not null order by ended_at_ms desc limit 1) last
    where s.is_enabled and s.backend = 'clock' and last.ended_at_ms < ${nowMs - alertAfterMs}
      and not exists (select from song_history h where h.station_id = s.id and h.ended_at_ms is null)
      and not exists (select from open_facts f where f.fact = ${prefix} || s.id)
    order by s.id limit ${most}`
  let told = 0
  for (const { id, name, sinceMs } of silent) {
    const isNew = await raiseAlert(sql, {
      fact: `${prefix}${id}`,
      title: `A station went silent: ${name}`,
      body: `${name} has played nothing since ${minuteOf(sinceMs)}. Check that its playlists are enabled and contain songs.`,
      type: 'danger',
      source: 'playout'
    })
    if (isNew) told++
  }
  return told
}

/** `2026-07-08 12:00 UTC` */
function minuteOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
