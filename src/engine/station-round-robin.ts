import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { literalLimit } from '../stores/db/batches.ts'
import type { Fragment, Sql } from '../stores/db/sql.ts'

/** A transaction may commit this long after it has raised the version of a library, which is a time. */
const lateCommitMs = 5_000

/** Number of stations in a run. */
const chunk = 2_000

/** If more libraries changed, all stations are checked. */
const maxChanged = 5_000

export type StationRoundRobin = ReturnType<typeof openStationRoundRobin>

/**
 * Chooses the stations that a repeated task checks: all in the first run, then those whose library changed since
 * the run before, and the next 2,000 in the order of ids: with 100,000 stations, each is checked every 50 runs.
 * Checking all of them every second would take a core.
 */
export function openStationRoundRobin() {
  /** When the last complete run began; null before the first. */
  let completeMs: number | null = null
  /** The last station of that run in turn. */
  let lastId = 0

  /**
   * Their ids are read by themselves, since Postgres plans statements without knowing the values: it would expect a
   * third of all libraries to have changed, and read every station. Each limit is a literal, so that an index is used.
   */
  async function choose(sql: Sql, sinceMs: number, others: Fragment) {
    const rows = await sql<{ id: number; reason: 'changed' | 'in turn' | 'other' }[]>`
      (select station_id as id, 'changed' as reason from libraries where version > ${sinceMs - lateCommitMs}
        order by version desc ${literalLimit(sql, maxChanged)})
      union all (
        select id, 'in turn' from stations where id > ${lastId} order by id ${literalLimit(sql, chunk)})
      union all select id, 'other' from (${others}) o`
    const idsOf = (reason: string) => rows.flatMap(row => (row.reason === reason ? [row.id] : []))
    const inTurn = idsOf('in turn')
    return {
      ids: idsOf('changed').length < maxChanged ? rows.map(({ id }) => id) : null,
      endId: inTurn.length < chunk ? 0 : Math.max(...inTurn)
    }
  }

  return {
    /**
     * Returns a condition for `stations s`. `others` selects the ids of stations that are always included; it
     * needs an index. Call `complete` if the run found all stations; otherwise the next one checks the same.
     */
    begin: async (sql: Sql, others: Fragment): Promise<{ isChosen: Fragment; complete: () => void }> => {
      const beganMs = engineTimeMs()
      const { ids, endId } =
        completeMs === null ? { ids: null, endId: 0 } : await choose(sql, completeMs, others)
      const isChosen = ids === null ? sql`true` : sql`s.id = any(${ids}::bigint[])`
      const complete = () => {
        completeMs = beganMs
        lastId = endId
      }
      return { isChosen, complete }
    }
  }
}
