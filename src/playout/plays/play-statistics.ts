import type { Fragment, Tx } from '../../db/sql.ts'
import type { ListenerCount } from '../../station/state.ts'
import { maxInt32, type ListenerSource } from '../listeners/sources.ts'
import type { StationFacts, OpenPlay } from '../rows.ts'

/*
 * The listener statistics of a play: counts at its start and end, the sums of gains and losses between them,
 * the peak, and unique listeners. Invariant: listeners_end - listeners_start = delta_positive -
 * delta_negative, unless a sum reached its maximum.
 */

/** The columns of `startValues`, in their order. */
export const startColumns = (tx: Tx): Fragment =>
  tx`listeners_start, listeners_end, listeners_peak, delta_positive, unique_listeners`

/** The counts at the start of a play. Before the first play they are 0: all listeners count as gained. */
export function startValues(tx: Tx, { id, listenersTotal, listenersUnique }: StationFacts): Fragment {
  const start = tx`case when exists (select from song_history first where first.station_id = ${id})
    then ${listenersTotal}::integer else 0 end`
  return tx`${start}, ${listenersTotal}::integer, ${listenersTotal}::integer, ${listenersTotal}::integer - ${start},
    ${listenersUnique}::integer`
}

/** The counts of a station and its sources, before and after a report. */
export interface CountChange {
  readonly was: ListenerCount
  readonly now: ListenerCount
  readonly before: readonly ListenerSource[]
  readonly after: readonly ListenerSource[]
}

/** Updates the statistics of the current play, after the listeners were written. */
export async function updatePlayStatistics(tx: Tx, play: OpenPlay, change: CountChange): Promise<void> {
  const { was, now, before, after } = change
  const [[row], seen] = await Promise.all([
    tx<{ peaks: Peaks }[]>`select unique_peaks as peaks from song_history where id = ${play.id}`,
    tx<{ source: string; count: number }[]>`
      select source, count(*)::integer as count from (
        select source from listeners where station_id = ${play.stationId} and left_at_ms is null
        union all
        -- With both ends of the range Postgres expects few rows, and takes the index.
        select source from listeners
        where station_id = ${play.stationId}
          and left_at_ms between ${play.startedAtMs + 1} and ${Number.MAX_SAFE_INTEGER}
      ) l group by source`
  ])
  const peaks = peaksAfter(row?.peaks ?? {}, before, after)
  const unique = countUnique(peaks, after, new Map(seen.map(({ source, count }) => [source, count])))
  await tx`update song_history set listeners_end = ${now.total},
    listeners_peak = greatest(listeners_peak, ${now.total}),
    unique_listeners = greatest(unique_listeners, ${Math.max(unique, now.unique)}), unique_peaks = ${tx.json(peaks)},
    delta_positive = least(delta_positive::bigint + ${Math.max(0, now.total - was.total)}, ${maxInt32}),
    delta_negative = least(delta_negative::bigint + ${Math.max(0, was.total - now.total)}, ${maxInt32})
    where id = ${play.id}`
}

/** The largest unique count of each source that changed during the play. */
export type Peaks = Readonly<Record<string, number>>

/** Until its first change, a source had its count from before the change. */
export function peaksAfter(
  peaks: Peaks,
  before: readonly ListenerSource[],
  after: readonly ListenerSource[]
): Peaks {
  const uniqueBefore = new Map(before.map(({ key, unique }) => [key, unique]))
  const changed = after.flatMap(({ key, unique }): [string, number][] => {
    const was = uniqueBefore.get(key) ?? 0
    return was === unique ? [] : [[key, Math.max(peaks[key] ?? was, unique)]]
  })
  return changed.length === 0 ? peaks : { ...peaks, ...Object.fromEntries(changed) }
}

/** The unique listeners: per source the identities during the play, or its largest count if higher. */
export function countUnique(
  peaks: Peaks,
  sources: readonly ListenerSource[],
  seen: ReadonlyMap<string, number>
) {
  const unique = sources.reduce(
    (sum, { key, unique: count }) => sum + Math.max(peaks[key] ?? count, seen.get(key) ?? 0),
    0
  )
  return Math.min(unique, maxInt32)
}
