import type { Fragment, Sql } from '../db/sql.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'

/** A transaction may commit this long after it has raised the version of a library, which is a time. */
const lateCommitMs = 5_000

/** Number of stations in a run. */
const chunk = 2_000

const maxBigint = '9223372036854775807'

export type StationRotation = ReturnType<typeof openStationRotation>

/**
 * Chooses the stations that a repeated task checks: all in the first run, then those whose library changed since
 * the run before, and the next 2,000 in the order of ids: with 100,000 stations, each is checked every 50 runs.
 * Checking all of them every second would take a core.
 */
export function openStationRotation() {
  /** When the last complete run began; null before the first. */
  let completeMs: number | null = null
  /** The last station of that run in turn. */
  let lastId = 0

  /** The last id of the next stations in turn; null if they are the last ones. */
  async function findEnd(sql: Sql): Promise<number | null> {
    const [end] = await sql<{ id: number }[]>`
      select id from stations where id > ${lastId} order by id offset ${chunk - 1} limit 1`
    return end?.id ?? null
  }

  return {
    /**
     * Returns a condition for `stations s`. `others` selects the ids of stations that are always included; it
     * needs an index. Call `complete` if the run found all stations; otherwise the next one checks the same.
     */
    begin: async (sql: Sql, others: Fragment): Promise<{ isChosen: Fragment; complete: () => void }> => {
      const beganMs = engineTimeMs()
      const sinceMs = completeMs
      const endId = sinceMs === null ? null : await findEnd(sql)
      const isChosen =
        sinceMs === null
          ? sql`true`
          : sql`s.id in (
              select station_id from libraries where version > ${sinceMs - lateCommitMs}
              union all select id from stations where id > ${lastId} and id <= ${endId ?? maxBigint}
              union all ${others})`
      const complete = () => {
        completeMs = beganMs
        lastId = endId ?? 0
      }
      return { isChosen, complete }
    }
  }
}
