import { Worker } from 'bullmq'
import * as v from 'valibot'

import { openBlocking } from '../src/redis/connection.ts'
import type { RedisPlace } from '../src/redis/place.ts'
import type { Logger } from '../src/runtime/log.ts'

export interface QueueWorkerOptions<Schema extends v.GenericSchema> {
  readonly queueName: string
  /** For connections and log lines. */
  readonly name: string
  readonly payload: Schema
  readonly concurrency: number
  /** Processes a job. The return value is stored nowhere. */
  readonly process: (payload: v.InferOutput<Schema>) => Promise<unknown>
  /** Called when a job fails; BullMQ retries it. */
  readonly onFailed: (error: Error, jobId: string | undefined) => void
}

/** Runs the jobs of a queue on a connection of its own. */
export function openQueueWorker<Schema extends v.GenericSchema>(
  redisPlace: RedisPlace,
  log: Logger,
  { queueName, name, payload, concurrency, process, onFailed }: QueueWorkerOptions<Schema>
): Worker {
  const connection = openBlocking(redisPlace, name)
  // Outages are reported by the main connection of the process.
  connection.on('error', () => {})
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
