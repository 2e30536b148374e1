import { forEachStation } from '../../platform/isolation/for-each-station.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import { endCurrentBroadcast } from '../plays/broadcasts.ts'
import { endPlayStatement, markSilent } from '../plays/plays.ts'
import type { EngineServices } from '../services.ts'
import { skipLockedFragment } from '../station-facts.ts'
import { disconnectedAfterMs, reconnectsWithinMs, timeOutsAfterStartMs } from './patience.ts'

/** Ends the plays of playouts that timed out. `upForMs`: how long this process has been running. */
export async function endTimedOutPlays(
  services: EngineServices,
  { nowMs, upForMs }: { readonly nowMs: number; readonly upForMs: number }
): Promise<void> {
  const silentSinceMs = upForMs < timeOutsAfterStartMs ? 0 : nowMs - disconnectedAfterMs
  const paused = services.stationFaults.pausedIds('timeouts')
  const rows = await services.sql<{ stationId: number; atMs: number }[]>`
    select o.station_id as "stationId", coalesce(o.left_at_ms, o.seen_at_ms) as "atMs"
    from playouts o join stations s on s.id = o.station_id
    join song_history h on h.station_id = s.id and h.ended_at_ms is null
    where s.backend = 'liquidsoap' and s.id <> all(${paused}::bigint[]) and (o.left_at_ms < ${nowMs - reconnectsWithinMs}
      or (o.takes_commands and o.seen_at_ms < ${silentSinceMs}))
    order by o.station_id limit 200 ${skipLockedFragment(services.sql)}`
  await forEachStation(services, 'timeouts', rows, async ({ stationId, atMs }) => {
    const isEnded = await changeStation(services, stationId, {
      reads: tx => readSeenAtMs(tx, stationId),
      change: (change, seenAtMs) => endPlayOf(change, seenAtMs, atMs)
    })
    if (isEnded) services.log.warn({ station: stationId }, 'playout timed out; station is silent')
  })
}

/** When a playout called last; null if there is none. */
async function readSeenAtMs(tx: Tx, stationId: number): Promise<number | null> {
  const [playout] = await tx<{ seenAtMs: number }[]>`
    select seen_at_ms as "seenAtMs" from playouts where station_id = ${stationId}`
  return playout?.seenAtMs ?? null
}

/** Returns false if the playout has called since `silentSinceMs`. */
async function endPlayOf(
  change: StationChange,
  seenAtMs: number | null,
  silentSinceMs: number
): Promise<boolean> {
  const { play } = change
  if (!play || seenAtMs === null || seenAtMs > silentSinceMs) return false
  const endMs = Math.max(silentSinceMs, play.startedAtMs)
  change.happenedAt(endMs)
  await endCurrentBroadcast(change, endMs)
  await endPlayStatement(change, play, endMs)
  markSilent(change)
  return true
}
