import { backlogMetric, backlogAgeMetric } from '../../platform/metrics/webhooks.ts'
import { openSingleFlight } from '../../platform/runtime/coalesce.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { isDue } from './leases.ts'

/** Maximum number of deliveries that are counted. */
const countedDeliveries = 10_000

interface Backlog {
  readonly pending: number
  readonly due: number
  /** When the oldest due delivery became due; null if none is. */
  readonly dueSinceMs: number | null
}

/** Adds the pending deliveries of all web hooks to the metrics of this process. One scrape reads them once. */
export function registerBacklogMetrics(sql: Sql): void {
  const readOnce = openSingleFlight<Backlog>()
  const read = () => readOnce(() => readBacklog(sql, engineTimeMs()))
  backlogMetric.read = async () => {
    const { pending, due } = await read()
    return [
      [{ state: 'pending' }, pending],
      [{ state: 'due' }, due]
    ]
  }
  backlogAgeMetric.read = async () => {
    const { dueSinceMs } = await read()
    return [[{}, dueSinceMs === null ? 0 : Math.max(0, engineTimeMs() - dueSinceMs) / 1_000]]
  }
}

async function readBacklog(sql: Sql, nowMs: number): Promise<Backlog> {
  const [row] = await sql<Backlog[]>`
    with oldest as (
      select webhook_id, next_attempt_ms, is_again from webhook_deliveries
      where state = 'pending' order by next_attempt_ms limit ${countedDeliveries}
    ), due as (
      select d.next_attempt_ms from oldest d join webhooks w on w.id = d.webhook_id where ${isDue(sql, nowMs)}
    )
    select (select count(*)::int from oldest) as pending, count(*)::int as due,
      min(next_attempt_ms) as "dueSinceMs" from due`
  return row ?? { pending: 0, due: 0, dueSinceMs: null }
}
