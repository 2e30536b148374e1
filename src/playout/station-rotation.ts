import type { Fragment, Sql } from '../db/sql.ts'
import { shards } from '../redis/keys.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'

/** A transaction may commit this long after it has raised the version of a library, which is a time. */
const lateCommitMs = 5_000

export type StationRotation = ReturnType<typeof openStationRotation>

/**
 * Chooses the stations that a repeated task looks at: all at first, then those whose library changed since the
 * run before, and in turn those of a shard, so that every station is looked at about once a minute. Looking at
 * all stations every second would take a core with 100,000 stations.
 */
export function openStationRotation() {
  let nextShard = 0
  /** When the last complete run began; null before the first. */
  let completeMs: number | null = null

  return {
    /**
     * Returns a condition for `stations s`. `others`: selects the ids of stations that are always included, by an index.
     * `complete` is to be called if the run has found all stations; otherwise the next one looks at the same.
     */
    begin: (sql: Sql, others: Fragment): { readonly isChosen: Fragment; readonly complete: () => void } => {
      const beganMs = engineTimeMs()
      const isChosen =
        completeMs === null
          ? sql`true`
          : sql`s.id in (
              select station_id from libraries where version > ${completeMs - lateCommitMs}
              union all select id from stations where id % 64 = ${shards[nextShard] ?? 0}
              union all ${others})`
      const complete = () => {
        completeMs = beganMs
        nextShard = (nextShard + 1) % shards.length
      }
      return { isChosen, complete }
    }
  }
}
