import type { StationIdentity } from '../station/identity.ts'
import type { Sql } from './sql.ts'

/** Identities by station id, without stations that Postgres has never had or whose live state was never stored. */
export async function readIdentities(
  sql: Sql,
  stationIds: readonly number[]
): Promise<ReadonlyMap<number, StationIdentity>> {
  const ids = [...stationIds]
  const rows = await sql<({ id: number } & StationIdentity)[]>`
    select id, epoch, short_name as "shortName", is_public as "isPublic" from stations
    where id = any(${ids}::bigint[]) and epoch <> '' and deleted_at is null
    union all
    select d.id, null, '', false from deleted_stations d
    where d.id = any(${ids}::bigint[])
      and not exists (select from stations s where s.id = d.id and s.deleted_at is null)`
  return new Map(rows.map(({ id, ...identity }) => [id, identity]))
}
