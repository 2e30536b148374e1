import { setMaxListeners } from 'node:events'

import { Worker } from 'bullmq'
import * as v from 'valibot'

import type { Config } from '../src/config.ts'
import { deliverPayload, deliverQueueName, scheduleDeliveries, scheduleDue } from '../src/jobs/queues.ts'
import type { PlayoutServices } from '../src/playout/services.ts'
import { writeStatusEvents } from '../src/playout/triggers.ts'
import { openBlocking } from '../src/redis/connection.ts'
import type { RedisPlace } from '../src/redis/place.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'
import { repeat, type Repetition } from '../src/runtime/repeat.ts'
import type { Secrets } from '../src/security/secrets.ts'
import { deliver, type DeliveryDeps, HostLimits } from '../src/webhooks/deliveries/deliver.ts'
import { dueHooks, extendLeases, pullHooksBack } from '../src/webhooks/deliveries/leases.ts'
import { openSendDeps } from '../src/webhooks/deliveries/send.ts'

/** How many hooks are delivered to at once; most of the time they wait for receivers. */
const concurrency = 500
const relayMs = 1_000
const prolongMs = 2_000
const dueAtOnce = 2_000
/** How long a request that is under way may go on once the process stops. */
const graceMs = 2_500

/**
 * Delivers to web hooks: jobs name the web hook to check, and a relay looks every second for web hooks with
 * due deliveries and no job.
 */
export function startWebhooks(
  services: PlayoutServices,
  { config, secrets, redisPlace }: { config: Config; secrets: Secrets; redisPlace: RedisPlace }
): Repetition {
  const { sql, log, deliveries } = services
  const ending = new AbortController()
  let isStopping = false
  const parts: DeliveryDeps = {
    sql,
    log,
    secrets,
    baseUrl: config.BASE_URL,
    ...openSendDeps(config),
    hosts: new HostLimits(),
    leases: new Map(),
    signal: ending.signal
  }
  // One listener for each request that is under way.
  setMaxListeners(0, ending.signal)
  const connection = openBlocking(redisPlace, 'deliver')
  connection.on('error', () => {})
  const worker = new Worker(
    deliverQueueName,
    async job => {
      const { webhookId } = v.parse(deliverPayload, job.data)
      const lookAtMs = await deliver(parts, webhookId, () => isStopping)
      if (lookAtMs !== null && !isStopping) await scheduleDeliveries(deliveries, [webhookId], lookAtMs)
    },
    { connection, concurrency, runRetryDelay: 1_000 }
  )
  worker.on('error', error => log.debug({ err: error }, 'delivery worker'))
  worker.on('failed', (job, error) => {
    if (!isStopping) log.warn({ err: error, job: job?.id }, 'delivery failed; retrying')
  })
  worker.on('closed', () => connection.disconnect())

  const failure = 'web hook relay failed'
  const relay = repeat(
    async () => {
      const nowMs = engineTimeMs()
      await writeStatusEvents(services, nowMs)
      await pullHooksBack(sql, nowMs)
      await scheduleDue(deliveries, await dueHooks(sql, nowMs, dueAtOnce))
    },
    { pauseMs: relayMs, log, failure }
  )
  const prolonging = repeat(
    async () => {
      if (parts.leases.size > 0) await extendLeases(sql, parts.leases, engineTimeMs())
    },
    { pauseMs: prolongMs, log, failure }
  )

  return {
    stop: async () => {
      isStopping = true
      const timer = setTimeout(() => ending.abort(new Error('the process stops')), graceMs)
      await relay.stop()
      await worker.close()
      await prolonging.stop()
      clearTimeout(timer)
    }
  }
}
