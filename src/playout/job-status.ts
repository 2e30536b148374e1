import type { Job, Queue } from 'bullmq'

import { jobs, lateness, workers } from '../metrics/jobs.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import type { PlayoutServices } from './services.ts'

type JobServices = Pick<PlayoutServices, 'scheduledPlays' | 'advances' | 'deliveries'>

/** The jobs of a queue. `late_ms`: how late the most overdue one is; 0 if none is overdue. */
export type JobStatus = Awaited<ReturnType<typeof readQueue>>

/** Reads the jobs of both queues. Rejects if Redis is unavailable; the caller sets a deadline. */
export async function readJobStatus(services: JobServices): Promise<JobStatus[]> {
  const { scheduledPlays, advances, deliveries } = services
  return Promise.all([readAdvances(scheduledPlays, advances), readQueue('deliver', deliveries)])
}

/** Adds the scheduled plays to the jobs of the previous release. */
async function readAdvances(scheduled: JobServices['scheduledPlays'], queue: Queue) {
  const nowMs = engineTimeMs()
  const [status, plays] = await Promise.all([
    readQueue('advance', queue),
    scheduled.count(nowMs - toleranceMs)
  ])
  const lateMs = plays.overdue > 0 ? nowMs - (plays.earliestMs ?? nowMs) : 0
  return {
    ...status,
    delayed: status.delayed + plays.count,
    overdue: Math.min(status.overdue + plays.overdue, countedJobs),
    late_ms: Math.max(status.late_ms, lateMs)
  }
}

async function readQueue(name: string, queue: Queue) {
  const [connected, counts, late] = await Promise.all([
    queue.getWorkersCount(),
    queue.getJobCounts('waiting', 'active', 'delayed'),
    readLateness(queue)
  ])
  const { waiting = 0, active = 0, delayed = 0 } = counts
  return { name, workers: connected, waiting, active, delayed, ...late }
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
  const found = await queue.getDelayed(0, countedJobs - 1)
  return {
    overdue: found.filter(isOverdue).length,
    late_ms: Math.round(nowMs - first.timestamp - first.delay)
  }
}

/** Adds the jobs of both queues to the metrics of this process. One scrape reads them once. */
export function measureJobs(services: JobServices): void {
  let reading: Promise<JobStatus[]> | null = null
  const read = () =>
    (reading ??= readJobStatus(services).finally(() => {
      reading = null
    }))
  jobs.read = async () => {
    const all = await read()
    return all.flatMap(({ name: queue, waiting, active, delayed, overdue }) => [
      [{ queue, state: 'waiting' }, waiting] as const,
      [{ queue, state: 'active' }, active] as const,
      [{ queue, state: 'delayed' }, delayed] as const,
      [{ queue, state: 'overdue' }, overdue] as const
    ])
  }
  lateness.read = async () =>
    (await read()).map(({ name, late_ms: ms }) => [{ queue: name }, ms / 1_000] as const)
  workers.read = async () =>
    (await read()).map(({ name, workers: count }) => [{ queue: name }, count] as const)
}
