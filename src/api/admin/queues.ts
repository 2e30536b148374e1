import { readJobStatus } from '../../engine/job-status.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { StoreOffline } from '../../platform/runtime/errors.ts'
import { accountLevelReply, accountLevelSchema } from '../auth/account-level-replies.ts'
import { apiRoute } from '../core/route.ts'
import { arrayOf, exactObject, int64, string } from '../core/schemas.ts'

const timeoutMs = 2_000

export const jobQueuesRoute = apiRoute('GET', '/api/queues', 'view administration', {
  id: 'getQueues',
  tag: 'Status',
  summary: 'Workers and pending jobs',
  response: accountLevelSchema({
    queues: arrayOf(
      exactObject({
        name: {
          ...string,
          enum: ['advance', 'deliver'],
          description: 'advance: ends of songs; deliver: web hooks with due deliveries.'
        },
        workers: { ...int64, description: 'Connected worker processes.' },
        waiting: { ...int64, description: 'Jobs that are ready to run.' },
        active: { ...int64, description: 'Jobs that are running.' },
        delayed: { ...int64, description: 'Jobs that are scheduled for later.' },
        overdue: {
          ...int64,
          description: 'Scheduled jobs that are late by more than two seconds; at most 1,000 are counted.'
        },
        late_ms: {
          ...int64,
          description: 'How late the most overdue job is, in milliseconds; 0 if none is overdue.'
        }
      })
    )
  }),
  errors: [503],
  async handle(_, services) {
    const read = () => readJobStatus(services)
    const found = await withDeadline(timeoutMs, 'reading the queues', read).catch(() => {
      throw new StoreOffline()
    })
    return accountLevelReply({ queues: found })
  }
})
