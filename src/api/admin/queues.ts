import type { Job, Queue } from 'bullmq'

import type { PlayoutServices } from '../../playout/services.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { StoreOffline } from '../../runtime/errors.ts'
import { successReply, successSchema } from '../auth/account.ts'
import { apiRoute } from '../core/route.ts'
import { arrayOf, exactly, int64, string } from '../core/schemas.ts'

const timeoutMs = 2_000

export const queuesRoute = apiRoute('GET', '/api/queues', 'view administration', {
  id: 'getQueues',
  tag: 'Status',
  summary: 'Workers and pending jobs',
  answer: successSchema({
    queues: arrayOf(
      exactly({
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
  async handle(_, { scheduledPlays, advances, deliveries }) {
    const read = () => Promise.all([readAdvances(scheduledPlays, advances), readQueue('deliver', deliveries)])
    const found = await withDeadline(timeoutMs, 'reading the queues', read).catch(() => {
      throw new StoreOffline()
    })
    return successReply({ queues: found })
  }
})

/** Adds the scheduled plays to the jobs of the previous release. */
async function readAdvances(scheduled: PlayoutServices['scheduledPlays'], queue: Queue) {
  const nowMs = engineTimeMs()
  const [jobs, plays] = await Promise.all([readQueue('advance', queue), scheduled.count(nowMs - toleranceMs)])
  const lateMs = plays.overdue > 0 ? nowMs - (plays.earliestMs ?? nowMs) : 0
  return {
    ...jobs,
    delayed: jobs.delayed + plays.count,
    overdue: Math.min(jobs.overdue + plays.overdue, countedJobs),
    late_ms: Math.max(jobs.late_ms, lateMs)
  }
}

async function readQueue(name: string, queue: Queue) {
  const [workers, counts, late] = await Promise.all([
    queue.getWorkersCount(),
    queue.getJobCounts('waiting', 'active', 'delayed'),
    readLateness(queue)
  ])
  const { waiting = 0, active = 0, delayed = 0 } = counts
  return { name, workers, waiting, active, delayed, ...late }
}

/** A job that is late by less is on time. */
const toleranceMs = 2_000

/** Maximum number of overdue jobs that are counted. */
const countedJobs = 1_000

/** How many delayed jobs are overdue, which shows workers that are connected but do nothing. */
async function readLateness(queue: Queue): Promise<{ overdue: number; late_ms: number }> {
  const nowMs = engineTimeMs()
  const isOverdue = ({ timestamp, delay }: Job) => timestamp + delay < nowMs - toleranceMs
  const [first] = await queue.getDelayed(0, 0)
  if (!first || !isOverdue(first)) return { overdue: 0, late_ms: 0 }
  const jobs = await queue.getDelayed(0, countedJobs - 1)
  return {
    overdue: jobs.filter(isOverdue).length,
    late_ms: Math.round(nowMs - first.timestamp - first.delay)
  }
}
