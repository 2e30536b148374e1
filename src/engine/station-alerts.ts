import { type LastingFault, type StationFaults, stationTasks } from '../platform/isolation/station-faults.ts'
import type { Logger } from '../platform/runtime/log.ts'
import { repeatWork } from '../platform/runtime/repeat.ts'
import { raiseAlert } from '../stores/db/notifications.ts'
import type { Sql } from '../stores/db/sql.ts'

const prefix = 'station-failing:'

const intervalMs = 5_000
/** An alert is resolved once no process has renewed it for this long. */
const expiresAfter = '30 seconds'
const maxStations = 500

/** Notifies operators of stations for which work of this process keeps failing, until it is stopped. */
export function startStationAlerts(sql: Sql, faults: Pick<StationFaults, 'lasting'>, log: Logger) {
  const run = () => updateStationAlerts(sql, faults.lasting())
  return repeatWork(run, { pauseMs: intervalMs, log, failure: 'alerts of failing stations were not updated' })
}

/** Raises and renews the alerts of these faults. Resolves those that no process has renewed lately. */
export async function updateStationAlerts(sql: Sql, faults: readonly LastingFault[]): Promise<void> {
  if (faults.length > 0) await renewAlerts(sql, faults)
  await sql`
    delete from open_facts where starts_with(fact, ${prefix})
      and coalesce(seen_at, raised_at) < clock_timestamp() - ${expiresAfter}::interval`
}

async function renewAlerts(sql: Sql, faults: readonly LastingFault[]): Promise<void> {
  const ids = [...new Set(faults.map(({ stationId }) => stationId))]
  const stations = await sql<{ id: number; name: string }[]>`
    select id, name from stations where id = any(${ids}::bigint[]) and deleted_at is null
    order by id limit ${maxStations}`
  for (const { id, name } of stations) {
    const reasons = faults.flatMap(({ stationId, task, reason }) =>
      stationId === id ? `${stationTasks[task]} ${reason}.` : []
    )
    await sql.begin(async tx => {
      await raiseAlert(tx, {
        key: `${prefix}${id}`,
        title: `A station does not work: ${name}`,
        body: `${reasons.join(' ')} The log has the details. Other stations are not affected.`,
        type: 'danger',
        source: 'playout'
      })
      await tx`update open_facts set seen_at = clock_timestamp() where fact = ${`${prefix}${id}`}`
    })
  }
}
