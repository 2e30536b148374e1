import type { Tx } from '../db/sql.ts'
import { beginForStation } from '../db/station-transaction.ts'
import { addCommand } from './commands.ts'
import { markSent } from './hand-out.ts'
import { publishMany } from './publish.ts'
import { lockStation, readQueues, skipLocked } from './rows.ts'
import type { PlayoutServices } from './services.ts'

/** A playout is told so long before: it waits for the exact moment. Longer than the time between two looks. */
const aheadMs = 2_500
const stationsAtOnce = 200

/**
 * Tells playouts of what cuts in now. A streamer is not interrupted; a playout that takes no commands goes on. Call it every
 * second.
 */
export async function sendInterrupts(services: PlayoutServices, nowMs: number): Promise<void> {
  const rows = await services.sql<{ stationId: number }[]>`
    select s.id as "stationId" from stations s
    where s.is_enabled and s.backend = 'liquidsoap'
      and s.id in (
        select q.station_id from queue q
        where q.played_at_ms is null and q.skipped_at_ms is null and q.is_interrupt and not q.is_sent
          and q.plays_at_ms < ${nowMs + aheadMs})
      and exists (select from playouts o where o.station_id = s.id and o.takes_commands and o.left_at_ms is null)
    limit ${stationsAtOnce} ${skipLocked(services.sql)}`
  const sent: number[] = []
  for (const { stationId } of rows)
    if (await beginForStation(services.sql, stationId, tx => sendInterrupt(tx, stationId, nowMs)))
      sent.push(stationId)
  if (sent.length > 0) await publishMany(services, sent)
}

async function sendInterrupt(tx: Tx, stationId: number, nowMs: number): Promise<boolean> {
  const station = await lockStation(tx, stationId)
  if (station?.driver !== 'liquidsoap' || station.liveSinceMs !== null) return false
  const queue = await readQueues(tx, [stationId])
  const row = queue.find(each => each.isInterrupt && !each.isSent && each.startsAtMs < nowMs + aheadMs)
  if (!row) return false
  await markSent(tx, stationId, row.id, nowMs)
  await addCommand(tx, stationId, { type: 'interrupt', queueId: row.id, atMs: row.startsAtMs })
  return true
}
