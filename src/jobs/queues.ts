import { Queue } from 'bullmq'
import * as v from 'valibot'

import type { RedisClient } from '../redis/connection.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'

/** The queue of track ends. The braces keep its keys in one slot of a Redis Cluster. */
export const advanceQueueName = '{cuewire}advance'

/** Ends the play `shId` of a station at `dueAtMs` (Unix milliseconds). */
export const advancePayload = v.object({
  stationId: v.pipe(v.number(), v.integer()),
  shId: v.pipe(v.number(), v.integer()),
  dueAtMs: v.number()
})
export type AdvancePayload = v.InferOutput<typeof advancePayload>

/**
 * Jobs are due this much earlier and workers wait for the exact millisecond, because the timer cycle of Redis
 * takes 100 ms.
 */
export const leadMs = 120

export type AdvanceQueue = Queue<AdvancePayload>

/**
 * Opens the queue for adding jobs. Finished and failed jobs are removed, so that their id can be added again.
 */
export function openAdvanceQueue(connection: RedisClient): AdvanceQueue {
  return new Queue<AdvancePayload>(advanceQueueName, {
    connection,
    defaultJobOptions: {
      removeOnComplete: true,
      removeOnFail: true,
      attempts: 3,
      backoff: { type: 'exponential', delay: 200, jitter: 0.5 }
    }
  })
}

/**
 * Schedules the ends of tracks. The job id is station, play and time: adding the same one again is a no-op.
 * If an end moves, the old job finds nothing due.
 */
export async function scheduleAdvances(
  queue: AdvanceQueue,
  payloads: readonly AdvancePayload[]
): Promise<void> {
  const nowMs = engineTimeMs()
  const jobs = payloads.map(data => ({
    name: 'advance',
    data,
    opts: {
      jobId: `${data.stationId}-${data.shId}-${data.dueAtMs}`,
      delay: Math.max(0, data.dueAtMs - leadMs - nowMs)
    }
  }))
  const [only, ...others] = jobs
  if (!only) return
  // A single job, the usual case, needs no transaction.
  if (others.length === 0) await queue.add(only.name, only.data, only.opts)
  else await queue.addBulk(jobs)
}

/** The queue of web hooks with due deliveries. */
export const deliverQueueName = '{cuewire}deliver'

/** Sends the due deliveries of a web hook. */
export const deliverPayload = v.object({ webhookId: v.pipe(v.number(), v.integer()) })
export type DeliverPayload = v.InferOutput<typeof deliverPayload>

export type DeliverQueue = Queue<DeliverPayload>

/**
 * Opens the queue for adding jobs. A job only sets a time: deliveries are in Postgres, and the relay adds
 * lost jobs again.
 */
export function openDeliverQueue(connection: RedisClient): DeliverQueue {
  return new Queue<DeliverPayload>(deliverQueueName, {
    connection,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 }
  })
}

/**
 * Schedules web hooks for a time (Unix milliseconds). A second job for the same web hook and time is a no-op.
 */
export async function scheduleDeliveries(
  queue: DeliverQueue,
  webhookIds: readonly number[],
  atMs: number
): Promise<void> {
  if (webhookIds.length === 0) return
  const delay = Math.max(0, Math.ceil(atMs - engineTimeMs()))
  await queue.addBulk(
    webhookIds.map(webhookId => ({
      name: 'deliver',
      data: { webhookId },
      opts: { jobId: `${webhookId}-${Math.ceil(atMs)}`, delay }
    }))
  )
}

/**
 * A stalled job keeps its id for half a minute. With the period in its id, a lost job blocks the next one
 * only this long.
 */
const sameForMs = 4_000

/** Schedules web hooks with due deliveries, at most once in `sameForMs`. */
export async function scheduleDue(queue: DeliverQueue, webhookIds: readonly number[]): Promise<void> {
  if (webhookIds.length === 0) return
  const period = Math.floor(engineTimeMs() / sameForMs)
  await queue.addBulk(
    webhookIds.map(webhookId => ({
      name: 'deliver',
      data: { webhookId },
      opts: { jobId: `${webhookId}-due-${period}` }
    }))
  )
}
