import type { Config } from '../src/config.ts'
import type { EngineServices } from '../src/engine/services.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import { repeatWork } from '../src/platform/runtime/repeat.ts'
import type { DescribeListener } from '../src/radio/listener-details.ts'
import type { RetentionDays } from '../src/stores/db/retention.ts'
import type { Sql } from '../src/stores/db/sql.ts'
import type { Secrets } from '../src/stores/secrets/secrets.ts'

/** What tasks work with. */
export interface TaskServices extends EngineServices {
  readonly config: Config
  readonly secrets: Secrets
  readonly describeListener: DescribeListener
}

/** A row of the table of repairs in `docs/architecture.md`. */
export interface TaskRepair {
  /** What differs from what. */
  readonly when: string
  /** How long it may differ. */
  readonly within: string
  readonly mends: string
}

/** Work that each workers process repeats, beside others: it is idempotent, or takes a lease. */
export type WorkerTask = (Loop | TimedRun | Retention) & {
  readonly name: string
  /** Set if the task makes up for what was lost when a process or store failed. */
  readonly repairs?: TaskRepair
}

/** Runs all the time. */
interface Loop {
  readonly pauseMs: number
  /** The log message of the first failure in a row, which ends with `; retrying`. */
  readonly failure: string
  /** Called once. Returns what each run does, and null if this process does not do it. */
  readonly open: (services: TaskServices) => TaskLoop | LoopWithEnd | null
}

/** May return the milliseconds until the next run. */
export type TaskLoop = (signal: AbortSignal) => Promise<number | void>

interface LoopWithEnd {
  readonly run: TaskLoop
  /** Called once, after the last run. */
  readonly end: () => Promise<void>
}

/** Runs at times of the clock. */
interface Timed {
  /** A cron expression: seconds (optional), minutes, hours, days, months, days of the week; UTC. */
  readonly at: string
  /** Maximum random delay; a minute by default. */
  readonly jitterMs?: number
}

interface TimedRun extends Timed {
  /** May return the number of records it changed. */
  readonly run: (services: TaskServices, nowMs: number) => Promise<number | void>
}

/** Rows that get old. */
interface Retention extends Timed {
  /** Returns the number of rows it removed. */
  readonly remove: (sql: Sql, nowMs: number, days: RetentionDays) => Promise<number>
}

/** Starts tasks. Stopping them waits for the runs in flight. */
export function startWorkerTasks(tasks: readonly WorkerTask[], services: TaskServices) {
  const started = tasks.flatMap(task =>
    'at' in task ? startTimed(task, services) : startLoop(task, services)
  )
  return { stop: async () => void (await Promise.all(started.map(async ({ stop }) => stop()))) }
}

function startLoop({ open, pauseMs, failure }: Loop, services: TaskServices) {
  const opened = open(services)
  if (opened === null) return []
  const { run, end } = typeof opened === 'function' ? { run: opened, end: undefined } : opened
  return [repeatWork(run, { pauseMs, log: services.log, failure, onStopped: end })]
}

function startTimed(task: (TimedRun | Retention) & WorkerTask, services: TaskServices) {
  const { name, at, jitterMs = 60_000 } = task
  const { sql, config, log } = services
  const run = async () => {
    const nowMs = engineTimeMs()
    const records = await ('remove' in task ? task.remove(sql, nowMs, config) : task.run(services, nowMs))
    if (records) log.info({ records }, name)
  }
  return [repeatWork(run, { at, jitterMs, log, failure: `${name} failed` })]
}
