import { Queue } from 'bullmq'
import * as v from 'valibot'

import type { RedisClient } from '../redis/connection.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'

/** The queue of track ends. The braces keep its keys in one slot of a Redis Cluster. */
export const advanceQueueName = '{cuewire}advance'

/** End the play `shId` of the station at `dueAtMs` (Unix milliseconds). */
export const advancePayload = v.object({
  stationId: v.pipe(v.number(), v.integer()),
  shId: v.pipe(v.number(), v.integer()),
  dueAtMs: v.number()
})
export type AdvancePayload = v.InferOutput<typeof advancePayload>

/**
 * A job is released this much before its time and its worker waits for the exact millisecond, so that
 * lateness does not depend on Redis' timer cycle (100 ms).
 */
export const leadMs = 120

export type AdvanceQueue = Queue<AdvancePayload>

/**
 * Opens the producing side. Finished and failed jobs leave no trace, so that the same id can be added again.
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
 * Schedules the ends of tracks. The id is station, play and time: adding the same one twice adds nothing, and
 * an end that moved gets another job; the old one finds that nothing is due.
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
  // The usual case is one, and that is one call instead of a transaction.
  if (others.length === 0) await queue.add(only.name, only.data, only.opts)
  else await queue.addBulk(jobs)
}

/** The queue of web hooks that have something to be told. */
export const deliverQueueName = '{cuewire}deliver'

/** Deliver to the hook what is due. */
export const deliverPayload = v.object({ webhookId: v.pipe(v.number(), v.integer()) })
export type DeliverPayload = v.InferOutput<typeof deliverPayload>

export type DeliverQueue = Queue<DeliverPayload>

/**
 * Opens the producing side. A job only says when to look: what is due stands in Postgres, and the relay adds
 * jobs for it again.
 */
export function openDeliverQueue(connection: RedisClient): DeliverQueue {
  return new Queue<DeliverPayload>(deliverQueueName, {
    connection,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 }
  })
}

/** Has hooks looked at, at a time (Unix milliseconds). A second job for the same hook and time is none. */
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
 * A stalled job keeps its id for half a minute: one that was lost with its worker must not stand in the way
 * so long.
 */
const sameForMs = 4_000

/** Has hooks looked at that have something due, once in a few seconds at most. */
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
