import { raiseAlert } from '../../db/notifications.ts'
import type { Sql, Tx } from '../../db/sql.ts'
import type { StationState } from '../../station/state.ts'
import type { Next, Pending } from './next-delivery.ts'
import { type AttemptResult, type Health, outcomeOf } from './outcome.ts'
import type { PreparedHook } from './prepare.ts'

/** A web hook for which this process has the lease. */
export interface LeasedHook extends PreparedHook {
  readonly id: number
  readonly stationId: number
  readonly name: string
  readonly isEnabled: boolean
  readonly pausedUntilMs: number
  readonly lastSentMs: number
  readonly rateLimitMs: number
}

/** Stored times may be ahead of now by this much, because processes measure the time. */
const aheadAtMostMs = 1_000

/** A lease lasts this long unless it is extended; then another process continues for one that was killed. */
export const leaseMs = 8_000

/** Acquires the lease of a web hook. Returns false if another process has it, or the web hook is gone. */
export async function acquireHook(
  sql: Sql,
  webhookId: number,
  holder: string,
  nowMs: number
): Promise<boolean> {
  const { count } = await sql`
    update webhooks set holder = ${holder}, held_until_ms = ${nowMs + leaseMs}
    where id = ${webhookId} and held_until_ms <= ${nowMs}`
  return count > 0
}

/** Reads a leased web hook; null if the lease was lost. */
export async function readLeasedHook(
  sql: Sql,
  webhookId: number,
  holder: string
): Promise<LeasedHook | null> {
  const [hook] = await sql<LeasedHook[]>`
    select id, station_id as "stationId", name, type, is_enabled as "isEnabled", config,
      former_secret as "formerSecret", former_secret_until_ms as "formerSecretUntilMs",
      paused_until_ms as "pausedUntilMs", last_sent_ms as "lastSentMs", rate_limit_ms as "rateLimitMs"
    from webhooks where id = ${webhookId} and holder = ${holder}`
  return hook ?? null
}

/** Extends the leases of a process. */
export async function extendLeases(sql: Sql, holder: string, webhookIds: readonly number[], nowMs: number) {
  await sql`
    update webhooks set held_until_ms = ${nowMs + leaseMs}
    where id = any(${[...webhookIds]}::bigint[]) and holder = ${holder}`
}

/** Releases a lease. */
export async function releaseHook(sql: Sql, webhookId: number, holder: string): Promise<void> {
  await sql`update webhooks set holder = null, held_until_ms = 0 where id = ${webhookId} and holder = ${holder}`
}

/** Events without an attempt that are read: if each is delivered, and if the newest stands for all. */
const freshAtMost = { alone: 500, together: 100_000 }
const triedAtMost = 500

/**
 * The pending deliveries of a web hook in the order of their events; of very many the oldest ones, and the
 * retries that are due first.
 */
export async function readPending(sql: Sql, webhookId: number): Promise<Pending[]> {
  return sql<Pending[]>`
    select id, triggers, happened_at_ms as "happenedAtMs", attempts, next_attempt_ms as "nextAttemptMs",
      is_again as "isAgain"
    from (
      (select * from webhook_deliveries
        where webhook_id = ${webhookId} and state = 'pending' and attempts = 0 and not is_again
        order by event_id limit (
          select case when rate_limit_ms > 0 then ${freshAtMost.together}::bigint else ${freshAtMost.alone} end
          from webhooks where id = ${webhookId}))
      union all
      (select * from webhook_deliveries
        where webhook_id = ${webhookId} and state = 'pending' and (attempts > 0 or is_again)
        order by next_attempt_ms limit ${triedAtMost})
    ) d order by event_id`
}

/** The event of a delivery. */
export interface DeliveryEvent {
  readonly messageId: string
  readonly happenedAtMs: number
  readonly attempts: number
  readonly state: StationState
}

/** The event of a delivery; null if it is gone. */
export async function readDeliveryEvent(sql: Sql, deliveryId: number): Promise<DeliveryEvent | null> {
  const [row] = await sql<DeliveryEvent[]>`
    select d.message_id as "messageId", e.happened_at_ms as "happenedAtMs", d.attempts, e.state
    from webhook_deliveries d join webhook_events e on e.id = d.event_id where d.id = ${deliveryId}`
  return row ?? null
}

/** Ends deliveries that will not be made, and adds their triggers to the one that stands for them. */
export async function endDeliveries(
  sql: Sql,
  { given, send }: Pick<Next, 'given' | 'send'>,
  nowMs: number
): Promise<void> {
  if (given.length === 0) return
  await sql.begin(async tx => {
    await tx`
      update webhook_deliveries d set state = x.state, next_attempt_ms = null, ended_at_ms = ${nowMs}
      from unnest(${given.map(({ id }) => id)}::bigint[], ${given.map(each => each.as)}::text[]) as x (id, state)
      where d.id = x.id and d.state = 'pending'`
    if (send) await tx`update webhook_deliveries set triggers = ${[...send.triggers]} where id = ${send.id}`
  })
}

/** Ends a delivery for which there is nothing to send, with the reason. */
export async function cancelDelivery(
  sql: Sql,
  deliveryId: number,
  reason: string,
  nowMs: number
): Promise<void> {
  await sql`
    with passed as (
      update webhook_deliveries set state = 'cancelled', attempts = attempts + 1, next_attempt_ms = null, ended_at_ms = ${nowMs}
      where id = ${deliveryId} and state = 'pending' returning id, attempts
    )
    insert into webhook_attempts (delivery_id, attempt, started_at_ms, duration_ms, status, error, url, response)
    select id, attempts, ${nowMs}, 0, 0, 'nothing', '', ${reason} from passed`
}

/** Ends all pending deliveries of a web hook that is disabled or has no triggers left. */
export async function cancelDeliveries(sql: Sql | Tx, webhookId: number, nowMs: number): Promise<void> {
  await sql`
    update webhook_deliveries set state = 'cancelled', next_attempt_ms = null, ended_at_ms = ${nowMs}
    where webhook_id = ${webhookId} and state = 'pending'`
}

/** The alert that a web hook was disabled automatically; resolved when it is enabled. */
export const disabledFact = (webhookId: number) => `webhook-disabled:${webhookId}`

/**
 * Stores an attempt and its consequences for the web hook as it is now: an operator may have enabled or
 * disabled it meanwhile, and a delivery that was ended stays ended. `random` is 0 to 1. Returns whether the
 * web hook was disabled.
 */
export async function recordAttempt(
  sql: Sql,
  hook: LeasedHook,
  delivery: { readonly id: number; readonly attempt: number },
  attempted: AttemptResult,
  random: number
): Promise<boolean> {
  const { startedAtMs, durationMs, status, fault, url, response } = attempted
  const endedAtMs = startedAtMs + durationMs
  return sql.begin(async tx => {
    // The hook first, as everybody does who changes both.
    const [before] = await tx<(Health & { isEnabled: boolean })[]>`
      select is_enabled as "isEnabled", consecutive_failures as failures, failing_since_ms as "failingSinceMs", pauses,
        paused_until_ms as "pausedUntilMs", last_sent_ms as "lastSentMs"
      from webhooks where id = ${hook.id} for no key update`
    if (!before) return false
    const { state, nextAttemptMs, health, disabled } = outcomeOf(attempted, delivery.attempt, before, random)
    const isSwitchedOff = before.isEnabled && disabled !== null
    // Sent in this order, without waiting in between.
    await Promise.all([
      tx`
        update webhooks set consecutive_failures = ${health.failures}, failing_since_ms = ${health.failingSinceMs},
          pauses = ${health.pauses}, paused_until_ms = ${health.pausedUntilMs}, last_sent_ms = ${health.lastSentMs},
          last_status = ${status}, last_message_sent = greatest(last_message_sent, ${Math.floor(startedAtMs / 1000)}),
          is_auto_disabled = is_auto_disabled or ${isSwitchedOff}, is_enabled = is_enabled and not ${isSwitchedOff}
        where id = ${hook.id}`,
      tx`
        update webhook_deliveries set attempts = ${delivery.attempt},
          state = ${state}, next_attempt_ms = ${nextAttemptMs}, ended_at_ms = ${state === 'pending' ? null : endedAtMs}
        where id = ${delivery.id} and (state = 'pending' or ${state === 'delivered'})`,
      tx`
        insert into webhook_attempts (delivery_id, attempt, started_at_ms, duration_ms, status, error, url, response)
        select id, ${delivery.attempt}, ${startedAtMs}, ${durationMs}, ${status}, ${fault ?? ''}, ${url}, ${response}
        from webhook_deliveries where id = ${delivery.id}`
    ])
    if (!isSwitchedOff) return false
    await cancelDeliveries(tx, hook.id, endedAtMs)
    await raiseAlert(tx, {
      fact: disabledFact(hook.id),
      title: `Web hook "${hook.name}" was disabled`,
      body: `The ${hook.type} hook ${hook.id} of station ${hook.stationId} was disabled: ${disabled}. Enable it again once its receiver is well.`,
      type: 'warning',
      source: 'webhooks'
    })
    return true
  })
}

/**
 * Where the last attempt of a hook was made after now, the time has gone back since: what waits from that
 * attempt on waits from now on. Without this a retry that is due in seconds would come hours late. A hold
 * ends in time as well, unless its holder prolongs it.
 */
export async function pullHooksBack(sql: Sql, nowMs: number): Promise<void> {
  const sentAfterMs = nowMs + aheadAtMostMs
  const heldAfterMs = nowMs + leaseMs + aheadAtMostMs
  const rows = await sql<{ id: number }[]>`
    select id from webhooks where last_message_sent * 1000 > ${sentAfterMs} or held_until_ms > ${heldAfterMs}`
  if (rows.length === 0) return
  await sql`
    with ahead as (
      select id, greatest(0, last_message_sent * 1000 - ${nowMs}) as ms from webhooks
      where id = any(${rows.map(({ id }) => id)}::bigint[])
        and (last_message_sent * 1000 > ${sentAfterMs} or held_until_ms > ${heldAfterMs})
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

/** Web hooks with due deliveries for which no process has the lease. */
export async function dueHooks(sql: Sql, nowMs: number, atMost: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select w.id from webhooks w
    where w.held_until_ms <= ${nowMs} and w.paused_until_ms <= ${nowMs} and exists (
      select from webhook_deliveries d
      where d.webhook_id = w.id and d.state = 'pending' and d.next_attempt_ms <= ${nowMs}
        and (d.is_again or w.last_sent_ms + w.rate_limit_ms <= ${nowMs}))
    limit ${atMost}`
  return rows.map(({ id }) => id)
}
