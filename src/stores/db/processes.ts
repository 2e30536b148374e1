import { randomUUID } from 'node:crypto'

import { fullVersion } from '../../platform/process/program-files.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { engineTime } from '../../platform/runtime/engine-time.ts'
import type { Logger } from '../../platform/runtime/log.ts'
import type { Sql } from './sql.ts'

/** Knows the other processes that use the same Postgres and Redis. */
export interface OtherProcesses {
  /** The schema for writing live states: the newest that every process of the last five minutes can read. */
  readonly schema: () => number
}

/** What a process registers. */
export interface ThisProcess {
  /** `server` or `workers`. */
  readonly kind: string
  readonly readableSchemas: readonly number[]
  /** The schema that it writes if no older release runs. */
  readonly ownSchema: number
  /** Variables that other processes may know. Nothing secret. */
  readonly settings: ShownSettings
}

/** Variables by their names. */
type ShownSettings = Readonly<Record<string, string | number | readonly string[]>>

export interface ProcessRegistration extends OtherProcesses {
  /** Reports that the start has succeeded. Until then the process does not count as running. */
  readonly markReady: () => Promise<void>
  /**
   * Stops the heartbeat, and notes that the process has ended, if Postgres answers. The row stays, because an older
   * release may be started again within minutes.
   */
  readonly stop: () => Promise<void>
}

const heartbeatMs = 5_000
/** A larger clock difference is reported. */
const reportedFromMs = 1_000
const heartbeatTimeoutMs = 4_000
/** A process that was not seen for this long does not run. Other processes allow for 10 to 15. */
const endedSeconds = 15
const endMs = 1_000
const forgottenAfterDays = 1

/**
 * Registers this process with its release and schemas, and renews that every few seconds. While Postgres is
 * unavailable the last known schema is used. Throws if Postgres does not answer now.
 */
export async function registerProcess(
  sql: Sql,
  self: ThisProcess,
  log: Logger
): Promise<ProcessRegistration> {
  const id = randomUUID()
  let schema = self.ownSchema
  let timer: NodeJS.Timeout | null = null
  let isStopped = false

  let isClockOff = false
  const reportClock = (offMs: number) => {
    if (Math.abs(offMs) > reportedFromMs)
      log.warn(
        { off_ms: Math.round(offMs) },
        'the time of Postgres has jumped, or this process stood still; it follows'
      )
    const aheadMs = engineTime.machineAheadMs()
    const isOff = Math.abs(aheadMs) > reportedFromMs
    if (isOff === isClockOff) return
    isClockOff = isOff
    if (isOff)
      log.warn(
        { ahead_ms: Math.round(aheadMs) },
        'the clock of this machine is wrong; the time of Postgres counts'
      )
    else log.info('the clock of this machine is right again')
  }

  let isOutdated = false
  const reportNewer = (newest: number) => {
    const isBeyond = newest > Math.max(...self.readableSchemas)
    if (isBeyond === isOutdated) return
    isOutdated = isBeyond
    if (isBeyond)
      log.error(
        'a newer release runs whose live states this one cannot read; it leaves them alone: upgrade this process'
      )
    else log.info('no newer release runs any more whose live states this one cannot read')
  }

  const beat = async () => {
    const response = await withDeadline(heartbeatTimeoutMs, 'registering the process', () =>
      heartbeat(sql, id, self)
    )
    reportClock(response.offMs)
    reportNewer(response.newest)
    if (response.schema !== schema)
      log.info({ from: schema, to: response.schema }, 'live states are written in another way from now on')
    schema = response.schema
  }
  // Outages are logged by the callers that need Postgres.
  let beating = Promise.resolve()
  const repeatHeartbeat = () => {
    beating = beat()
      .catch(() => {})
      .finally(schedule)
  }
  const schedule = () => {
    if (isStopped) return
    timer = setTimeout(repeatHeartbeat, heartbeatMs * (0.9 + Math.random() / 5))
    timer.unref()
  }

  await beat()
  schedule()
  return {
    schema: () => schema,
    markReady: async () => void (await sql`update processes set is_ready = true where id = ${id}`),
    stop: async () => {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      await withDeadline(endMs, 'noting the end of the process', async () => {
        await beating
        await sql`
          update processes set seen_at = clock_timestamp() - make_interval(secs => ${endedSeconds}) where id = ${id}`
      }).catch(() => {})
    }
  }
}

/** Returns the oldest and newest schema of the last five minutes, and the clock difference. */
async function heartbeat(sql: Sql, id: string, self: ThisProcess) {
  const { kind, readableSchemas, ownSchema, settings } = self
  await sql`
    insert into processes (id, kind, version, readable_schemas, own_schema, is_ready, settings)
    values (${id}, ${kind}, ${fullVersion}, ${[...readableSchemas]}::smallint[], ${ownSchema}, false, ${sql.json({ ...settings })})
    on conflict (id) do update set seen_at = clock_timestamp()`
  const sentAtMs = performance.now()
  const [row] = await sql<{ schema: number | null; newest: number | null; timeMs: number }[]>`
    select min(own_schema)::int as schema, max(own_schema)::int as newest, (extract(epoch from clock_timestamp()) * 1000)::float8 as "timeMs"
    from processes where seen_at > clock_timestamp() - interval '5 minutes'`
  if (!row) throw new Error('Postgres has not said its time')
  const offMs = engineTime.addSample({ sentAtMs, answeredAtMs: performance.now(), timeMs: row.timeMs })
  return { schema: Math.min(row.schema ?? ownSchema, ownSchema), newest: row.newest ?? ownSchema, offMs }
}

/** Removes processes that were not seen for a day. Returns the number. */
export async function removeOldProcesses(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from processes where seen_at < clock_timestamp() - make_interval(days => ${forgottenAfterDays})`
  return count
}
