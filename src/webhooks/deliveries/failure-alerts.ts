import { formatUtcMinute, raiseAlert } from '../../stores/db/notifications.ts'
import type { Sql } from '../../stores/db/sql.ts'

/** The first retry comes after five seconds, the second after five minutes. */
const failuresToAlert = 2
/** Maximum number of alerts per run. */
const maxAlerts = 500

const prefix = 'webhook-failing:'

/**
 * Notifies operators once of each web hook whose deliveries keep failing, and resolves the alerts of those that deliver
 * again, or are disabled or deleted. Returns the number of alerts.
 */
export async function raiseFailureAlerts(sql: Sql): Promise<number> {
  await sql`
    delete from open_facts f where starts_with(f.fact, ${prefix}) and not exists (
      select from webhooks w where f.fact = ${prefix} || w.id and w.is_enabled and w.consecutive_failures > 0)`
  const failing = await sql<{ id: number; name: string; station: string; sinceMs: number; status: number }[]>`
    select w.id, w.name, s.name as station, w.failing_since_ms as "sinceMs", w.last_status as status
    from webhooks w join stations s on s.id = w.station_id
    where w.is_enabled and w.consecutive_failures >= ${failuresToAlert} and w.failing_since_ms is not null
      and not exists (select from open_facts f where f.fact = ${prefix} || w.id)
    order by w.id limit ${maxAlerts}`
  let raised = 0
  for (const { id, name, station, sinceMs, status } of failing) {
    const response = status === 0 ? 'It does not respond' : `It last responded with status ${status}`
    const isNew = await raiseAlert(sql, {
      key: `${prefix}${id}`,
      title: `A web hook fails: ${name}, ${station}`,
      body: `No delivery has arrived since ${formatUtcMinute(sinceMs)}. ${response}. Deliveries are retried; the delivery log has the responses.`,
      type: 'warning',
      source: 'webhooks'
    })
    if (isNew) raised++
  }
  return raised
}
