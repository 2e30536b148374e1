import { forEachStation } from '../platform/isolation/for-each-station.ts'
import { batchLimitFragment, removeInBatches } from '../stores/db/batches.ts'
import { deleteFormerName } from '../stores/db/former-names.ts'
import type { Fragment, Sql, Tx } from '../stores/db/sql.ts'
import { allShards } from '../stores/redis/keys.ts'
import { removeTombstone, removeStationState } from '../stores/redis/station-store.ts'
import type { EngineServices } from './services.ts'

/** Rows that would still be used (keys, accounts, queued work), removed with the mark. */
const removedAtOnce = [
  'playouts',
  'playout_commands',
  'polls',
  'remotes',
  'hls_streams',
  'streamers',
  'sftp_users',
  'uploads'
] as const

/** Marks a station as deleted, so nothing finds it. `removeDeletedStations` removes its rows. */
export async function markStationDeleted(tx: Tx, stationId: number): Promise<void> {
  await tx`
    update stations set deleted_at = now(), revision = next_revision(revision),
      -- No station can be given a name like this.
      short_name = '!' || id, is_enabled = false, is_public = false, backend = 'none', frontend_url = '', playout_key = '',
      wake_at_ms = null, turned_online = null, turned_at_ms = null, media_storage_location_id = null,
      recordings_storage_location_id = null, podcasts_storage_location_id = null
    from (select set_config('cuewire.raises_revision', 'on', true)) setting where stations.id = ${stationId}`
  await deleteFormerName(tx, stationId)
  for (const table of removedAtOnce) await tx`delete from ${tx(table)} where station_id = ${stationId}`
  await tx`delete from song_history where station_id = ${stationId} and ended_at_ms is null`
  await tx`delete from broadcasts where station_id = ${stationId} and ended_at_ms is null`
  await tx`update playlists set is_enabled = false where station_id = ${stationId}`
  await tx`update webhooks set is_enabled = false where station_id = ${stationId}`
  await storeTombstones(tx, [stationId])
}

const stationsPerRun = 10

/** Removes rows of deleted stations in batches, the station row last. Returns the number of rows. */
export async function removeDeletedStations(
  services: Pick<EngineServices, 'sql' | 'stationFaults'>
): Promise<number> {
  const { sql } = services
  const paused = services.stationFaults.pausedIds('removal')
  const stations = await sql<{ stationId: number }[]>`
    select id as "stationId" from stations where deleted_at is not null and id <> all(${paused}::bigint[])
    order by id limit ${stationsPerRun}`
  let removed = 0
  const remove = async ({ stationId }: { stationId: number }) =>
    void (removed += await removeStation(sql, stationId))
  await forEachStation(services, 'removal', stations, remove, { concurrency: 1 })
  return removed
}

async function removeStation(sql: Sql, stationId: number): Promise<number> {
  let removed = 0
  // Referring rows first, so that deletions need not search for them.
  for (const [table, found] of rowsOf(sql, stationId)) {
    const { rows, isComplete } = await removeInBatches(
      () => sql`
        delete from ${sql(table)} where ctid = any(array(
          select ctid from ${sql(table)} where ${found} ${batchLimitFragment(sql)} for update skip locked))`
    )
    removed += rows
    if (!isComplete) return removed
  }
  const count = await sql.begin(async tx => {
    // With a generic plan Postgres would still expect many rows and read whole tables of referring rows.
    await tx`set local plan_cache_mode = force_custom_plan`
    await tx`set local enable_seqscan = off`
    const deleted = await tx`delete from stations where id = ${stationId} and deleted_at is not null`
    return deleted.count
  })
  return removed + count
}

/** Conditions with the order of an index: see "walks an index of all stations" in docs/gotchas.md. */
function rowsOf(sql: Sql, stationId: number): (readonly [table: string, found: Fragment])[] {
  const own = (order: Fragment) =>
    sql`station_id between ${stationId} and ${stationId} order by station_id${order}`
  return [
    // With their deliveries and attempts.
    ['webhook_events', own(sql`, fact`)],
    ['queue', own(sql`, seq`)],
    ['requests', own(sql`, id desc`)],
    ['song_history', own(sql`, id`)],
    ['broadcasts', own(sql`, id desc`)],
    ['listener_minutes', own(sql`, minute`)],
    ['listener_sessions', own(sql`, started_at_ms`)],
    ['playlist_tracks', sql`playlist_id in (select id from playlists where station_id = ${stationId})`],
    ['media', own(sql``)]
  ]
}

/*
 * Deleting a station leaves a tombstone in Postgres and an empty position in Redis. A server that was paused or cut off
 * meanwhile finds the empty position when it is back; where Redis lost it, it is written again from the tombstone.
 */

/** A server may be unavailable this long and still learn of a deletion. */
const tombstoneDays = 7

/** Stores tombstones of deleted stations. */
async function storeTombstones(sql: Sql | Tx, stationIds: readonly number[]): Promise<void> {
  await sql`insert into deleted_stations (id) select unnest(${[...stationIds]}::bigint[]) on conflict do nothing`
}

/** Removes live states of deleted stations. `positions` must be read before `stationIds`. */
export async function removeStatesOfDeletedStations(
  services: EngineServices,
  shardNumbers: readonly number[],
  positions: ReadonlyMap<number, string>,
  stationIds: ReadonlySet<number>
): Promise<void> {
  const rows = await services.sql<{ id: number }[]>`
    select id from deleted_stations where id % ${allShards.length} = any(${[...shardNumbers]}::int[])`
  const stored = new Set(rows.map(({ id }) => id))
  const deleted = [...new Set([...positions.keys(), ...stored])].filter(id => !stationIds.has(id))
  for (const id of deleted) if (positions.get(id) !== '') await removeStationState(services.redis, id)
  const missing = deleted.filter(id => !stored.has(id))
  if (missing.length > 0) await storeTombstones(services.sql, missing)
}

/** Removes old tombstones. */
export async function removeOldTombstones({ sql, redis }: EngineServices): Promise<number> {
  const rows = await sql<{ id: number }[]>`
    delete from deleted_stations where deleted_at < now() - make_interval(days => ${tombstoneDays}) returning id`
  for (const { id } of rows) await removeTombstone(redis, id)
  return rows.length
}
