import { randomUUID } from 'node:crypto'

import type { StationRenderer } from '../../model/station/renderer.ts'
import type { StationFaults } from '../../platform/isolation/station-faults.ts'
import { attemptDurationMetric, attemptsMetric } from '../../platform/metrics/webhooks.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { type FairSemaphore, openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import type { Logger } from '../../platform/runtime/log.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import { runInSpan } from '../../platform/tracing/tracing.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { renderEventNowPlaying } from '../format/now-playing-body.ts'
import type { Sealer } from '../hook-config.ts'
import { noDeliveryContent } from '../types/delivery-content.ts'
import { getHookType } from '../types/hook-types.ts'
import {
  cancelDeliveries,
  cancelDelivery,
  endDeliveries,
  recordDeliveredAttempt,
  recordFailedAttempt
} from './deliveries.ts'
import {
  acquireHookLease,
  type LeasedHook,
  readDeliveryEvent,
  readLeasedHook,
  releaseHookLease
} from './leases.ts'
import { chooseNextDelivery } from './next-delivery.ts'
import { type AttemptResult, deliveredOutcome } from './outcome.ts'
import { renderDelivery } from './render-delivery.ts'
import { hostOfDelivery, sendDelivery, type SendDeps } from './send.ts'

/** What a process needs to deliver. */
export interface DeliveryDeps extends SendDeps {
  readonly sql: Sql
  readonly log: Logger
  readonly stationFaults: StationFaults
  readonly secrets: Pick<Sealer, 'open'>
  readonly renderer: StationRenderer
  readonly hosts: FairSemaphore
  /** The leases of the process, to be extended: web hooks by holder. */
  readonly leases: Map<string, number>
}

/** Deliveries of one web hook before others are handled. */
const deliveriesPerJob = 20
const crowdedRetryMs = 400
/** A web hook that cannot be handled, because of a fault of ours, is checked again after this time. */
const faultRetryMs = 60_000

/**
 * Delivers what is due for a web hook, in order. Returns when it has to be checked again (Unix milliseconds);
 * null if nothing is pending, or another worker has the lease. Stops between two deliveries once `isStopping`
 * returns true.
 */
export async function deliverDue(
  deps: DeliveryDeps,
  webhookId: number,
  isStopping: () => boolean = () => false
): Promise<number | null> {
  const { sql, leases } = deps
  const holder = randomUUID()
  let hook = await acquireHookLease(sql, webhookId, holder, engineTimeMs())
  if (!hook) return null
  leases.set(holder, webhookId)
  const { stationId } = hook
  let nextCheckMs: number | null = engineTimeMs() + faultRetryMs
  const deliver = async () => {
    for (let made = 0; hook && made < deliveriesPerJob && !isStopping(); made++) {
      const step: Awaited<ReturnType<typeof deliverNext>> = await deliverNext(deps, hook)
      if ('nextCheckMs' in step) {
        nextCheckMs = step.nextCheckMs
        return
      }
      hook = step.hook
    }
    nextCheckMs = hook ? engineTimeMs() : null
  }
  try {
    await deps.stationFaults.isolate('webhooks', stationId, deliver, { signal: deps.signal, part: webhookId })
    return nextCheckMs
  } finally {
    leases.delete(holder)
    if (hook) await releaseHookLease(sql, hook)
  }
}

/**
 * Makes the next delivery of a leased web hook. Returns the web hook as it is then, null without the lease;
 * or when it has to be checked again if nothing is due.
 */
async function deliverNext(
  deps: DeliveryDeps,
  hook: LeasedHook
): Promise<{ hook: LeasedHook | null } | { nextCheckMs: number | null }> {
  const { sql } = deps
  const nowMs = engineTimeMs()
  if (!hook.isEnabled) {
    await cancelDeliveries(sql, hook.id, nowMs)
    return { nextCheckMs: null }
  }
  const policy = getHookType(hook.type).retryPolicy
  const next = chooseNextDelivery(hook.pending, { ...hook, policy }, nowMs)
  await endDeliveries(sql, next, nowMs)
  if (!next.send) return { nextCheckMs: next.nextCheckMs }
  const { id, triggers } = next.send
  const { firstEvent } = hook
  const sent = firstEvent?.deliveryId === id ? firstEvent : await readDeliveryEvent(sql, id)
  if (!sent) return { hook: await readLeasedHook(sql, hook) }
  const { messageId, happenedAtMs } = sent
  const render = () => {
    const happenedAt = Math.floor(happenedAtMs / 1000)
    const nowPlaying = renderEventNowPlaying(sent.state, happenedAtMs, deps.renderer)
    return renderDelivery(deps.secrets, hook, { id: messageId, triggers, happenedAt, nowPlaying }, nowMs)
  }
  const { sending, secrets } = renderOrExplain(deps, hook, render)
  if (sending.kind === 'nothing') {
    await cancelDelivery(sql, id, sending.reason, nowMs)
    return { hook: await readLeasedHook(sql, hook) }
  }
  const host = hostOfDelivery(sending)
  if (deps.hosts.waitingOf(host) >= waitingPerHost) return { nextCheckMs: nowMs + crowdedRetryMs }
  const send = () => deps.hosts.run(() => sendDelivery(sending, messageId, secrets, deps), host)
  const result = sent.traceContext === null ? await send() : await traceAttempt(hook, sent, send)
  attemptsMetric.inc({ outcome: result.fault ?? 'delivered' })
  attemptDurationMetric.observe(result.durationMs / 1_000)
  const finished = { deliveryId: id, attempt: sent.attempts + 1, result }
  if (result.fault === null)
    return { hook: await recordDeliveredAttempt(sql, hook, finished, deliveredOutcome(result.startedAtMs)) }
  if (await recordFailedAttempt(sql, hook, finished, Math.random()))
    deps.log.warn({ hook: hook.id, station: hook.stationId }, 'web hook disabled')
  return { hook: await readLeasedHook(sql, hook) }
}

/** An event that cannot be rendered, because of a value that nobody expected, holds back no later one. */
function renderOrExplain(
  { stationFaults }: DeliveryDeps,
  { id, stationId }: LeasedHook,
  render: () => ReturnType<typeof renderDelivery>
): ReturnType<typeof renderDelivery> {
  try {
    return render()
  } catch (error) {
    stationFaults.note('webhooks', stationId, error, id)
    return {
      sending: noDeliveryContent(`The event cannot be rendered: ${describeError(error)}.`),
      secrets: []
    }
  }
}

/** An attempt as a part of the trace of its change. */
async function traceAttempt(
  { id, stationId, type }: LeasedHook,
  { traceContext, messageId, attempts: before }: NonNullable<LeasedHook['firstEvent']>,
  send: () => Promise<AttemptResult>
): Promise<AttemptResult> {
  const attributes = {
    'cuewire.station.id': stationId,
    'cuewire.webhook.id': id,
    'cuewire.webhook.type': type,
    'cuewire.webhook.message': messageId,
    'cuewire.webhook.attempt': before + 1
  }
  return runInSpan('deliver web hook', { kind: 'client', parent: traceContext, attributes }, async span => {
    const result = await send()
    span?.set({
      'cuewire.webhook.outcome': result.fault ?? 'delivered',
      'http.response.status_code': result.status
    })
    return result
  })
}

/** Limits the requests of this process in flight per host; another one waits. */
export const openHostLimits = (): FairSemaphore => openFairSemaphore({ perOwner: 4 })

/** With more waiting requests to a host, another one is retried later. */
const waitingPerHost = 200
