import { backlog, backlogAge } from '../../platform/metrics/webhooks.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { Sql } from '../../stores/db/sql.ts'

/** Maximum number of deliveries that are counted. */
const countedDeliveries = 10_000

interface Backlog {
  readonly pending: number
  readonly due: number
  /** When the oldest due delivery became due; null if none is. */
  readonly dueSinceMs: number | null
}

/** Adds the pending deliveries of all web hooks to the metrics of this process. One scrape reads them once. */
export function measureBacklog(sql: Sql): void {
  let reading: Promise<Backlog> | null = null
  const read = () =>
    (reading ??= readBacklog(sql, engineTimeMs()).finally(() => {
      reading = null
    }))
  backlog.read = async () => {
    const { pending, due } = await read()
    return [
      [{ state: 'pending' }, pending],
      [{ state: 'due' }, due]
    ]
  }
  backlogAge.read = async () => {
    const { dueSinceMs } = await read()
    return [[{}, dueSinceMs === null ? 0 : Math.max(0, engineTimeMs() - dueSinceMs) / 1_000]]
  }
}

/** A delivery is due as in `readDueHooks`: its time has come, and its web hook neither pauses nor waits. */
async function readBacklog(sql: Sql, nowMs: number): Promise<Backlog> {
  const [row] = await sql<Backlog[]>`
    with oldest as (
      select webhook_id, next_attempt_ms, is_again from webhook_deliveries
      where state = 'pending' order by next_attempt_ms limit ${countedDeliveries}
    ), due as (
      select o.next_attempt_ms from oldest o join webhooks w on w.id = o.webhook_id
      where o.next_attempt_ms <= ${nowMs} and w.paused_until_ms <= ${nowMs}
        and (o.is_again or w.last_sent_ms <= ${nowMs} - w.rate_limit_ms)
    )
    select (select count(*)::int from oldest) as pending, count(*)::int as due,
      min(next_attempt_ms) as "dueSinceMs" from due`
  return row ?? { pending: 0, due: 0, dueSinceMs: null }
}
