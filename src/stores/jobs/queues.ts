import { type JobsOptions, Queue } from 'bullmq'
import * as v from 'valibot'

import { withDeadline } from '../../platform/runtime/deadline.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { Logger } from '../../platform/runtime/log.ts'
import type { RedisClient } from '../redis/connection.ts'
import { deliverQueue } from '../redis/keys.ts'

/** A job that sends the due deliveries of a web hook. Deliveries are in Postgres; the web hook relay adds lost jobs again. */
export const deliverJobSchema = v.object({ webhookId: v.pipe(v.number(), v.integer()) })

type DeliverJob = v.InferOutput<typeof deliverJobSchema>
export type DeliverQueue = Queue<DeliverJob>

/**
 * Opens the queue for adding jobs. Finished and failed jobs are removed, so their id can be added again. A failed
 * delivery is retried by the web hook relay.
 */
export function openDeliverQueue(connection: RedisClient): DeliverQueue {
  const defaultJobOptions: JobsOptions = { removeOnComplete: true, removeOnFail: true, attempts: 1 }
  return new Queue(deliverQueue, { connection, defaultJobOptions })
}

/** Adds jobs; a single one, the usual case, without a transaction. */
async function addJobs(
  queue: DeliverQueue,
  [only, ...others]: readonly Parameters<DeliverQueue['addBulk']>[0][number][]
): Promise<void> {
  if (!only) return
  if (others.length === 0) await queue.add(only.name, only.data, only.opts)
  else await queue.addBulk([only, ...others])
}

/**
 * Schedules web hooks for a time (Unix milliseconds). A second job for the same web hook and time is a no-op.
 */
export async function scheduleDeliveries(
  queue: DeliverQueue,
  webhookIds: readonly number[],
  atMs: number
): Promise<void> {
  const delay = Math.max(0, Math.ceil(atMs - engineTimeMs()))
  await addJobs(
    queue,
    webhookIds.map(webhookId => ({
      name: 'deliver',
      data: { webhookId },
      opts: { jobId: `${webhookId}-${Math.ceil(atMs)}`, delay }
    }))
  )
}

const enqueueTimeoutMs = 500

/** Enqueues deliveries that were committed. Never rejects: if Redis is unavailable, the relay finds them. */
export async function enqueueDeliveries(
  queue: DeliverQueue,
  webhookIds: readonly number[],
  log: Logger
): Promise<void> {
  if (webhookIds.length === 0) return
  try {
    const add = () => scheduleDeliveries(queue, webhookIds, engineTimeMs())
    await withDeadline(enqueueTimeoutMs, 'enqueuing deliveries of web hooks', add)
  } catch (error) {
    log.warn({ err: error }, 'deliveries of web hooks not enqueued; retrying')
  }
}

/**
 * A stalled job keeps its id for half a minute. With the period in its id, a lost job blocks the next one
 * only this long.
 */
const sameForMs = 4_000

/** Schedules web hooks with due deliveries, at most once in `sameForMs`. */
export async function scheduleDueDeliveries(
  queue: DeliverQueue,
  webhookIds: readonly number[]
): Promise<void> {
  const period = Math.floor(engineTimeMs() / sameForMs)
  await addJobs(
    queue,
    webhookIds.map(webhookId => ({
      name: 'deliver',
      data: { webhookId },
      opts: { jobId: `${webhookId}-due-${period}` }
    }))
  )
}
