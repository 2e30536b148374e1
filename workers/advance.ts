import { setTimeout as wait } from 'node:timers/promises'

import { Worker } from 'bullmq'
import * as v from 'valibot'

import { advancePayload, advanceQueueName, leadMs } from '../src/jobs/queues.ts'
import { advance } from '../src/playout/advance.ts'
import type { PlayoutServices } from '../src/playout/services.ts'
import { openBlocking } from '../src/redis/connection.ts'
import type { RedisPlace } from '../src/redis/place.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'

/**
 * A step that is early by more than this was moved to later, and has another job; or this process has a wrong
 * time, and the sweep sees to it.
 */
const recheckedWithinMs = 2_000

/** Ends tracks on time: one job per play. */
export function startAdvanceWorker(services: PlayoutServices, redisPlace: RedisPlace): Worker {
  const connection = openBlocking(redisPlace, 'advance')
  // Away and back is reported by the process's own connection.
  connection.on('error', () => {})
  const worker = new Worker(
    advanceQueueName,
    async job => {
      const { stationId, shId, dueAtMs } = v.parse(advancePayload, job.data)
      await waitUntil(dueAtMs)
      const step = () => advance(services, { stationId, endedShId: shId, cause: 'due' })
      const first = await step()
      if (first.outcome !== 'not-due' || first.earlyByMs > recheckedWithinMs) return first.outcome
      // The time of this process is ahead of that of Postgres.
      await wait(first.earlyByMs)
      return (await step()).outcome
    },
    { connection, concurrency: 64, runRetryDelay: 1_000 }
  )
  worker.on('error', error => services.log.debug({ err: error }, 'advance worker'))
  worker.on('failed', (job, error) => services.log.warn({ err: error, job: job?.id }, 'advance failed'))
  worker.on('closed', () => connection.disconnect())
  return worker
}

/** A job comes a little early, see `leadMs`; a timer may come up to a millisecond early. */
async function waitUntil(dueAtMs: number): Promise<void> {
  for (let leftMs = dueAtMs - engineTimeMs(); leftMs > 0; leftMs = dueAtMs - engineTimeMs()) {
    await wait(Math.min(leftMs, 2 * leadMs))
  }
}
