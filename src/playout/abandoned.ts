import type { Tx } from '../db/sql.ts'
import { beginForStation } from '../db/station-transaction.ts'
import { dropLive } from './live.ts'
import { endPlay, goSilent } from './plays.ts'
import { publishEventually } from './publish.ts'
import { observedBefore, raiseTriggers } from './raise.ts'
import { lockStation, readOpenPlay, skipLocked } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import { tellHooks } from './tell-hooks.ts'

/** A playout that was seen to go may be back in a moment. */
const backWithinMs = 15_000
/** One that waits for commands asks for them every ten seconds. */
const silentAfterMs = 60_000
/** After a start of the whole, playouts need a while to be heard again. */
const settledAfterMs = 90_000

/**
 * Ends what plays where the playout has gone: it plays no longer, and who was live is so no longer. Call it every second.
 * `upForMs`: how long this process runs.
 */
export async function endAbandoned(
  services: PlayoutServices,
  { nowMs, upForMs }: { readonly nowMs: number; readonly upForMs: number }
): Promise<void> {
  const silentSinceMs = upForMs < settledAfterMs ? 0 : nowMs - silentAfterMs
  const rows = await services.sql<{ stationId: number; atMs: number }[]>`
    select o.station_id as "stationId", coalesce(o.left_at_ms, o.seen_at_ms) as "atMs"
    from playouts o join stations s on s.id = o.station_id
    join song_history h on h.station_id = s.id and h.ended_at_ms is null
    where s.backend = 'liquidsoap' and (o.left_at_ms < ${nowMs - backWithinMs}
      or (o.takes_commands and o.seen_at_ms < ${silentSinceMs}))
    order by o.station_id limit 200 ${skipLocked(services.sql)}`
  for (const { stationId, atMs } of rows) {
    const told = await beginForStation(services.sql, stationId, tx => abandon(tx, stationId, atMs))
    services.log.warn({ station: stationId }, 'the playout has gone, so the station is silent')
    await publishEventually(services, stationId)
    await tellHooks(services, told)
  }
}

async function abandon(tx: Tx, stationId: number, atMs: number): Promise<number[]> {
  const station = await lockStation(tx, stationId)
  const play = await readOpenPlay(tx, stationId)
  const [playout] = await tx<{ seenAtMs: number }[]>`
    select seen_at_ms as "seenAtMs" from playouts where station_id = ${stationId}`
  // It has called meanwhile.
  if (!station || !play || !playout || playout.seenAtMs > atMs) return []
  const endMs = Math.max(atMs, play.startedAtMs)
  await dropLive(tx, stationId, endMs)
  await endPlay(tx, station, play, endMs)
  await goSilent(tx, station, null)
  return raiseTriggers(tx, station, observedBefore(station, play), endMs)
}
