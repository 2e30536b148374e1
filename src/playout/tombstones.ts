import type { Sql, Tx } from '../db/sql.ts'
import { shards } from '../redis/keys.ts'
import { dropPosition, removeState } from '../redis/station-store.ts'
import type { PlayoutServices } from './services.ts'

/*
 * Deleting a station leaves a tombstone in Postgres and an empty position in Redis. A server that was paused or cut off
 * meanwhile finds the empty position when it is back; where Redis lost it, it is written again from the tombstone.
 */

/** A server may be unavailable this long and still learn of a deletion. */
const tombstoneDays = 7

/** Stores tombstones of deleted stations. */
export async function storeTombstones(sql: Sql | Tx, stationIds: readonly number[]): Promise<void> {
  await sql`insert into deleted_stations (id) select unnest(${[...stationIds]}::bigint[]) on conflict do nothing`
}

/**
 * Removes the live states of stations that are deleted in Postgres, if the process that deleted one died
 * before. `positions` must be read before `stationIds`, the existing stations of the shards.
 */
export async function removeDeletedStates(
  services: PlayoutServices,
  shardNumbers: readonly number[],
  positions: ReadonlyMap<number, string>,
  stationIds: ReadonlySet<number>
): Promise<void> {
  const rows = await services.sql<{ id: number }[]>`
    select id from deleted_stations where id % ${shards.length} = any(${[...shardNumbers]}::int[])`
  const buried = new Set(rows.map(({ id }) => id))
  const gone = [...new Set([...positions.keys(), ...buried])].filter(id => !stationIds.has(id))
  for (const id of gone) if (positions.get(id) !== '') await removeState(services.redis, id)
  const unburied = gone.filter(id => !buried.has(id))
  if (unburied.length > 0) await storeTombstones(services.sql, unburied)
}

/** Removes old tombstones. */
export async function removeOldTombstones({ sql, redis }: PlayoutServices): Promise<number> {
  const rows = await sql<{ id: number }[]>`
    delete from deleted_stations where deleted_at < now() - make_interval(days => ${tombstoneDays}) returning id`
  for (const { id } of rows) await dropPosition(redis, id)
  return rows.length
}
