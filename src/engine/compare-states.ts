import { shardOf, allShards } from '../stores/redis/keys.ts'
import {
  readShardSummaries,
  readStationPositions,
  type ShardSummary
} from '../stores/redis/shard-commands.ts'
import { isPositionOfNewerRelease, isReadablePosition, parsePosition } from '../stores/redis/state-schema.ts'
import { removeTombstone, readShardPositions, removeStationState } from '../stores/redis/station-store.ts'
import type { EngineServices } from './services.ts'
import { removeStatesOfDeletedStations } from './station-removal.ts'

export type StateComparison = ReturnType<typeof openStateComparison>

/** The row of a station: the epoch and revision that its live state should have. */
type FactRow = { readonly id: number; readonly epoch: string; readonly revision: number }

/** A transaction may commit this long after it has raised a revision, which is a time. */
const lateCommitMs = 5_000

/** If more stations changed at once, all are compared. */
const maxChanged = 5_000

/** Maximum number of stations in a group of several shards. */
const stationsPerGroup = 1_000

/**
 * Finds stations whose live state in Redis differs from Postgres. Each call compares stations
 * that changed lately and all of one shard, so every station is compared about once a minute. The first call
 * compares all stations, as does the next one after Postgres was restarted or restored. After a Redis was
 * restarted or lost data, all stations of its shards are compared.
 */
export function openStateComparison(services: EngineServices) {
  const { redis } = services
  let differing: ReadonlySet<number> = new Set()
  /** The last summary of each shard; undefined if it has to be compared in full. */
  let summaries: readonly (ShardSummary | undefined)[] = []
  let lastSummary: DatabaseSummary | null = null
  let startedMs = performance.now()
  let nextShard = 0

  /** Chooses the shards to compare in full. `accept` stores what was read; `faults`: why shards were not. */
  async function chooseShards() {
    const faults: unknown[] = []
    const responses = await readShardSummaries(redis)
    const now = await readDatabaseSummary(services)
    const isContinued =
      lastSummary !== null && now.identity === lastSummary.identity && now.newest >= lastSummary.newest
    const isReadableShard = (shard: number) => responses[shard]?.status === 'fulfilled'
    const full = allShards.filter(shard => {
      const response = responses[shard]
      if (response?.status !== 'fulfilled') return false
      return !isContinued || shard === nextShard || !hasLostNothing(response.value, summaries[shard])
    })
    for (const response of responses) if (response.status === 'rejected') faults.push(response.reason)
    const accept = () => {
      summaries = responses.map(response => (response.status === 'fulfilled' ? response.value : undefined))
      lastSummary = now
      nextShard = (nextShard + 1) % allShards.length
    }
    return { full, isReadableShard, accept, faults }
  }

  async function compare() {
    const sinceMs = performance.now() - startedMs + lateCommitMs
    const atMs = performance.now()
    const previous = differing
    const lasting: number[] = []
    const now = new Set<number>()
    const note = ({ stationId, isMissing }: Difference) => {
      now.add(stationId)
      if (isMissing || previous.has(stationId)) lasting.push(stationId)
    }
    const { full, isReadableShard, accept, faults } = await chooseShards()
    try {
      const fullShards = new Set(full)
      const changed = await readChanged(services, sinceMs, [...previous])
      const isTooMany = changed.length >= maxChanged
      const isRemaining = (id: number) => !fullShards.has(shardOf(id)) && isReadableShard(shardOf(id))
      const inFull = isTooMany ? allShards.filter(isReadableShard) : full
      await forEachGroup(services, inFull, async group => {
        for (const difference of await compareShards(services, group)) note(difference)
      })
      if (!isTooMany) {
        const rows = changed.filter(({ id }) => isRemaining(id))
        const positions = await readStationPositions(
          redis,
          rows.map(({ id }) => id)
        )
        for (const difference of await findDifferences(services, rows, positions)) note(difference)
        await removeLatelyDeleted(services, sinceMs, isRemaining)
      }
      accept()
      startedMs = atMs
      differing = now
    } catch (error) {
      // What was not compared is compared by the next call.
      differing = new Set([...previous, ...now])
      faults.push(error)
    }
    return { lasting, faults }
  }

  return {
    /**
     * `lasting`: the stations that are missing in Redis, or that also differed in the call before. If one
     * differs for the first time, a publication may be in flight. `faults`: why some stations could not be
     * compared.
     */
    compare,
    /** The stations that differed in the last call. */
    differing: () => differing
  }
}

/** Whether a shard certainly still contains all that it contained at the summary before. */
const hasLostNothing = (summary: ShardSummary, before: ShardSummary | undefined) =>
  before !== undefined &&
  summary.runId === before.runId &&
  summary.sequence >= before.sequence &&
  summary.size >= before.size

/** `newest`: the highest revision. */
type DatabaseSummary = { readonly identity: string; readonly newest: number }

/** Reads what differs after Postgres was restarted, or its stations were restored from a backup. */
async function readDatabaseSummary({ sql }: EngineServices): Promise<DatabaseSummary> {
  const [summary] = await sql<DatabaseSummary[]>`
    select concat_ws(' ', pg_postmaster_start_time(), 'stations'::regclass::oid, pg_relation_filenode('stations')) as identity,
      coalesce((select max(revision) from stations), 0) as newest`
  return summary ?? { identity: '', newest: 0 }
}

/** Reads the stations that changed in the last `sinceMs`, and those of `stationIds`, without deleted ones. */
function readChanged({ sql }: EngineServices, sinceMs: number, stationIds: readonly number[]) {
  // With a literal limit, Postgres plans to read the end of the index.
  return sql<FactRow[]>`
    with changed as (
      select id, epoch, revision, deleted_at from stations
      where revision > (extract(epoch from statement_timestamp()) * 1000)::bigint - ${Math.ceil(sinceMs)}::bigint
      order by revision desc limit ${sql.unsafe(String(maxChanged))})
    select id, epoch, revision from changed where deleted_at is null
    union
    select id, epoch, revision from stations where id = any(${[...stationIds]}::bigint[]) and deleted_at is null`
}

/** Removes the live states of stations that were deleted in the last `sinceMs`, if they still exist. */
async function removeLatelyDeleted(
  { sql, redis }: EngineServices,
  sinceMs: number,
  isIncluded: (stationId: number) => boolean
): Promise<void> {
  const rows = await sql<{ id: number }[]>`
    select id from deleted_stations d where deleted_at > now() - make_interval(secs => ${sinceMs / 1_000}::float8)
      and not exists (select from stations s where s.id = d.id and s.deleted_at is null)`
  const ids = rows.map(({ id }) => id).filter(isIncluded)
  const positions = await readStationPositions(redis, ids)
  for (const id of ids) if (positions.get(id) !== '') await removeStationState(redis, id)
}

/** A station whose live state differs from Postgres. */
type Difference = { readonly stationId: number; readonly isMissing: boolean }

/**
 * Calls `work` with groups of shards that have about 1,000 stations together; one by one if Redis is empty.
 */
async function forEachGroup(
  { redis }: EngineServices,
  numbers: readonly number[],
  work: (group: ReadonlyMap<number, ReadonlyMap<number, string>>) => Promise<void>
): Promise<void> {
  // Positions first: a station that has a position but no row has been deleted.
  const read = await Promise.all(
    numbers.map(async shard => [shard, await readShardPositions(redis, shard)] as const)
  )
  const largest = Math.max(0, ...read.map(([, positions]) => positions.size))
  const atOnce = largest > 0 ? Math.max(1, Math.floor(stationsPerGroup / largest)) : 1
  for (let start = 0; start < read.length; start += atOnce)
    await work(new Map(read.slice(start, start + atOnce)))
}

/** Compares all stations of shards, whose positions were read, with Postgres. */
async function compareShards(
  services: EngineServices,
  group: ReadonlyMap<number, ReadonlyMap<number, string>>
): Promise<Difference[]> {
  const { sql } = services
  const numbers = [...group.keys()]
  const positions = new Map([...group.values()].flatMap(each => [...each]))
  // The number is a literal, as in the index `stations_shard`.
  const rows = await sql<FactRow[]>`
    select id, epoch, revision from stations
    where id % ${sql.unsafe(String(allShards.length))} = any(${numbers}::int[]) and deleted_at is null`
  const differences = await findDifferences(services, rows, positions)
  await removeStatesOfDeletedStations(services, numbers, positions, new Set(rows.map(({ id }) => id)))
  return differences
}

async function findDifferences(
  services: EngineServices,
  rows: readonly FactRow[],
  positions: ReadonlyMap<number, string>
): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const { id, epoch, revision } of rows) {
    const position = positions.get(id)
    // A deleted station exists again: Postgres was restored from a backup.
    if (position === '') await removeTombstone(services.redis, id)
    else if (position !== undefined && isCurrent(position, epoch, revision)) continue
    differences.push({ stationId: id, isMissing: !position })
  }
  return differences
}

/** Whether a state shows what is in Postgres now. States that only a newer release can read are left to it. */
function isCurrent(text: string, epoch: string, revision: number): boolean {
  const position = parsePosition(text)
  if (isPositionOfNewerRelease(position)) return true
  return isReadablePosition(position) && position.epoch === epoch && position.revision === revision
}
