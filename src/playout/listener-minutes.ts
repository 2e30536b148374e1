import type { Tx } from '../db/sql.ts'
import type { Count } from '../station/state.ts'

/**
 * Keeps a change of a station's count in the series of its minutes: the last one of the minute, and the most and the
 * fewest, to which the count that the change found belongs. Part of the transaction that holds the station.
 */
export async function noteMinute(
  tx: Tx,
  stationId: number,
  was: Count,
  now: Count,
  atMs: number
): Promise<void> {
  const most = Math.max(was.total, now.total)
  const fewest = Math.min(was.total, now.total)
  await tx`
    insert into listener_minutes as m (station_id, minute, total, "unique", most, fewest)
    values (${stationId}, ${Math.floor(atMs / 60_000)}, ${now.total}, ${now.unique}, ${most}, ${fewest})
    on conflict (station_id, minute) do update set total = excluded.total, "unique" = excluded."unique",
      most = greatest(m.most, excluded.most), fewest = least(m.fewest, excluded.fewest)`
}
