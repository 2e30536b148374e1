import type { Fragment, Sql, Tx } from '../../db/sql.ts'

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
 * Adds polls that are missing, of all stations or of one. One that is not wanted any more stays until its
 * turn comes: then nobody listens there, and it goes. Gives how many were added.
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
 * Has the servers of a station asked anew, or that of one of its remotes alone, because what they are asked
 * by has changed: at once, and as if they had never been asked.
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

/** A server that this process may ask until the claim runs out. */
export interface ClaimedPoll {
  readonly id: number
  readonly stationId: number
  /** Null: the station's own server. */
  readonly remoteId: number | null
  readonly claimedUntilMs: number
  readonly failingSinceMs: number | null
  readonly failures: number
  readonly idleSinceMs: number | null
  readonly problem: string
  readonly station: string
  /** Null: it is not asked any more. */
  readonly kind: 'icecast' | 'shoutcast2' | null
  readonly url: string
  /** Sealed; empty: there is none. */
  readonly password: string
  /** The name of the remote; empty for a station's own server. */
  readonly name: string
  /** What it plays is what the station plays: it is its own server, else the first of its remotes. */
  readonly isHeard: boolean
  /** Nobody but the streaming server says what plays. */
  readonly isReported: boolean
  readonly isLive: boolean
  /** How a remote is known to sound: 0 and empty where it is not. */
  readonly bitrate: number
  readonly format: string
  /** Those of the station, in order; none for a remote. */
  readonly mounts: readonly { readonly id: number; readonly path: string; readonly isDefault: boolean }[]
}

/** Longer than asking, and keeping what was said, may take. */
const claimMs = 12_000

/** Takes servers that are due, the longest due first; nobody else takes them before the claim runs out. */
export async function claimPolls(sql: Sql, nowMs: number, limit: number): Promise<ClaimedPoll[]> {
  return sql<ClaimedPoll[]>`
    with claimed as (
      update polls set due_at_ms = ${nowMs + claimMs} where id in (
        select id from polls where due_at_ms <= ${nowMs} order by due_at_ms limit ${limit} for update skip locked)
      returning *)
    select c.id, c.station_id as "stationId", c.remote_id as "remoteId", c.due_at_ms as "claimedUntilMs",
      c.failing_since_ms as "failingSinceMs", c.failures, c.idle_since_ms as "idleSinceMs", c.problem,
      s.name as station, case when r.id is null then ${stationKind(sql)} else ${remoteKind(sql)} end as kind,
      coalesce(r.url, s.frontend_url) as url, coalesce(r.admin_password, s.frontend_admin_password) as password,
      coalesce(r.name, '') as name, s.backend = 'none' as "isReported",
      r.id is null or (${stationKind(sql)} is null and coalesce(r.id = (
        select min(x.id) from remotes x where x.station_id = s.id and x.type <> ''), true)) as "isHeard",
      exists (select from broadcasts b where b.station_id = s.id and b.ended_at_ms is null) as "isLive",
      coalesce(r.bitrate, 0) as bitrate, coalesce(r.format, '') as format,
      case when r.id is null then coalesce((
        select jsonb_agg(jsonb_build_object('id', m.id, 'path', m.name, 'isDefault', m.is_default) order by m.id)
        from hls_streams m where m.station_id = s.id), '[]') else '[]' end as mounts
    from claimed c join stations s on s.id = c.station_id left join remotes r on r.id = c.remote_id`
}

/** Whether it is to be asked by nobody else, and not anew. */
export async function isClaimed(sql: Sql, { id, claimedUntilMs }: ClaimedPoll): Promise<boolean> {
  const [row] = await sql`select from polls where id = ${id} and due_at_ms = ${claimedUntilMs}`
  return row !== undefined
}

/** How a claimed poll went. */
export interface PollResult {
  readonly poll: ClaimedPoll
  readonly dueAtMs: number
  /** Null: it was not answered. */
  readonly answeredAtMs: number | null
  readonly failingSinceMs: number | null
  readonly failures: number
  readonly idleSinceMs: number | null
  readonly problem: string
}

/**
 * Keeps how polls went, of those that are still claimed: not of one that is to be asked anew since, or by
 * others.
 */
export async function storeResults(sql: Sql, results: readonly PollResult[]): Promise<void> {
  if (results.length === 0) return
  const all = <Value>(pick: (result: PollResult) => Value) => results.map(pick)
  await sql`
    update polls p set due_at_ms = x.due, answered_at_ms = coalesce(x.answered, p.answered_at_ms),
      failing_since_ms = x.failing, failures = x.failures, idle_since_ms = x.idle, problem = x.problem
    from unnest(${all(each => each.poll.id)}::bigint[], ${all(each => each.poll.claimedUntilMs)}::bigint[],
      ${all(each => each.dueAtMs)}::bigint[], ${all(each => each.answeredAtMs)}::bigint[],
      ${all(each => each.failingSinceMs)}::bigint[], ${all(each => each.failures)}::int[],
      ${all(each => each.idleSinceMs)}::bigint[], ${all(each => each.problem)}::text[])
      as x(id, claimed, due, answered, failing, failures, idle, problem)
    where p.id = x.id and p.due_at_ms = x.claimed`
}
