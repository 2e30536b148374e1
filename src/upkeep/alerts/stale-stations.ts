import { literalLimit } from '../../stores/db/batches.ts'
import { raiseAlert, resolveAlert } from '../../stores/db/notifications.ts'
import type { Sql } from '../../stores/db/sql.ts'

const alertKey = 'stations-stale'
/** The sweep ends a song that no job has ended within seconds. */
const overdueMs = 60_000
const maxCounted = 1_000
const maxNamed = 20

/**
 * Notifies operators once of the stations whose song is over and was not ended, so that they show it still, and names
 * the first of them. Resolved when there are none. Returns their number, up to a thousand.
 */
export async function updateStaleStationsAlert(sql: Sql, nowMs: number): Promise<number> {
  const stale = await sql<{ name: string }[]>`
    select s.name from song_history h join stations s on s.id = h.station_id
    where h.ended_at_ms is null and h.due_at_ms < ${nowMs - overdueMs} and s.is_enabled and s.deleted_at is null
    order by h.due_at_ms ${literalLimit(sql, maxCounted)}`
  if (stale.length === 0) {
    await resolveAlert(sql, alertKey)
    return 0
  }
  const names = stale.slice(0, maxNamed).map(({ name }) => name)
  const others = stale.length - names.length
  await raiseAlert(sql, {
    key: alertKey,
    title: stale.length === 1 ? `A station is stale: ${names[0]}` : `${stale.length} stations are stale`,
    body:
      `They show a song that ended more than a minute ago: ${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}. ` +
      'See the log of the workers.',
    type: 'danger',
    source: 'playout'
  })
  return stale.length
}
