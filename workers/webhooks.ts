import { setMaxListeners } from 'node:events'

import { type Job, Worker } from 'bullmq'
import * as v from 'valibot'

import type { Config } from '../src/config.ts'
import type { EngineServices } from '../src/engine/services.ts'
import { writeStatusEvents } from '../src/engine/status-events.ts'
import { openStationRenderer } from '../src/model/station/renderer.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import type { Logger } from '../src/platform/runtime/log.ts'
import { repeatWork } from '../src/platform/runtime/repeat.ts'
import { deliverJobSchema, scheduleDeliveries, scheduleDueDeliveries } from '../src/stores/jobs/queues.ts'
import { openBlockingRedis } from '../src/stores/redis/connection.ts'
import { deliverQueue } from '../src/stores/redis/keys.ts'
import type { RedisPlace } from '../src/stores/redis/redis-place.ts'
import type { Secrets } from '../src/stores/secrets/secrets.ts'
import { deliverDue, type DeliveryDeps, openHostLimits } from '../src/webhooks/deliveries/deliver.ts'
import { readDueHooks, extendHookLeases, pullBackHookTimes } from '../src/webhooks/deliveries/leases.ts'
import { openSendDeps } from '../src/webhooks/deliveries/send.ts'

/** Web hooks delivered to at once; most deliveries wait for the receiver. */
const concurrency = 500
const extendLeasesMs = 2_000
const maxDueHooks = 2_000
/** How long requests in flight may take once the process stops. */
const graceMs = 2_500

/** Writes the events of stations that went on or off the air, and enqueues due deliveries without a job. */
export async function enqueueDueDeliveries(services: EngineServices): Promise<void> {
  const { sql, deliveries } = services
  const nowMs = engineTimeMs()
  await writeStatusEvents(services, nowMs)
  await pullBackHookTimes(sql, nowMs)
  await scheduleDueDeliveries(deliveries, await readDueHooks(sql, nowMs, maxDueHooks))
}

/** Delivers to web hooks: at once what this process has committed, by jobs what others have. */
export function startWebhookWorker(
  services: EngineServices,
  { config, secrets, redisPlace }: { config: Config; secrets: Secrets; redisPlace: RedisPlace }
) {
  const { sql, log, deliveries } = services
  const ending = new AbortController()
  let isStopping = false
  const parts: DeliveryDeps = {
    sql,
    log,
    stationFaults: services.stationFaults,
    secrets,
    renderer: openStationRenderer(config.API_DIALECT, config.BASE_URL),
    ...openSendDeps(config),
    hosts: openHostLimits(),
    leases: new Map(),
    signal: ending.signal
  }
  // Each request in flight adds a listener.
  setMaxListeners(0, ending.signal)
  const deliverTo = async (webhookId: number) => {
    const lookAtMs = await deliverDue(parts, webhookId, () => isStopping)
    if (lookAtMs !== null && !isStopping) await scheduleDeliveries(deliveries, [webhookId], lookAtMs)
  }
  const onFailed = (error: unknown, job?: string) => {
    if (!isStopping) log.warn({ err: error, job }, 'delivery failed; retrying')
  }
  const worker = openDeliverWorker(redisPlace, log, deliverTo)
  worker.on('failed', (job, error) => onFailed(error, job?.id))
  const inFlight = new Set<Promise<void>>()

  const leases = repeatWork(
    async () => {
      if (parts.leases.size > 0) await extendHookLeases(sql, parts.leases, engineTimeMs())
    },
    { pauseMs: extendLeasesMs, log, failure: 'extending leases of web hooks failed' }
  )

  /** Returns false if it cannot. */
  function deliverNow(webhookId: number): boolean {
    if (isStopping || inFlight.size >= concurrency) return false
    const delivery = deliverTo(webhookId)
      .catch(onFailed)
      .finally(() => inFlight.delete(delivery))
    inFlight.add(delivery)
    return true
  }

  return {
    /** As in `EngineServices`, but delivers in this process, without a job, where it can. */
    dispatchDeliveries: (webhookIds: readonly number[]) =>
      services.dispatchDeliveries(webhookIds.filter(webhookId => !deliverNow(webhookId))),
    stop: async () => {
      isStopping = true
      const timer = setTimeout(() => ending.abort(new Error('the process stops')), graceMs)
      await Promise.all([worker.close(), ...inFlight])
      await leases.stop()
      clearTimeout(timer)
    }
  }
}

/** Runs the jobs of the queue on a connection of its own. */
function openDeliverWorker(
  redisPlace: RedisPlace,
  log: Logger,
  deliver: (webhookId: number) => Promise<void>
) {
  const connection = openBlockingRedis(redisPlace)
  // Outages are reported by the main connection of the process.
  connection.on('error', () => {})
  const process = async ({ data }: Job) => deliver(v.parse(deliverJobSchema, data).webhookId)
  const worker = new Worker(deliverQueue, process, { connection, concurrency, runRetryDelay: 1_000 })
  worker.on('error', error => log.debug({ err: error }, 'deliver worker'))
  worker.on('closed', () => connection.disconnect())
  return worker
}
