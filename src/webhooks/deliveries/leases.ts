import type { StationState } from '../../model/station/state.ts'
import type { Traceparent } from '../../platform/tracing/spans.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import type { PendingDelivery } from './next-delivery.ts'
import type { HookToRender } from './render-delivery.ts'

/**
 * A web hook for which a worker has the lease, with its pending deliveries in the order of their events; of
 * very many the oldest ones, and the retries that are due first.
 */
export interface LeasedHook extends HookToRender {
  readonly id: number
  readonly stationId: number
  readonly name: string
  readonly isEnabled: boolean
  readonly pausedUntilMs: number
  readonly lastSentMs: number
  readonly rateLimitMs: number
  /** Identifies the lease. */
  readonly holder: string
  readonly pending: readonly PendingDelivery[]
  /** The event of the first pending delivery, which usually is the next to send. */
  readonly firstEvent: DeliveryEvent | null
}

/** The event of a delivery. */
interface DeliveryEvent {
  readonly deliveryId: number
  readonly messageId: string
  readonly happenedAtMs: number
  readonly attempts: number
  readonly state: StationState
  /** The span of the change; null if it was not traced. */
  readonly traceContext: Traceparent | null
}

/** A lease lasts this long unless it is extended. Then another process continues for one that was killed. */
const leaseMs = 8_000

/** Events without an attempt that are read: if each is sent alone, and if the newest is sent for all. */
const untriedLimit = { alone: 20, merged: 100_000 }
const triedLimit = 500

/** Columns of `webhooks w` for the CTE `hook` of `selectLeasedHook`. */
export const leasedHookColumnsFragment = (sql: Sql | Tx) => sql`
  w.id, w.station_id as "stationId", w.name, w.type, w.is_enabled as "isEnabled", w.config,
  w.former_secret as "formerSecret", w.former_secret_until_ms as "formerSecretUntilMs",
  w.paused_until_ms as "pausedUntilMs", w.last_sent_ms as "lastSentMs", w.rate_limit_ms as "rateLimitMs", w.holder`

const eventColumns = (sql: Sql) => sql`
  'deliveryId', d.id, 'messageId', d.message_id, 'happenedAtMs', e.happened_at_ms, 'attempts', d.attempts,
  'state', e.state, 'traceContext', e.trace_context`

/**
 * Runs `writes`, CTEs of which `hook` returns the `leasedHookColumnsFragment` of a web hook, and selects it with its
 * pending deliveries, as they were before, without `exceptId`. `writes` may refer to the CTE `pending`.
 * Returns null if `hook` returns no row or the lease is not `holder`'s.
 */
export async function selectLeasedHook(
  sql: Sql,
  { id, holder }: Pick<LeasedHook, 'id' | 'holder'>,
  writes: Fragment,
  exceptId = 0
): Promise<LeasedHook | null> {
  const [hook] = await sql<LeasedHook[]>`
    with pending as materialized (
      select id, event_id as "eventId", triggers, happened_at_ms as "happenedAtMs", attempts,
        next_attempt_ms as "nextAttemptMs", is_again as "isAgain"
      from (
        (select * from webhook_deliveries
          where webhook_id = ${id} and state = 'pending' and attempts = 0 and not is_again and id <> ${exceptId}
          order by event_id limit (
            select case when rate_limit_ms > 0 then ${untriedLimit.merged}::bigint else ${untriedLimit.alone} end
            from webhooks where id = ${id}))
        union all
        (select * from webhook_deliveries
          where webhook_id = ${id} and state = 'pending' and (attempts > 0 or is_again) and id <> ${exceptId}
          order by next_attempt_ms limit ${triedLimit})
      ) d
    ), ${writes}
    select hook.*, coalesce((select json_agg(p order by "eventId") from pending p), '[]') as pending, (
      select json_build_object(${eventColumns(sql)})
      from webhook_deliveries d join webhook_events e on e.id = d.event_id
      where d.id = (select id from pending order by "eventId" limit 1)) as "firstEvent"
    from hook where holder = ${holder}`
  return hook ?? null
}

/**
 * Acquires the lease of a web hook under the name `holder`, which no other lease has. Returns null if another
 * one is in force, or the web hook is deleted.
 */
export async function acquireHookLease(
  sql: Sql,
  id: number,
  holder: string,
  nowMs: number
): Promise<LeasedHook | null> {
  const acquire = sql`hook as (
    update webhooks w set holder = ${holder}, held_until_ms = ${nowMs + leaseMs}
    where id = ${id} and held_until_ms <= ${nowMs} returning ${leasedHookColumnsFragment(sql)})`
  return selectLeasedHook(sql, { id, holder }, acquire)
}

/** Reads a leased web hook again; null if the lease was lost. */
export async function readLeasedHook(sql: Sql, hook: LeasedHook): Promise<LeasedHook | null> {
  return selectLeasedHook(
    sql,
    hook,
    sql`hook as (select ${leasedHookColumnsFragment(sql)} from webhooks w where id = ${hook.id})`
  )
}

/** Reads the event of a delivery; null if it is deleted. */
export async function readDeliveryEvent(sql: Sql, deliveryId: number): Promise<DeliveryEvent | null> {
  const [row] = await sql<{ event: DeliveryEvent }[]>`
    select json_build_object(${eventColumns(sql)}) as event
    from webhook_deliveries d join webhook_events e on e.id = d.event_id where d.id = ${deliveryId}`
  return row?.event ?? null
}

/** Extends leases, given as web hooks by holder. */
export async function extendHookLeases(sql: Sql, leases: ReadonlyMap<string, number>, nowMs: number) {
  await sql`
    update webhooks w set held_until_ms = ${nowMs + leaseMs}
    from unnest(${[...leases.values()]}::bigint[], ${[...leases.keys()]}::text[]) as x (id, holder)
    where w.id = x.id and w.holder = x.holder`
}

/** Releases a lease. */
export async function releaseHookLease(sql: Sql, { id, holder }: LeasedHook): Promise<void> {
  await sql`update webhooks set holder = null, held_until_ms = 0 where id = ${id} and holder = ${holder}`
}

/** A later time would be out of range in milliseconds. */
const maxSeconds = 9_007_199_254_740

/** How far stored times may be in the future: processes only estimate the time of Postgres. */
const clockToleranceMs = 1_000

/**
 * Corrects web hooks whose last attempt is later than now, because the clock was set back since: pauses and
 * pending retries are moved back by the difference, and leases end within `leaseMs` unless extended.
 */
export async function pullBackHookTimes(sql: Sql, nowMs: number): Promise<void> {
  const sentAfterMs = nowMs + clockToleranceMs
  const heldAfterMs = nowMs + leaseMs + clockToleranceMs
  await sql`
    with ahead as (
      select id, greatest(0, least(last_message_sent, ${maxSeconds}::bigint) * 1000 - ${nowMs}) as ms from webhooks
      where last_message_sent > ${Math.floor(sentAfterMs / 1000)} or held_until_ms > ${heldAfterMs}
      order by id for no key update
    ), hooks as (
      update webhooks w set last_message_sent = least(last_message_sent, ${Math.floor(nowMs / 1000)}),
        held_until_ms = least(held_until_ms, ${nowMs + leaseMs}), last_sent_ms = least(last_sent_ms, ${nowMs}),
        paused_until_ms = greatest(0, paused_until_ms - ms)
      from ahead where w.id = ahead.id
    )
    update webhook_deliveries d set next_attempt_ms = next_attempt_ms - ms
    from ahead where d.webhook_id = ahead.id and d.state = 'pending' and d.next_attempt_ms > ${nowMs}`
}

/** SQL: whether the pending delivery `d` of the web hook `w` may be sent: its time has come, and its web hook neither pauses nor waits. */
export const isDue = (sql: Sql, nowMs: number): Fragment => sql`
  (d.next_attempt_ms <= ${nowMs} and w.paused_until_ms <= ${nowMs}
    and (d.is_again or w.last_sent_ms <= ${nowMs} - w.rate_limit_ms))`

/** Web hooks with due deliveries for which no process has the lease. */
export async function readDueHooks(sql: Sql, nowMs: number, atMost: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select w.id from webhooks w
    where w.held_until_ms <= ${nowMs} and w.paused_until_ms <= ${nowMs} and exists (
      select from webhook_deliveries d
      where d.webhook_id = w.id and d.state = 'pending' and ${isDue(sql, nowMs)})
    limit ${atMost}`
  return rows.map(({ id }) => id)
}
