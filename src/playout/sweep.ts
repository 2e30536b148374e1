import type { Fragment } from '../db/sql.ts'
import { lastSweep, repairs, sweepDuration } from '../metrics/engine.ts'
import { forEachConcurrently } from '../runtime/concurrency.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import { advance } from './advance.ts'
import { raiseRevisionBatch } from './all-stations.ts'
import type { StateComparison } from './compare-states.ts'
import { sendInterrupts } from './playouts/interrupts.ts'
import { endTimedOutPlays } from './playouts/time-out.ts'
import { repairStates } from './publish.ts'
import { maxClockErrorMs } from './pull-back.ts'
import { skipLocked } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import { openStationRotation, type StationRotation } from './station-rotation.ts'

/** A play is overdue if its job should have ended it this long ago. */
const graceMs = 700

/** Maximum number of advances at a time. */
const concurrency = 8
const chunk = 500
const rounds = 10

/**
 * Repairs what jobs and publications have missed. `comparison` finds the stations whose live state differs
 * from the facts, `rotation` chooses the silent stations that may begin to play. Call it every second, in any
 * number of processes. Rejects between two steps once `signal` is aborted.
 */
export async function sweep(
  services: PlayoutServices,
  comparison: StateComparison,
  rotation = openStationRotation(),
  signal?: AbortSignal
) {
  const startedAtMs = performance.now()
  // Facts first: plays go on while Redis is away. A station far behind takes several steps to catch up.
  for (let round = 0; round < rounds && (await endOverdue(services, signal)) > 0; round++);
  await pullBackEarly(services, signal)
  await wakeSilent(services, rotation, signal)
  await sendInterrupts(services, engineTimeMs())
  await endTimedOutPlays(services, { nowMs: engineTimeMs(), upForMs: process.uptime() * 1000 })
  for (let round = 0; round < rounds && (await raiseRevisionBatch(services.sql)).length > 0; round++);
  const { lasting, faults } = await comparison.compare()
  await publishInChunks(services, lasting)
  if (faults.length > 0) throw faults[0]
  lastSweep.endedAtMs = performance.now()
  sweepDuration.observe((lastSweep.endedAtMs - startedAtMs) / 1_000)
}

function endOverdue(services: PlayoutServices, signal?: AbortSignal): Promise<number> {
  const overdue = services.sql`h.due_at_ms < ${engineTimeMs() - graceMs} order by h.due_at_ms`
  return advancePlays(services, 'overdue', overdue, signal)
}

/** Advances stations whose current play begins after now, which pulls it back to now. */
function pullBackEarly(services: PlayoutServices, signal?: AbortSignal): Promise<number> {
  const isEarly = services.sql`h.started_at_ms > ${engineTimeMs() + maxClockErrorMs} order by h.started_at_ms`
  return advancePlays(services, 'early', isEarly, signal)
}

/**
 * Advances stations whose current play meets a condition, and returns how many there are. With an order and a literal
 * limit, Postgres plans to read the end of an index instead of all current plays.
 */
async function advancePlays(
  services: PlayoutServices,
  kind: 'overdue' | 'early',
  isMet: Fragment,
  signal?: AbortSignal
) {
  const rows = await services.sql<{ stationId: number; endedShId: number }[]>`
    select h.station_id as "stationId", h.id as "endedShId"
    from song_history h join stations s on s.id = h.station_id
    where h.ended_at_ms is null and ${isMet} ${services.sql.unsafe(`limit ${chunk}`)} ${skipLocked(services.sql)}`
  const repair = async (row: (typeof rows)[number]) => {
    const { outcome } = await advance(services, { ...row, cause: 'due' })
    if (outcome === 'advanced') repairs[kind]++
  }
  await forEachConcurrently(rows, concurrency, repair, signal)
  return rows.length
}

async function wakeSilent(
  services: PlayoutServices,
  rotation: StationRotation,
  signal?: AbortSignal
): Promise<void> {
  const { sql } = services
  const nowMs = engineTimeMs()
  const { isChosen, complete } = await rotation.begin(
    sql,
    sql`select id from stations where wake_at_ms <= ${nowMs}`
  )
  const rows = await services.sql<{ id: number }[]>`
    select s.id from stations s left join libraries l on l.station_id = s.id
    where s.is_enabled and s.backend = 'clock' and ${isChosen}
      and not exists (select from song_history h where h.station_id = s.id and h.ended_at_ms is null)
      and (s.wake_at_ms <= ${nowMs} or s.wake_version <> coalesce(l.version, 0)
        or exists (select from queue q where q.station_id = s.id and q.played_at_ms is null and q.skipped_at_ms is null))
    limit ${chunk} ${skipLocked(services.sql)}`
  const wake = async ({ id }: { id: number }) => {
    const { outcome } = await advance(services, { stationId: id, endedShId: 0, cause: 'wake' })
    if (outcome === 'advanced') repairs.woken++
  }
  await forEachConcurrently(rows, concurrency, wake, signal)
  if (rows.length < chunk) complete()
}

async function publishInChunks(services: PlayoutServices, stationIds: readonly number[]): Promise<void> {
  for (let start = 0; start < stationIds.length; start += chunk) {
    const changed = await repairStates(services, stationIds.slice(start, start + chunk))
    repairs.state += changed
    if (changed > 0) services.log.info({ stations: changed }, 'live state brought up to the facts')
  }
}
