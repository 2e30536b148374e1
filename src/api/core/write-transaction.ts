import { advance } from '../../engine/advance.ts'
import { raiseSharedCount, publishAllStations } from '../../engine/all-stations.ts'
import { changeStation, createStation, type StationChange } from '../../engine/change-station.ts'
import { publishStation } from '../../engine/repair-states.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { beginForStation } from '../../stores/db/begin-for-station.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { type ResourceBase, isStations } from './resource.ts'
import type { ApiRequest, StationRow } from './route.ts'
import type { ApiServices } from './services.ts'

/** A write of a resource, before its transaction begins. */
export interface WriteCall {
  readonly resource: ResourceBase
  readonly services: ApiServices
  readonly request: ApiRequest
  readonly station: StationRow | null
}

type Work<Result> = (tx: Tx, change: StationChange | null) => Promise<Result>

/** Runs a creation: `insert` returns the id of the record, `finish` follows. Returns the id. */
export async function runCreation(
  call: WriteCall,
  insert: Work<number>,
  finish: (tx: Tx, change: StationChange | null, id: number) => Promise<void>
): Promise<number> {
  if (isStations(call.resource))
    return createStation(
      call.services,
      tx => insert(tx, null),
      async change => {
        await finish(change.tx, change, change.station.id)
        assertOpen(call.request)
      }
    )
  return runWrite(call, call.station?.id ?? null, async (tx, change) => {
    const id = await insert(tx, change)
    await finish(tx, change, id)
    return id
  })
}

/** Runs an update or a deletion. The deletion of a station is not a change of the station. */
export function runEdit<Result>(
  call: WriteCall,
  { id, isDeletion = false }: { readonly id: number; readonly isDeletion?: boolean },
  work: Work<Result>
) {
  if (!isStations(call.resource)) return runWrite(call, call.station?.id ?? null, work)
  return runWrite(call, id, work, !isDeletion)
}

/** Runs a write in a transaction: if it publishes something, in a change of the station. */
async function runWrite<Result>(
  { resource, services, request }: WriteCall,
  stationId: number | null,
  work: Work<Result>,
  isChange = resource.publishes !== undefined
) {
  const run: Work<Result> = async (tx, change) => {
    const result = await work(tx, change)
    assertOpen(request)
    return result
  }
  return isChange && stationId !== null
    ? changeStation(services, stationId, change => run(change.tx, change))
    : beginWrite(services, stationId, tx => run(tx, null))
}

/** Runs a transaction: if it is one of a station, at most two at a time. */
export const beginWrite = <Result>(
  { sql }: Pick<ApiServices, 'sql'>,
  stationId: number | null,
  work: (tx: Tx) => Promise<Result>
) => (stationId === null ? sql.begin(work) : beginForStation(sql, stationId, work))

/** Throws if the client has left: it has seen a failure, so the write must not be committed. */
function assertOpen(request: ApiRequest): void {
  if (!request.isOpen()) throw new Error('the request was aborted')
}

/** Marks, inside the transaction, what every write of the resource publishes. */
export async function markToPublish(
  { publishes }: ResourceBase,
  tx: Tx,
  change: StationChange | null
): Promise<void> {
  if (publishes === 'station') change?.mark(['station'])
  if (publishes === 'all stations') await raiseSharedCount(tx)
}

const timeoutMs = 2_000

/**
 * Publishes, after the commit, what `changeStation` has not published. A station that was enabled is started,
 * and the response waits until this server shows a station as it was written.
 */
export async function publishWrite({ resource, services }: WriteCall, id: number): Promise<void> {
  if (resource.publishes === 'all stations') await publishAllStations(services)
  if (!isStations(resource)) return
  try {
    const { outcome } = await advance(services, { stationId: id, endedShId: 0, cause: 'wake' })
    if (outcome === 'deleted') await publishStation(services, id)
    await withDeadline(timeoutMs, 'showing the station', () => services.live.catchUp(id))
  } catch (error) {
    services.log.warn({ err: error, station: id }, 'station changed, but not yet published')
  }
}
