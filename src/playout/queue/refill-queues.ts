import { engineTimeMs } from '../../runtime/engine-time.ts'
import { inLanes } from '../../runtime/lanes.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import { skipLocked } from '../rows.ts'
import type { PlayoutServices } from '../services.ts'
import { loadMissing } from './preload-libraries.ts'
import { refillQueue } from './queue.ts'

const lanes = 4
/** Stations whose libraries are loaded at once. */
const stationsPerLane = 5

const refill = (change: StationChange) => refillQueue(change, { isLibraryChanged: false })

/**
 * Refills queues of stations whose library has changed, or whose song started without a plan: those whose
 * song ends first. Returns whether there may be more.
 */
export async function refillQueues(services: PlayoutServices, signal?: AbortSignal): Promise<boolean> {
  const most = lanes * stationsPerLane
  const rows = await services.sql<{ id: number }[]>`
    select s.id from stations s join libraries l on l.station_id = s.id
    where s.filled_version <> l.version and s.is_enabled and s.backend <> 'none'
    order by (select h.due_at_ms from song_history h where h.station_id = s.id and h.ended_at_ms is null), s.id
    limit ${most} ${skipLocked(services.sql)}`
  const refillGroup = async (group: readonly { id: number }[]) => {
    await loadMissing(
      services,
      group.map(({ id }) => id),
      engineTimeMs()
    )
    for (const { id } of group) await changeStation(services, id, refill)
  }
  const groups = Array.from({ length: Math.ceil(rows.length / stationsPerLane) }, (_, index) =>
    rows.slice(index * stationsPerLane, (index + 1) * stationsPerLane)
  )
  await inLanes(groups, lanes, refillGroup, signal)
  return rows.length === most
}
