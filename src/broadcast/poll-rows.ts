import type { Fragment, Sql, Tx } from '../db/sql.ts'

/** The kind of a station's own server `s`, null where it is not asked. RSAS answers as Icecast does. */
export const stationKind = (sql: Sql | Tx): Fragment => sql`
  case when s.is_enabled and s.frontend_url <> '' then
    case s.frontend when 'icecast' then 'icecast' when 'rsas' then 'icecast' when 'shoutcast2' then 'shoutcast2' end
  end`

/** The same of the server of the remote `r` of the station `s`. */
export const remoteKind = (sql: Sql | Tx): Fragment => sql`case when s.is_enabled then nullif(r.type, '') end`

/** What operators are told of a poll. */
export const pollFact = (id: number): string => `poll:${id}`

/**
 * Adds polls that are missing, of all stations or of one. One that is not wanted any more stays until its turn comes:
 * then nobody listens there, and it goes. Gives how many were added.
 */
export async function addPolls(sql: Sql | Tx, stationId: number | null = null): Promise<number> {
  const { count } = await sql`
    insert into polls (station_id, remote_id)
    select w.station_id, w.remote_id from (
      select s.id as station_id, null::bigint as remote_id from stations s
      where ${stationKind(sql)} is not null and (${stationId}::bigint is null or s.id = ${stationId})
      union all
      select s.id, r.id from remotes r join stations s on s.id = r.station_id
      where ${remoteKind(sql)} is not null and (${stationId}::bigint is null or s.id = ${stationId})
    ) w
    where not exists (
      select from polls p where p.station_id = w.station_id and p.remote_id is not distinct from w.remote_id)
    on conflict do nothing`
  return count
}

/**
 * Has the servers of a station asked anew, or that of one of its remotes alone, because what they are asked by has
 * changed: at once, and as if they had never been asked.
 */
export async function renewPolls(tx: Tx, stationId: number, remoteId: number | null = null): Promise<void> {
  await tx`
    with renewed as (
      update polls set due_at_ms = 0, answered_at_ms = null, failing_since_ms = null, failures = 0,
        idle_since_ms = null, problem = ''
      where station_id = ${stationId} and (${remoteId}::bigint is null or remote_id = ${remoteId})
      returning id)
    delete from open_facts f using renewed r where f.fact = 'poll:' || r.id`
  await addPolls(tx, stationId)
}

/** Removes what operators were told of polls that are gone. Gives how many facts. */
export async function tidyPolls(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from open_facts f where starts_with(f.fact, 'poll:') and not exists (
      select from polls p where f.fact = 'poll:' || p.id)`
  return count
}
