import { setTimeout as sleep } from 'node:timers/promises'

import { jobLeadMs } from '../src/jobs/queues.ts'
import { advance } from '../src/playout/advance.ts'
import type { PlayoutServices } from '../src/playout/services.ts'
import type { RedisPlace } from '../src/redis/place.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'
import { openQueueWorker } from './queue-worker.ts'

/** An advance that is earlier has another job, or the time of this process is wrong: the sweep repairs it. */
const maxEarlyMs = 2_000

/** Ends plays on time; one job per play. */
export function startAdvanceWorker(services: PlayoutServices, redisPlace: RedisPlace) {
  const { log } = services
  return openQueueWorker('advance', redisPlace, log, {
    concurrency: 64,
    process: async ({ stationId, shId, dueAtMs }) => {
      await waitUntil(dueAtMs)
      const step = () => advance(services, { stationId, endedShId: shId, cause: 'due' })
      const first = await step()
      if (first.outcome !== 'not-due' || first.earlyByMs > maxEarlyMs) return first.outcome
      // The time of this process is ahead of that of Postgres.
      await sleep(first.earlyByMs)
      return (await step()).outcome
    },
    onFailed: (error, job) => log.warn({ err: error, job }, 'advance failed')
  })
}

/** A job starts `jobLeadMs` early, and a timer may fire up to a millisecond early. */
async function waitUntil(dueAtMs: number): Promise<void> {
  for (let leftMs = dueAtMs - engineTimeMs(); leftMs > 0; leftMs = dueAtMs - engineTimeMs()) {
    await sleep(Math.min(leftMs, 2 * jobLeadMs))
  }
}
