import { forEachStation } from '../../platform/isolation/for-each-station.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import { readQueueRows, type UnplayedRow } from '../queue-context.ts'
import type { EngineServices } from '../services.ts'
import { skipLockedFragment } from '../station-facts.ts'
import { addPlayoutCommand } from './commands.ts'
import { markRowSent } from './send-next-song.ts'

/** The playout gets the command this long before the song. Longer than the interval of the sweep. */
const aheadMs = 2_500
const stationsAtOnce = 200

/** Sends playouts that take commands the interrupting songs that are due, except while a streamer is live. */
export async function sendInterrupts(services: EngineServices, nowMs: number): Promise<void> {
  const paused = services.stationFaults.pausedIds('interrupts')
  const rows = await services.sql<{ stationId: number }[]>`
    select s.id as "stationId" from stations s
    where s.is_enabled and s.backend = 'liquidsoap' and s.id <> all(${paused}::bigint[])
      and s.id in (
        select q.station_id from queue q
        where q.played_at_ms is null and q.skipped_at_ms is null and q.is_interrupt and not q.is_sent
          and q.plays_at_ms < ${nowMs + aheadMs})
      and exists (select from playouts o where o.station_id = s.id and o.takes_commands and o.left_at_ms is null)
    limit ${stationsAtOnce} ${skipLockedFragment(services.sql)}`
  await forEachStation(services, 'interrupts', rows, ({ stationId }) =>
    changeStation(services, stationId, {
      reads: tx => readQueueRows(tx, [stationId]),
      change: (change, queue) => sendInterrupt(change, queue, nowMs)
    })
  )
}

async function sendInterrupt(
  change: StationChange,
  queue: readonly UnplayedRow[],
  nowMs: number
): Promise<void> {
  const { station } = change
  if (station.enabledBackend !== 'liquidsoap' || station.liveSinceMs !== null) return
  const row = queue.find(each => each.isInterrupt && !each.isSent && each.startsAtMs < nowMs + aheadMs)
  if (!row) return
  await markRowSent(change, row.id, nowMs)
  await addPlayoutCommand(change, { type: 'interrupt', queueId: row.id, atMs: row.startsAtMs })
}
