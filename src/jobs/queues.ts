import { type JobsOptions, Queue } from 'bullmq'
import * as v from 'valibot'

import type { RedisClient } from '../redis/connection.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'

/**
 * The jobs that processes exchange: queue and payload by name. Whoever adds or processes jobs uses these. The
 * braces in a queue's name keep its keys in one slot of a Redis Cluster.
 */
export const jobTypes = {
  /**
   * Ends the play `shId` of a station at `dueAtMs` (Unix milliseconds). Only release 0.1.0 adds it.
   */
  advance: {
    queueName: '{cuewire}advance',
    payload: v.object({
      stationId: v.pipe(v.number(), v.integer()),
      shId: v.pipe(v.number(), v.integer()),
      dueAtMs: v.number()
    })
  },
  /** Sends the due deliveries of a web hook. Deliveries are in Postgres; the relay adds lost jobs again. */
  deliver: {
    queueName: '{cuewire}deliver',
    payload: v.object({ webhookId: v.pipe(v.number(), v.integer()) })
  }
} as const

export type JobName = keyof typeof jobTypes
export type JobPayload<Name extends JobName> = v.InferOutput<(typeof jobTypes)[Name]['payload']>
export type JobQueue<Name extends JobName> = Queue<JobPayload<Name>>

/** Attempts of a job. A failed delivery is retried by the relay. */
const retries: Readonly<Record<JobName, JobsOptions>> = {
  advance: { attempts: 3, backoff: { type: 'exponential', delay: 200, jitter: 0.5 } },
  deliver: { attempts: 1 }
}

/** Opens a queue for adding jobs. Finished and failed jobs are removed, so their id can be added again. */
export function openJobQueue<Name extends JobName>(name: Name, connection: RedisClient): JobQueue<Name> {
  const defaultJobOptions = { removeOnComplete: true, removeOnFail: true, ...retries[name] }
  return new Queue(jobTypes[name].queueName, { connection, defaultJobOptions })
}

/** Adds jobs; a single one, the usual case, without a transaction. */
async function addJobs<Name extends JobName>(
  queue: JobQueue<Name>,
  [only, ...others]: readonly Parameters<JobQueue<Name>['addBulk']>[0][number][]
): Promise<void> {
  if (!only) return
  if (others.length === 0) await queue.add(only.name, only.data, only.opts)
  else await queue.addBulk([only, ...others])
}

/**
 * Schedules web hooks for a time (Unix milliseconds). A second job for the same web hook and time is a no-op.
 */
export async function scheduleDeliveries(
  queue: JobQueue<'deliver'>,
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

/**
 * A stalled job keeps its id for half a minute. With the period in its id, a lost job blocks the next one
 * only this long.
 */
const sameForMs = 4_000

/** Schedules web hooks with due deliveries, at most once in `sameForMs`. */
export async function scheduleDue(queue: JobQueue<'deliver'>, webhookIds: readonly number[]): Promise<void> {
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
