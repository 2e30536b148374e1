import { forEachStation, forStationsTogether } from '../platform/isolation/for-each-station.ts'
import { lastSweep, repairsMetric, sweepDurationMetric } from '../platform/metrics/engine.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { isStoreAway } from '../platform/runtime/store-errors.ts'
import { literalLimit } from '../stores/db/batches.ts'
import type { Fragment } from '../stores/db/sql.ts'
import { advance } from './advance.ts'
import { raiseOutdatedRevisions } from './all-stations.ts'
import type { StateComparison } from './compare-states.ts'
import { sendInterrupts } from './playouts/interrupts.ts'
import { endTimedOutPlays } from './playouts/time-out.ts'
import { repairStates } from './repair-states.ts'
import type { EngineServices } from './services.ts'
import { maxClockErrorMs, skipLockedFragment } from './station-facts.ts'
import { openStationRoundRobin, type StationRoundRobin } from './station-round-robin.ts'

/** A play is overdue if its job should have ended it this long ago. */
const graceMs = 700

/** Maximum number of advances at a time. */
const concurrency = 8
const chunk = 500
const rounds = 10

/**
 * Repairs what jobs and publications have missed. `comparison` finds the stations whose live state differs
 * from the facts, `rotation` chooses the silent stations that may begin to play. Call it every second, in any
 * number of processes. A step that fails does not prevent the others, nor does a station: see `forEachStation`.
 * Rejects at the end with the first error, at once if a store is away, and between two steps once `signal` is aborted.
 */
export async function sweep(
  services: EngineServices,
  comparison: StateComparison,
  rotation = openStationRoundRobin(),
  signal?: AbortSignal
) {
  const startedAtMs = performance.now()
  const steps = [
    // Facts first: plays go on while Redis is away.
    () => endOverdue(services, signal),
    () => pullBackEarly(services, signal),
    () => wakeSilent(services, rotation, signal),
    () => sendInterrupts(services, engineTimeMs()),
    () => endTimedOutPlays(services, { nowMs: engineTimeMs(), upForMs: process.uptime() * 1000 }),
    () => raiseOutdatedRevisions(services, rounds),
    () => publishDiffering(services, comparison)
  ]
  const faults: unknown[] = []
  for (const step of steps) {
    signal?.throwIfAborted()
    try {
      await step()
    } catch (error) {
      if (isStoreAway(error)) throw error
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
  lastSweep.endedAtMs = performance.now()
  sweepDurationMetric.observe((lastSweep.endedAtMs - startedAtMs) / 1_000)
}

/** A station far behind takes several steps to catch up. */
async function endOverdue(services: EngineServices, signal?: AbortSignal): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const overdue = services.sql`h.due_at_ms < ${engineTimeMs() - graceMs} order by h.due_at_ms`
    if ((await advancePlays(services, 'overdue', overdue, signal)) === 0) return
  }
}

/** Advances stations whose current play begins after now, which pulls it back to now. */
function pullBackEarly(services: EngineServices, signal?: AbortSignal): Promise<number> {
  const isEarly = services.sql`h.started_at_ms > ${engineTimeMs() + maxClockErrorMs} order by h.started_at_ms`
  return advancePlays(services, 'early', isEarly, signal)
}

/**
 * Advances stations whose current play meets a condition, and returns how many did not fail. With an order and a
 * literal limit, Postgres plans to read the end of an index instead of all current plays.
 */
async function advancePlays(
  services: EngineServices,
  kind: 'overdue' | 'early',
  isMet: Fragment,
  signal?: AbortSignal
) {
  const paused = services.stationFaults.pausedIds('songs')
  const rows = await services.sql<{ stationId: number; endedShId: number }[]>`
    select h.station_id as "stationId", h.id as "endedShId"
    from song_history h join stations s on s.id = h.station_id
    where h.ended_at_ms is null and s.id <> all(${paused}::bigint[]) and ${isMet} ${literalLimit(services.sql, chunk)} ${skipLockedFragment(services.sql)}`
  const repair = async (row: (typeof rows)[number]) => {
    const { outcome } = await advance(services, { ...row, cause: 'due' })
    if (outcome === 'advanced') repairsMetric[kind]++
  }
  return forEachStation(services, 'songs', rows, repair, { concurrency, signal })
}

async function wakeSilent(
  services: EngineServices,
  rotation: StationRoundRobin,
  signal?: AbortSignal
): Promise<void> {
  const { sql } = services
  const nowMs = engineTimeMs()
  const { isChosen, complete } = await rotation.begin(
    sql,
    sql`select id from stations where wake_at_ms <= ${nowMs}`
  )
  const paused = services.stationFaults.pausedIds('wake')
  const rows = await services.sql<{ stationId: number }[]>`
    select s.id as "stationId" from stations s left join libraries l on l.station_id = s.id
    where s.is_enabled and s.backend = 'clock' and ${isChosen} and s.id <> all(${paused}::bigint[])
      and not exists (select from song_history h where h.station_id = s.id and h.ended_at_ms is null)
      and (s.wake_at_ms <= ${nowMs} or s.wake_version <> coalesce(l.version, 0)
        or exists (select from queue q where q.station_id = s.id and q.played_at_ms is null and q.skipped_at_ms is null))
    limit ${chunk} ${skipLockedFragment(services.sql)}`
  const wake = async ({ stationId }: { stationId: number }) => {
    const { outcome } = await advance(services, { stationId, endedShId: 0, cause: 'wake' })
    if (outcome === 'advanced') repairsMetric.woken++
  }
  await forEachStation(services, 'wake', rows, wake, { concurrency, signal })
  if (rows.length < chunk) complete()
}

async function publishDiffering(services: EngineServices, comparison: StateComparison): Promise<void> {
  const { lasting, faults } = await comparison.compare()
  for (let start = 0; start < lasting.length; start += chunk) {
    const group = lasting.slice(start, start + chunk)
    const changed = await forStationsTogether(services, 'publish', group, ids => repairStates(services, ids))
    const count = changed.reduce((sum, each) => sum + each, 0)
    repairsMetric.state += count
    if (count > 0) services.log.info({ stations: count }, 'live state brought up to the facts')
  }
  if (faults.length > 0) throw faults[0]
}
