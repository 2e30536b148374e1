import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'

/** SQL: the kind of the own server of station `s`, null if it is not polled. RSAS speaks Icecast's API. */
export const ownServerKindFragment = (sql: Sql | Tx): Fragment => sql`
  case when s.is_enabled and s.frontend_url <> '' then
    case s.frontend when 'icecast' then 'icecast' when 'rsas' then 'icecast' when 'shoutcast2' then 'shoutcast2' end
  end`

/** SQL: the same for the server of remote `r` of station `s`. */
export const remoteServerKindFragment = (sql: Sql | Tx): Fragment =>
  sql`case when s.is_enabled then nullif(r.type, '') end`

/** The name of a poll's alert. */
export const pollAlertKey = (id: number): string => `poll:${id}`

/** Adds missing polls, of all stations or one; returns their number. Unneeded ones are deleted when due. */
export async function addMissingPollRows(sql: Sql | Tx, stationId: number | null = null): Promise<number> {
  // The first two conditions are those of the index `stations_polled`.
  const { count } = await sql`
    insert into polls (station_id, remote_id)
    select w.station_id, w.remote_id from (
      select s.id as station_id, null::bigint as remote_id from stations s
      where s.is_enabled and s.frontend_url <> '' and ${ownServerKindFragment(sql)} is not null
        and (${stationId}::bigint is null or s.id = ${stationId})
      union all
      select s.id, r.id from remotes r join stations s on s.id = r.station_id
      where ${remoteServerKindFragment(sql)} is not null and (${stationId}::bigint is null or s.id = ${stationId})
    ) w
    where not exists (
      select from polls p where p.station_id = w.station_id and p.remote_id is not distinct from w.remote_id)
    on conflict do nothing`
  return count
}

/** Makes the polls of a station, or of one remote, due at once, after a change of their settings. */
export async function resetPollsOfStation(
  tx: Tx,
  stationId: number,
  remoteId: number | null = null
): Promise<void> {
  await tx`
    with reset as (
      update polls set due_at_ms = 0, answered_at_ms = null, failing_since_ms = null, failures = 0,
        idle_since_ms = null, problem = ''
      where station_id = ${stationId} and (${remoteId}::bigint is null or remote_id = ${remoteId})
      returning id)
    delete from open_facts f using reset r where f.fact = 'poll:' || r.id`
  await addMissingPollRows(tx, stationId)
}

/** Deletes the alerts of deleted polls and returns their number. */
export async function deleteOrphanedPollAlerts(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from open_facts f where starts_with(f.fact, 'poll:') and not exists (
      select from polls p where f.fact = 'poll:' || p.id)`
  return count
}

/** A streaming server of a station. */
export interface PolledServer {
  /** Null for the station's own server. */
  readonly remoteId: number | null
  /** Null if it is no longer polled. */
  readonly kind: 'icecast' | 'shoutcast2' | null
  readonly url: string
  /** Sealed; empty if there is none. */
  readonly password: string
  /** The station's mounts, in order; none for a remote. */
  readonly mounts: readonly { readonly id: number; readonly path: string; readonly isDefault: boolean }[]
}

/** Reads the streaming servers of a station that are polled, its own first. */
export async function readStationServers(
  sql: Sql,
  stationId: number
): Promise<(PolledServer & { readonly kind: 'icecast' | 'shoutcast2' })[]> {
  return sql`
    select x.* from stations s cross join lateral (
      select null::bigint as "remoteId", ${ownServerKindFragment(sql)} as kind, s.frontend_url as url,
        s.frontend_admin_password as password, ${mountsFragment(sql)} as mounts
      union all (
        select r.id, ${remoteServerKindFragment(sql)}, r.url, r.admin_password, '[]'::jsonb
        from remotes r where r.station_id = s.id order by r.id)) x
    where s.id = ${stationId} and x.kind is not null`
}

/** SQL: the mounts of station `s`. */
const mountsFragment = (sql: Sql): Fragment => sql`coalesce((
  select jsonb_agg(jsonb_build_object('id', m.id, 'path', m.name, 'isDefault', m.is_default) order by m.id)
  from hls_streams m where m.station_id = s.id), '[]')`

/** A poll that only this process may run until the lease expires. */
export interface LeasedPoll extends PolledServer {
  readonly id: number
  readonly stationId: number
  readonly leasedUntilMs: number
  /** When the server last responded; null if unknown. */
  readonly lastAnsweredAtMs: number | null
  readonly failingSinceMs: number | null
  readonly failures: number
  readonly idleSinceMs: number | null
  readonly problem: string
  readonly station: string
  /** The name of the remote; empty for a station's own server. */
  readonly name: string
  /** It carries what the station plays: its own server or, without one, its first remote. */
  readonly isMainSource: boolean
  /** The station has no backend: the streaming server is the only source of metadata. */
  readonly hasNoBackend: boolean
  readonly isLive: boolean
  /** The stored encoding of a remote; 0 and empty if unknown. */
  readonly bitrate: number
  readonly format: string
}

/** Longer than a poll and storing its result may take. */
const leaseMs = 12_000

/** Leases polls that are due, the longest due first. */
export async function leasePolls(sql: Sql, nowMs: number, limit: number): Promise<LeasedPoll[]> {
  return sql<LeasedPoll[]>`
    with leased as (
      update polls set due_at_ms = ${nowMs + leaseMs} where id in (
        select id from polls where due_at_ms <= ${nowMs} order by due_at_ms limit ${limit} for update skip locked)
      returning *)
    select c.id, c.station_id as "stationId", c.remote_id as "remoteId", c.due_at_ms as "leasedUntilMs",
      c.answered_at_ms as "lastAnsweredAtMs", c.failing_since_ms as "failingSinceMs", c.failures, c.idle_since_ms as "idleSinceMs", c.problem,
      s.name as station, case when r.id is null then ${ownServerKindFragment(sql)} else ${remoteServerKindFragment(sql)} end as kind,
      coalesce(r.url, s.frontend_url) as url, coalesce(r.admin_password, s.frontend_admin_password) as password,
      coalesce(r.name, '') as name, s.backend = 'none' as "hasNoBackend",
      r.id is null or (${ownServerKindFragment(sql)} is null and coalesce(r.id = (
        select min(x.id) from remotes x where x.station_id = s.id and x.type <> ''), true)) as "isMainSource",
      exists (select from broadcasts b where b.station_id = s.id and b.ended_at_ms is null) as "isLive",
      coalesce(r.bitrate, 0) as bitrate, coalesce(r.format, '') as format,
      case when r.id is null then ${mountsFragment(sql)} else '[]' end as mounts
    from leased c join stations s on s.id = c.station_id left join remotes r on r.id = c.remote_id`
}

/** A poll with its next state. */
export interface PollResult extends LeasedPoll {
  readonly dueAtMs: number
  /** Null if the server did not respond. */
  readonly answeredAtMs: number | null
}

/** Stores the results of polls whose lease is still valid. */
export async function storePollResults(sql: Sql, results: readonly PollResult[]): Promise<void> {
  if (results.length === 0) return
  const all = <Value>(pick: (result: PollResult) => Value) => results.map(pick)
  await sql`
    update polls p set due_at_ms = x.due, answered_at_ms = coalesce(x.answered, p.answered_at_ms),
      failing_since_ms = x.failing, failures = x.failures, idle_since_ms = x.idle, problem = x.problem
    from unnest(${all(each => each.id)}::bigint[], ${all(each => each.leasedUntilMs)}::bigint[],
      ${all(each => each.dueAtMs)}::bigint[], ${all(each => each.answeredAtMs)}::bigint[],
      ${all(each => each.failingSinceMs)}::bigint[], ${all(each => each.failures)}::int[],
      ${all(each => each.idleSinceMs)}::bigint[], ${all(each => each.problem)}::text[])
      as x(id, leased, due, answered, failing, failures, idle, problem)
    where p.id = x.id and p.due_at_ms = x.leased`
}
