import type { Fragment, Tx } from '../../db/sql.ts'
import type { Count } from '../../station/state.ts'
import { int4Most, type Source } from '../listeners/sources.ts'
import type { LockedStation, OpenPlay } from '../rows.ts'

/*
 * What is kept with a play of its listeners: `listeners_start` and `listeners_end`, the sums of the rises and of the
 * falls between them, the peak, and how many different ones there were. Always
 * listeners_end - listeners_start = delta_positive - delta_negative, unless a sum has come to its end.
 */

/** The columns of `startValues`, in their order. */
export const startColumns = (tx: Tx): Fragment =>
  tx`listeners_start, listeners_end, listeners_peak, delta_positive, unique_listeners`

/**
 * The statistics with which a play begins: the counts as last known. Nobody knows who listened before a
 * station's first play, so whoever is there has come with it.
 */
export function startValues(tx: Tx, { id, listenersTotal, listenersUnique }: LockedStation): Fragment {
  const start = tx`case when exists (select from song_history first where first.station_id = ${id})
    then ${listenersTotal}::integer else 0 end`
  return tx`${start}, ${listenersTotal}::integer, ${listenersTotal}::integer, ${listenersTotal}::integer - ${start},
    ${listenersUnique}::integer`
}

/** The count of a station and those of its sources, before a report and after it. */
export interface CountChange {
  readonly was: Count
  readonly now: Count
  readonly before: readonly Source[]
  readonly after: readonly Source[]
}

/** Keeps a change with the play on air, once it is written who listens. */
export async function keepStatistics(tx: Tx, play: OpenPlay, change: CountChange): Promise<void> {
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
  const unique = uniqueOf(peaks, after, new Map(seen.map(({ source, count }) => [source, count])))
  await tx`update song_history set listeners_end = ${now.total},
    listeners_peak = greatest(listeners_peak, ${now.total}),
    unique_listeners = greatest(unique_listeners, ${Math.max(unique, now.unique)}), unique_peaks = ${tx.json(peaks)},
    delta_positive = least(delta_positive::bigint + ${Math.max(0, now.total - was.total)}, ${int4Most}),
    delta_negative = least(delta_negative::bigint + ${Math.max(0, was.total - now.total)}, ${int4Most})
    where id = ${play.id}`
}

/** The largest unique count of each source that has changed during a play. */
export type Peaks = Readonly<Record<string, number>>

/** A source that has not changed before had, since the play began, what it had before the change. */
export function peaksAfter(peaks: Peaks, before: readonly Source[], after: readonly Source[]): Peaks {
  const uniqueBefore = new Map(before.map(({ key, unique }) => [key, unique]))
  const changed = after.flatMap(({ key, unique }): [string, number][] => {
    const was = uniqueBefore.get(key) ?? 0
    return was === unique ? [] : [[key, Math.max(peaks[key] ?? was, unique)]]
  })
  return changed.length === 0 ? peaks : { ...peaks, ...Object.fromEntries(changed) }
}

/**
 * How many different listeners a play had: of each source those that were seen connected while it ran, or its
 * largest count where that is more, because the source tells nobody apart or too many.
 */
export function uniqueOf(
  peaks: Peaks,
  sources: readonly Source[],
  seen: ReadonlyMap<string, number>
): number {
  const unique = sources.reduce(
    (sum, { key, unique: count }) => sum + Math.max(peaks[key] ?? count, seen.get(key) ?? 0),
    0
  )
  return Math.min(unique, int4Most)
}
