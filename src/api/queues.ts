import type { Queue } from 'bullmq'

import { withDeadline } from '../deadline.ts'
import { ApiError } from '../errors.ts'
import { succeeded, successSchema } from './account.ts'
import type { ApiRoute } from './route.ts'
import { exactly } from './schemas.ts'

const patienceMs = 2_000

const whole = { type: 'integer', format: 'int64' }

const queues: ApiRoute = {
  method: 'GET',
  path: '/api/queues',
  access: 'any key',
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
          delayed: { ...whole, description: 'Jobs whose time will come.' }
        })
      }
    }),
    errors: [503]
  },
  async handle(_, { advances, deliveries }) {
    const look = () => Promise.all([standing('advance', advances), standing('deliver', deliveries)])
    const found = await withDeadline(patienceMs, 'looking at the queues', look).catch(() => {
      throw new ApiError('unavailable', 'Redis does not tell how the queues are: try again later.')
    })
    return succeeded({ queues: found })
  }
}

async function standing(name: string, queue: Queue) {
  const [workers, counts] = await Promise.all([
    queue.getWorkersCount(),
    queue.getJobCounts('waiting', 'active', 'delayed')
  ])
  const { waiting = 0, active = 0, delayed = 0 } = counts
  return { name, workers, waiting, active, delayed }
}

export const queuesRoutes = [queues]
