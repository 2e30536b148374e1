import { disabledHooksMetric, endedDeliveriesMetric } from '../../platform/metrics/webhooks.ts'
import { batchLimitFragment, removeInBatches } from '../../stores/db/batches.ts'
import { raiseAlert } from '../../stores/db/notifications.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { type LeasedHook, leasedHookColumnsFragment, selectLeasedHook } from './leases.ts'
import type { NextDelivery } from './next-delivery.ts'
import {
  type AttemptResult,
  type DeliveryOutcome,
  type FailureState,
  computeDeliveryOutcome
} from './outcome.ts'

/** Ends deliveries that will not be made, and adds their triggers to the one that is sent for them. */
export async function endDeliveries(
  sql: Sql,
  { ended, send }: Pick<NextDelivery, 'ended' | 'send'>,
  nowMs: number
): Promise<void> {
  if (ended.length === 0) return
  await sql`
    with ended as (
      update webhook_deliveries d set state = x.state, next_attempt_ms = null, ended_at_ms = ${nowMs}
      from unnest(${ended.map(({ id }) => id)}::bigint[], ${ended.map(each => each.as)}::text[]) as x (id, state)
      where d.id = x.id and d.state = 'pending'
    )
    update webhook_deliveries set triggers = ${[...(send?.triggers ?? [])]} where id = ${send?.id ?? 0}`
  for (const { as: state } of ended) endedDeliveriesMetric[state]++
}

/** Ends a delivery for which there is nothing to send, with the reason. */
export async function cancelDelivery(
  sql: Sql,
  deliveryId: number,
  reason: string,
  nowMs: number
): Promise<void> {
  await sql`
    with cancelled as (
      update webhook_deliveries set state = 'cancelled', attempts = attempts + 1, next_attempt_ms = null, ended_at_ms = ${nowMs}
      where id = ${deliveryId} and state = 'pending' returning id, attempts
    )
    insert into webhook_attempts (delivery_id, attempt, started_at_ms, duration_ms, status, error, url, response)
    select id, attempts, ${nowMs}, 0, 0, 'nothing', '', ${reason} from cancelled`
  endedDeliveriesMetric.cancelled++
}

/** Ends all pending deliveries of a web hook that is disabled or has no triggers left. */
export async function cancelDeliveries(sql: Sql | Tx, webhookId: number, nowMs: number): Promise<void> {
  const { count } = await sql`
    update webhook_deliveries set state = 'cancelled', next_attempt_ms = null, ended_at_ms = ${nowMs}
    where webhook_id = ${webhookId} and state = 'pending'`
  endedDeliveriesMetric.cancelled += count
}

/** The alert that a web hook was disabled automatically; resolved when it is enabled. */
export const hookDisabledAlertKey = (webhookId: number) => `webhook-disabled:${webhookId}`

/** A finished attempt, `attempt` counting from 1. */
interface FinishedAttempt {
  readonly deliveryId: number
  readonly attempt: number
  readonly result: AttemptResult
}

/**
 * The CTEs `hook`, `delivery` and `attempt`, which store an attempt and its outcome. A delivery that was
 * ended meanwhile stays ended unless it was delivered. The web hook is locked first, as in every statement
 * that changes both; if it is deleted, nothing is stored.
 */
const attemptWrites = (
  sql: Sql | Tx,
  webhookId: number,
  { deliveryId, attempt, result }: FinishedAttempt,
  { state, nextAttemptMs, failureState: health }: DeliveryOutcome,
  alsoSet = sql``
) => sql`
  hook as (
    update webhooks w set consecutive_failures = ${health.failures}, failing_since_ms = ${health.failingSinceMs},
      pauses = ${health.pauses}, paused_until_ms = ${health.pausedUntilMs}, last_sent_ms = ${health.lastSentMs},
      last_status = ${result.status},
      last_message_sent = greatest(last_message_sent, ${Math.floor(result.startedAtMs / 1000)}) ${alsoSet}
    where id = ${webhookId} returning ${leasedHookColumnsFragment(sql)}
  ), delivery as (
    update webhook_deliveries d set attempts = ${attempt}, state = ${state}, next_attempt_ms = ${nextAttemptMs},
      ended_at_ms = ${state === 'pending' ? null : result.startedAtMs + result.durationMs}
    from hook where d.id = ${deliveryId} and (d.state = 'pending' or ${state === 'delivered'})
  ), attempt as (
    insert into webhook_attempts (delivery_id, attempt, started_at_ms, duration_ms, status, error, url, response)
    select d.id, ${attempt}, ${result.startedAtMs}, ${result.durationMs}, ${result.status}, ${result.fault ?? ''},
      ${result.url}, ${result.response}
    from webhook_deliveries d, hook where d.id = ${deliveryId}
  )`

/**
 * Stores a delivered attempt, in one statement. Returns the leased web hook as it is now. If nothing else is
 * pending the lease is released, and null is returned, as for a lease that was lost.
 */
export async function recordDeliveredAttempt(
  sql: Sql,
  { id, holder }: LeasedHook,
  finished: FinishedAttempt,
  outcome: DeliveryOutcome
): Promise<LeasedHook | null> {
  const isReleased = sql`w.holder = ${holder} and not exists (select from pending)`
  const release = sql`,
    holder = case when ${isReleased} then null else w.holder end,
    held_until_ms = case when ${isReleased} then 0 else w.held_until_ms end`
  const writes = attemptWrites(sql, id, finished, outcome, release)
  const leased = await selectLeasedHook(sql, { id, holder }, writes, finished.deliveryId)
  endedDeliveriesMetric.delivered++
  return leased
}

/**
 * Stores a failed attempt and its consequences for the web hook as it is now: an operator may have enabled or
 * disabled it meanwhile. `random` is 0 to 1. Returns whether the web hook was disabled.
 */
export async function recordFailedAttempt(
  sql: Sql,
  hook: LeasedHook,
  finished: FinishedAttempt,
  random: number
): Promise<boolean> {
  const { deliveryId, attempt, result } = finished
  return sql.begin(async tx => {
    const [before] = await tx<(FailureState & { isEnabled: boolean })[]>`
      select is_enabled as "isEnabled", consecutive_failures as failures, failing_since_ms as "failingSinceMs", pauses,
        paused_until_ms as "pausedUntilMs", last_sent_ms as "lastSentMs"
      from webhooks where id = ${hook.id} for no key update`
    if (!before) return false
    const outcome = computeDeliveryOutcome(result, attempt, before, random)
    const isDisabled = before.isEnabled && outcome.disabled !== null
    const disable = isDisabled ? tx`, is_auto_disabled = true, is_enabled = false` : tx``
    await tx`with ${attemptWrites(tx, hook.id, { deliveryId, attempt, result }, outcome, disable)} select`
    if (outcome.state === 'failed') endedDeliveriesMetric.failed++
    if (!isDisabled) return false
    disabledHooksMetric.value++
    await cancelDeliveries(tx, hook.id, result.startedAtMs + result.durationMs)
    await raiseAlert(tx, {
      key: hookDisabledAlertKey(hook.id),
      title: `Web hook "${hook.name}" was disabled`,
      body: `The ${hook.type} hook ${hook.id} of station ${hook.stationId} was disabled: ${outcome.disabled}. Enable it again once its receiver works.`,
      type: 'warning',
      source: 'webhooks'
    })
    return true
  })
}

const hooksPerRun = 10

/**
 * Removes the deliveries and attempts of deleted web hooks, up to a limit. Any number of processes may run it.
 * Returns the number of deliveries.
 */
export async function removeOrphanDeliveries(sql: Sql): Promise<number> {
  const hooks = await sql<{ id: number }[]>`select id from deleted_webhooks order by id limit ${hooksPerRun}`
  let removed = 0
  for (const { id } of hooks) {
    const { rows, isComplete } = await removeInBatches(
      () => sql`
        delete from webhook_deliveries where ctid = any(array(
          select ctid from webhook_deliveries where webhook_id between ${id} and ${id}
          order by webhook_id, id desc ${batchLimitFragment(sql)} for update skip locked))`
    )
    removed += rows
    // A row that was locked is left for the next run.
    if (isComplete)
      await sql`
        delete from deleted_webhooks where id = ${id}
          and not exists (select from webhook_deliveries where webhook_id = ${id})`
  }
  return removed
}
