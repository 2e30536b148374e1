import { formatUtcMinute } from '../../stores/db/notifications.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { type AlertContent, type ListedAlert, limitListedAlerts } from './alert-message.ts'

/** How messages reach people. */
export type AlertChannel = 'mail' | 'url'

export interface AnnounceOptions {
  /** None: nothing is announced, and what is open is announced once there is one. */
  readonly channels: readonly AlertChannel[]
  /** An alert that is resolved sooner is not announced. */
  readonly debounceMs?: number
  /** From one message to the next, so that alerts which come and go are sent together. */
  readonly intervalMs?: number
  /** An alert that is still open is announced again after this time. */
  readonly reminderMs?: number
}

const minuteMs = 60_000
/** The setting with the time of the last message. */
const lastMessage = 'last alert message'
/** Maximum number of alerts that one message counts. */
const maxAlerts = 10_000

/**
 * Composes a message of the alerts that were raised, are still open, or were resolved since the one before, and stores
 * it for each channel. One process at a time does, so that each change is in one message. Returns the number of alerts
 * in it.
 *
 * Announced are the alerts that listeners notice (type `danger`), and those of the machine; not that the web hook of a
 * station fails, which concerns its operators.
 */
export async function announceAlerts(
  sql: Sql,
  {
    channels,
    debounceMs = minuteMs,
    intervalMs = 5 * minuteMs,
    reminderMs = 24 * 60 * minuteMs
  }: AnnounceOptions
): Promise<number> {
  if (channels.length === 0) return 0
  return sql.begin(async tx => {
    const [state] = await tx<{ isLocked: boolean; isDue: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtext('cuewire alerts')) as "isLocked", not exists (
        select from settings where name = ${lastMessage}
          and value::timestamptz > clock_timestamp() - ${`${intervalMs} ms`}::interval) as "isDue"`
    if (!state?.isLocked || !state.isDue) return 0
    const raised = await dequeueRaised(tx, debounceMs)
    const resolved = await dequeueResolved(tx)
    const reminded = await dequeueReminders(tx, reminderMs)
    const count = raised.length + resolved.length + reminded.length
    if (count === 0) return 0
    const content: AlertContent = {
      raised: limitListedAlerts(raised),
      reminded: limitListedAlerts(reminded),
      resolved: limitListedAlerts(resolved)
    }
    for (const channel of channels)
      await tx`insert into alert_messages (channel, content) values (${channel}, ${tx.json({ ...content })})`
    await tx`
      insert into settings (name, value) values (${lastMessage}, clock_timestamp()::text)
      on conflict (name) do update set value = excluded.value`
    return count
  })
}

interface AlertRow {
  readonly alert: string
  readonly title: string
  readonly body: string
  readonly raisedAtMs: number
}

const toListed = (rows: readonly AlertRow[]): ListedAlert[] =>
  rows.map(({ alert, title, body, raisedAtMs }) => ({
    alert,
    title,
    body,
    since: formatUtcMinute(raisedAtMs)
  }))

/** The alerts that no message has announced yet. */
async function dequeueRaised(tx: Tx, debounceMs: number): Promise<ListedAlert[]> {
  const rows = await tx<AlertRow[]>`
    with raised as (
      select f.fact, n.title, n.body, f.raised_at
      from open_facts f join notifications n on n.notification_id = f.notification_id
      where f.raised_at <= clock_timestamp() - ${`${debounceMs} ms`}::interval
        and (n.type = 'danger' or n.source in ('storage', 'system'))
        and not exists (select from announced_alerts a where a.fact = f.fact)
      order by f.raised_at limit ${maxAlerts}
    ), announced as (
      insert into announced_alerts (fact, title, raised_at) select fact, title, raised_at from raised
    )
    select fact as alert, title, body, (extract(epoch from raised_at) * 1000)::float8 as "raisedAtMs"
    from raised order by raised_at`
  return toListed(rows)
}

/** The announced alerts that are resolved. */
async function dequeueResolved(tx: Tx): Promise<ListedAlert[]> {
  const rows = await tx<AlertRow[]>`
    delete from announced_alerts a where not exists (select from open_facts f where f.fact = a.fact)
    returning fact as alert, title, '' as body, (extract(epoch from raised_at) * 1000)::float8 as "raisedAtMs"`
  return toListed(rows)
}

/** The announced alerts that have been open for a long time since the last message that named them. */
async function dequeueReminders(tx: Tx, reminderMs: number): Promise<ListedAlert[]> {
  const rows = await tx<AlertRow[]>`
    update announced_alerts a set announced_at = clock_timestamp()
    from open_facts f left join notifications n on n.notification_id = f.notification_id
    where f.fact = a.fact and a.announced_at <= clock_timestamp() - ${`${reminderMs} ms`}::interval
    returning a.fact as alert, a.title, coalesce(n.body, '') as body,
      (extract(epoch from a.raised_at) * 1000)::float8 as "raisedAtMs"`
  return toListed(rows)
}
