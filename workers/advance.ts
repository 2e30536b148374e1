import { setTimeout as wait } from 'node:timers/promises'

import { Worker } from 'bullmq'
import * as v from 'valibot'

import { advancePayload, advanceQueueName, leadMs } from '../src/jobs.ts'
import { advance } from '../src/playout/advance.ts'
import type { PlayoutServices } from '../src/playout/services.ts'
import { openBlocking } from '../src/redis/connection.ts'
import type { RedisPlace } from '../src/redis/place.ts'

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
      const { outcome } = await advance(services, { stationId, endedShId: shId, cause: 'due' })
      return outcome
    },
    { connection, concurrency: 64 }
  )
  worker.on('error', error => services.log.debug({ err: error }, 'advance worker'))
  worker.on('failed', (job, error) => services.log.warn({ err: error, job: job?.id }, 'advance failed'))
  worker.on('closed', () => connection.disconnect())
  return worker
}

/** A job comes a little early, see `leadMs`; a timer may come up to a millisecond early. */
async function waitUntil(dueAtMs: number): Promise<void> {
  for (let leftMs = dueAtMs - Date.now(); leftMs > 0; leftMs = dueAtMs - Date.now()) {
    await wait(Math.min(leftMs, 2 * leadMs))
  }
}
