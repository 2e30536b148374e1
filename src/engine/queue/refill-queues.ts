import { forEachStation } from '../../platform/isolation/for-each-station.ts'
import { forEachConcurrently } from '../../platform/runtime/concurrency.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import type { EngineServices } from '../services.ts'
import { skipLockedFragment } from '../station-facts.ts'
import type { StationRoundRobin } from '../station-round-robin.ts'
import { loadMissingLibraries } from './preload-libraries.ts'
import { refillQueue } from './queue.ts'

/** Maximum number of groups at a time. */
const concurrency = 4
/** Stations whose libraries are loaded together. */
const stationsPerGroup = 5
/** Stations that are found at once. With a large backlog, finding them takes longer than refilling a few. */
const maxStations = 500

const refill = (change: StationChange) => refillQueue(change, { isLibraryChanged: false })

/**
 * Refills queues of stations whose library has changed, or whose song started without a plan, in the order in
 * which their songs end. Returns whether there may be more.
 */
export async function refillQueues(
  services: EngineServices,
  rotation: StationRoundRobin,
  signal?: AbortSignal
): Promise<boolean> {
  const { sql } = services
  // -1 is written as in the index `stations_unfilled`, so that Postgres uses it.
  const { isChosen, complete } = await rotation.begin(
    sql,
    sql`select id from stations where filled_version = -1 and is_enabled and backend <> 'none'`
  )
  const paused = services.stationFaults.pausedIds('refill')
  const rows = await sql<{ stationId: number }[]>`
    select s.id as "stationId" from stations s join libraries l on l.station_id = s.id
    where s.filled_version <> l.version and s.is_enabled and s.backend <> 'none' and ${isChosen}
      and s.id <> all(${paused}::bigint[])
    order by (select h.due_at_ms from song_history h where h.station_id = s.id and h.ended_at_ms is null), s.id
    limit ${maxStations} ${skipLockedFragment(sql)}`
  let refilled = 0
  const refillGroup = async (group: readonly { stationId: number }[]) => {
    await loadMissingLibraries(
      services,
      group.map(({ stationId }) => stationId),
      engineTimeMs()
    )
    const refillOne = ({ stationId }: { stationId: number }) => changeStation(services, stationId, refill)
    refilled += await forEachStation(services, 'refill', group, refillOne, { concurrency: 1, signal })
  }
  const groups = Array.from({ length: Math.ceil(rows.length / stationsPerGroup) }, (_, index) =>
    rows.slice(index * stationsPerGroup, (index + 1) * stationsPerGroup)
  )
  await forEachConcurrently(groups, concurrency, refillGroup, signal)
  if (rows.length < maxStations) complete()
  return rows.length === maxStations && refilled > 0
}
