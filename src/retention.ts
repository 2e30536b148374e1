import type { Sql } from './db/sql.ts'

const dayMs = 86_400_000
const notificationsMs = 90 * dayMs
const auditMs = 365 * dayMs
const requestsMs = 30 * dayMs

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
