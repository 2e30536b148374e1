import { Worker } from 'bullmq'
import * as v from 'valibot'

import { type JobName, type JobPayload, jobTypes } from '../src/jobs/queues.ts'
import { openBlocking } from '../src/redis/connection.ts'
import type { RedisPlace } from '../src/redis/place.ts'
import type { Logger } from '../src/runtime/log.ts'

interface QueueWorkerOptions<Name extends JobName> {
  readonly concurrency: number
  /** Processes a job. The return value is stored nowhere. */
  readonly process: (payload: JobPayload<Name>) => Promise<unknown>
  /** Called when a job fails; BullMQ retries it. */
  readonly onFailed: (error: Error, jobId: string | undefined) => void
}

/** Runs the jobs of a queue on a connection of its own. */
export function openQueueWorker<Name extends JobName>(
  name: Name,
  redisPlace: RedisPlace,
  log: Logger,
  { concurrency, process, onFailed }: QueueWorkerOptions<Name>
): Worker {
  const connection = openBlocking(redisPlace, name)
  // Outages are reported by the main connection of the process.
  connection.on('error', () => {})
  const { queueName, payload }: (typeof jobTypes)[Name] = jobTypes[name]
  const worker = new Worker(queueName, async job => process(v.parse(payload, job.data)), {
    connection,
    concurrency,
    runRetryDelay: 1_000
  })
  worker.on('error', error => log.debug({ err: error }, `${name} worker`))
  worker.on('failed', (job, error) => onFailed(error, job?.id))
  worker.on('closed', () => connection.disconnect())
  return worker
}
