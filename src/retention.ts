import type { Sql } from './db/sql.ts'

const dayMs = 86_400_000
const notificationsMs = 90 * dayMs
const auditMs = 365 * dayMs
const requestsMs = 30 * dayMs
const deliveriesMs = 30 * dayMs
const listenersMs = dayMs
const listenerMinutes = 400 * 1_440
const commandsMs = 60_000

/** Notifications are kept for 90 days. Gives how many went. */
export async function removeOldNotifications(sql: Sql, nowMs: number): Promise<number> {
  const { count } =
    await sql`delete from notifications where created_at < ${new Date(nowMs - notificationsMs)}`
  return count
}

/** What was written down of changes is kept for a year. Gives how many went. */
export async function removeOldAudit(sql: Sql, nowMs: number): Promise<number> {
  const { count } = await sql`delete from audit_log where at < ${new Date(nowMs - auditMs)}`
  return count
}

/** Requests that were played, cancelled or expired are kept for 30 days. Gives how many went. */
export async function removeOldRequests(sql: Sql, nowMs: number): Promise<number> {
  const { count } = await sql`delete from requests where ended_at_ms < ${nowMs - requestsMs}`
  return count
}

const rowsAtOnce = 5_000
const batchesAtMost = 200

/**
 * What web hooks were told is kept for 30 days, with all attempts; what is pending stays. Goes on in batches, so that no
 * statement takes long, and leaves what is too much to the next run. Gives how many deliveries and events went.
 */
export async function removeOldDeliveries(sql: Sql, nowMs: number): Promise<number> {
  const beforeMs = nowMs - deliveriesMs
  const removeDeliveries = () => sql`
    delete from webhook_deliveries where state <> 'pending' and id in (
      select d.id from webhook_events e join webhook_deliveries d on d.event_id = e.id
      where e.happened_at_ms < ${beforeMs} and d.state <> 'pending' limit ${rowsAtOnce})`
  const removeEvents = () => sql`
    delete from webhook_events where id in (
      select e.id from webhook_events e
      where e.happened_at_ms < ${beforeMs}
        and not exists (select from webhook_deliveries d where d.event_id = e.id)
      limit ${rowsAtOnce})`
  return (await inBatches(removeDeliveries)) + (await inBatches(removeEvents))
}

/**
 * Who has left is known for a day, as long as a play may have begun before that; who listens to something that is not there
 * any more goes as well. Gives how many went.
 */
export async function removeOldListeners(sql: Sql, nowMs: number): Promise<number> {
  const { count } = await sql`
    delete from listeners l where left_at_ms is null
      and not exists (select from hls_streams x
        where x.station_id = l.station_id and l.source in ('mount:' || x.id, 'hls:' || x.id))
      and not exists (select from remotes x where x.station_id = l.station_id and l.source = 'remote:' || x.id)`
  // A row that is held is that of somebody who comes back.
  const removeLeft = () => sql`
    delete from listeners where (station_id, source, identity) in (
      select station_id, source, identity from listeners where left_at_ms < ${nowMs - listenersMs}
      limit ${rowsAtOnce} for update skip locked)`
  return count + (await inBatches(removeLeft))
}

/**
 * The series of listeners goes back 400 days: a year can be compared with the one before. The last change before that
 * stays, since the series begins with it. Gives how many minutes went.
 */
export function removeOldListenerMinutes(sql: Sql, nowMs: number): Promise<number> {
  const firstMinute = Math.floor(nowMs / 60_000) - listenerMinutes
  return inBatches(
    () => sql`
      delete from listener_minutes where (station_id, minute) in (
        select m.station_id, m.minute
        from stations s
          cross join lateral (
            select max(minute) as minute from listener_minutes
            where station_id = s.id and minute <= ${firstMinute}) last
          join listener_minutes m on m.station_id = s.id and m.minute < last.minute
        limit ${rowsAtOnce})`
  )
}

/** What a playout was told to do is meant for a minute. Gives how many commands went. */
export function removeOldCommands(sql: Sql, nowMs: number): Promise<number> {
  return inBatches(
    () => sql`
      delete from playout_commands where id in (
        select id from playout_commands where created_at_ms < ${nowMs - commandsMs} limit ${rowsAtOnce})`
  )
}

/** Repeats a statement until it finds less than it could take, or it was enough for once. Gives the rows in all. */
async function inBatches(remove: () => PromiseLike<{ readonly count: number }>): Promise<number> {
  let removed = 0
  for (let batch = 0; batch < batchesAtMost; batch++) {
    const { count } = await remove()
    removed += count
    if (count < rowsAtOnce) break
  }
  return removed
}
