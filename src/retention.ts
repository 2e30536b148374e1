import type { Sql } from './db/sql.ts'

const dayMs = 86_400_000
const notificationsMs = 90 * dayMs
const auditMs = 365 * dayMs
const requestsMs = 30 * dayMs
const deliveriesMs = 30 * dayMs

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

const deliveriesAtOnce = 5_000
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
      where e.happened_at_ms < ${beforeMs} and d.state <> 'pending' limit ${deliveriesAtOnce})`
  const removeEvents = () => sql`
    delete from webhook_events where id in (
      select e.id from webhook_events e
      where e.happened_at_ms < ${beforeMs}
        and not exists (select from webhook_deliveries d where d.event_id = e.id)
      limit ${deliveriesAtOnce})`
  return (await inBatches(removeDeliveries)) + (await inBatches(removeEvents))
}

/** Repeats a statement until it finds less than it could take, or it was enough for once. Gives the rows in all. */
async function inBatches(remove: () => PromiseLike<{ readonly count: number }>): Promise<number> {
  let removed = 0
  for (let batch = 0; batch < batchesAtMost; batch++) {
    const { count } = await remove()
    removed += count
    if (count < deliveriesAtOnce) break
  }
  return removed
}
