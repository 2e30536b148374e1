import { forStationsTogether } from '../platform/isolation/for-each-station.ts'
import { withDeadline } from '../platform/runtime/deadline.ts'
import type { Sql, Tx } from '../stores/db/sql.ts'
import { repairStates } from './repair-states.ts'
import type { EngineServices } from './services.ts'

/** The setting that counts shared facts. */
const counter = 'shown everywhere'

const chunk = 200
/** Maximum number of batches per call. */
const rounds = 100
/** A caller waits at most this long for the publication, which continues in the background. */
const timeoutMs = 500

/** Counts a fact that all stations show, in the transaction that writes it. Locks no station. */
export async function raiseSharedFactCount(tx: Tx): Promise<void> {
  await tx`
    insert into settings (name, value) values (${counter}, '1')
    on conflict (name) do update set value = (settings.value::bigint + 1)::text`
}

/**
 * Raises the revisions of stations that do not show the newest shared fact, in up to `maxBatches` batches. Calls
 * `onRaised` with the ids of each batch.
 */
export async function raiseOutdatedRevisions(
  services: Pick<EngineServices, 'sql' | 'stationFaults'>,
  maxBatches: number,
  onRaised: (stationIds: readonly number[]) => Promise<void> = async () => {}
): Promise<void> {
  const { sql } = services
  for (let batch = 0; batch < maxBatches; batch++) {
    const failing = services.stationFaults.failingIds('revision')
    const behind = await sql<{ id: number }[]>`
      with newest as (select value::bigint as number from settings where name = ${counter})
      select s.id from stations s, newest
      where s.everywhere < newest.number and s.deleted_at is null and s.id <> all(${failing}::bigint[])
      limit ${chunk}`
    if (behind.length === 0 && (failing.length === 0 || batch > 0)) return
    const ids = [...behind.map(({ id }) => id), ...(batch === 0 ? failing : [])]
    const raised = await forStationsTogether(services, 'revision', ids, group => raiseRevisionsOf(sql, group))
    await onRaised(raised.flat())
    if (behind.length < chunk) return
  }
}

/** Returns the ids of those that were behind. */
async function raiseRevisionsOf(sql: Sql, stationIds: readonly number[]): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with newest as (select value::bigint as number from settings where name = ${counter}), behind as (
      select s.id from stations s, newest
      where s.id = any(${[...stationIds]}::bigint[]) and s.everywhere < newest.number and s.deleted_at is null
      for no key update of s skip locked
    )
    update stations s set revision = next_revision(revision), station_revision = next_revision(revision), everywhere = newest.number
    from newest, behind, (select set_config('cuewire.raises_revision', 'on', true)) setting where s.id = behind.id returning s.id`
  return rows.map(({ id }) => id)
}

/** Publishes a committed shared fact on all stations; continues in the background. Never rejects. */
export async function publishAllStations(services: EngineServices): Promise<void> {
  const shown = services.allStations.run('all', () => markAndPublish(services))
  await withDeadline(timeoutMs, 'publishing all stations', () => shown).catch(() => {})
}

/** Never rejects; the sweep repeats what failed. */
async function markAndPublish(services: EngineServices): Promise<void> {
  try {
    await raiseOutdatedRevisions(services, rounds, async stationIds => {
      await forStationsTogether(services, 'publish', stationIds, ids => repairStates(services, ids))
    })
  } catch (error) {
    services.log.warn({ err: error }, 'live states not updated; retrying')
  }
}
