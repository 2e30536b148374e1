import type { Queue } from 'bullmq'

import type { RedisClient } from '../../redis/connection.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { StoreAway } from '../../runtime/errors.ts'
import { succeeded, successSchema } from '../auth/account.ts'
import type { ApiRoute } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'

const timeoutMs = 2_000

const whole = { type: 'integer', format: 'int64' }

const queues: ApiRoute = {
  method: 'GET',
  path: '/api/queues',
  access: 'view administration',
  operation: {
    id: 'getQueues',
    tag: 'Status',
    summary: 'Whether workers are there, and what they have to do',
    answer: successSchema({
      queues: {
        type: 'array',
        items: exactly({
          name: {
            type: 'string',
            enum: ['advance', 'deliver'],
            description: 'advance: songs that end; deliver: web hooks that have news.'
          },
          workers: { ...whole, description: 'Processes that work on it; 0: nobody does.' },
          waiting: { ...whole, description: 'Jobs that could be done now.' },
          active: { ...whole, description: 'Jobs that are being done.' },
          delayed: { ...whole, description: 'Jobs that have a time.' },
          overdue: { ...whole, description: 'Those of them whose time went by more than two seconds ago.' },
          late_ms: {
            ...whole,
            description: 'By how much the most overdue one is late, in milliseconds; else 0.'
          }
        })
      }
    }),
    errors: [503]
  },
  async handle(_, { redis, advances, deliveries }) {
    const look = () =>
      Promise.all([standing(redis, 'advance', advances), standing(redis, 'deliver', deliveries)])
    const found = await withDeadline(timeoutMs, 'looking at the queues', look).catch(() => {
      throw new StoreAway()
    })
    return succeeded({ queues: found })
  }
}

async function standing(redis: RedisClient, name: string, queue: Queue) {
  const [workers, counts, late] = await Promise.all([
    queue.getWorkersCount(),
    queue.getJobCounts('waiting', 'active', 'delayed'),
    lateness(redis, queue.toKey('delayed'))
  ])
  const { waiting = 0, active = 0, delayed = 0 } = counts
  return { name, workers, waiting, active, delayed, ...late }
}

/** BullMQ orders delayed jobs by their time in milliseconds times this. */
const scorePerMs = 0x1000
const punctualMs = 2_000

/** Workers may be connected and do nothing: only what should have been done long ago tells. */
async function lateness(redis: RedisClient, key: string): Promise<{ overdue: number; late_ms: number }> {
  const nowMs = engineTimeMs()
  const latest = String((nowMs - punctualMs) * scorePerMs)
  const [overdue, [, score]] = await Promise.all([
    redis.zcount(key, '-inf', latest),
    redis.zrange(key, '0', '0', 'WITHSCORES')
  ])
  if (overdue === 0 || score === undefined) return { overdue: 0, late_ms: 0 }
  return { overdue, late_ms: Math.round(nowMs - Number(score) / scorePerMs) }
}

export const queuesRoutes = [queues]
