import type { Job } from 'bullmq'

import { jobsMetric, jobLatenessMetric, jobWorkersMetric } from '../platform/metrics/jobs.ts'
import { openSingleFlight } from '../platform/runtime/coalesce.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import type { DeliverQueue } from '../stores/jobs/queues.ts'
import type { EngineServices } from './services.ts'

type JobServices = Pick<EngineServices, 'scheduledPlays' | 'deliveries'>

/** The jobs of a kind. `late_ms`: how late the most overdue one is; 0 if none is overdue. */
export type JobStatus = Awaited<ReturnType<typeof readDeliveries>>

/** Reads the jobs of both kinds. Rejects if Redis is unavailable; the caller sets a deadline. */
export async function readJobStatus({ scheduledPlays, deliveries }: JobServices): Promise<JobStatus[]> {
  const [{ name, ...plays }, delivering] = await Promise.all([
    readPlays(scheduledPlays),
    readDeliveries(deliveries)
  ])
  // Each process that delivers ends songs as well.
  return [{ name, workers: delivering.workers, ...plays }, delivering]
}

async function readPlays(scheduled: JobServices['scheduledPlays']): Promise<Omit<JobStatus, 'workers'>> {
  const nowMs = engineTimeMs()
  const { count, overdue, earliestMs } = await scheduled.count(nowMs - toleranceMs)
  return {
    name: 'advance',
    waiting: 0,
    active: 0,
    delayed: count,
    overdue: Math.min(overdue, countedJobs),
    late_ms: overdue > 0 ? nowMs - (earliestMs ?? nowMs) : 0
  }
}

async function readDeliveries(queue: DeliverQueue) {
  const [connected, counts, late] = await Promise.all([
    queue.getWorkersCount(),
    queue.getJobCounts('waiting', 'active', 'delayed'),
    readLateness(queue)
  ])
  const { waiting = 0, active = 0, delayed = 0 } = counts
  return { name: 'deliver', workers: connected, waiting, active, delayed, ...late }
}

/** A job that is late by less is on time. */
const toleranceMs = 2_000

/** Maximum number of overdue jobs that are counted. */
const countedJobs = 1_000

/** How many delayed jobs are overdue, which shows workers that are connected but do nothing. */
async function readLateness(queue: DeliverQueue): Promise<{ overdue: number; late_ms: number }> {
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

/** Adds the jobs of both kinds to the metrics of this process. One scrape reads them once. */
export function registerJobMetrics(services: JobServices): void {
  const readOnce = openSingleFlight<JobStatus[]>()
  const read = () => readOnce(() => readJobStatus(services))
  jobsMetric.read = async () => {
    const all = await read()
    return all.flatMap(({ name: queue, waiting, active, delayed, overdue }) => [
      [{ queue, state: 'waiting' }, waiting] as const,
      [{ queue, state: 'active' }, active] as const,
      [{ queue, state: 'delayed' }, delayed] as const,
      [{ queue, state: 'overdue' }, overdue] as const
    ])
  }
  jobLatenessMetric.read = async () =>
    (await read()).map(({ name, late_ms: ms }) => [{ queue: name }, ms / 1_000] as const)
  jobWorkersMetric.read = async () =>
    (await read()).map(({ name, workers: count }) => [{ queue: name }, count] as const)
}
