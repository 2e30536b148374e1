import type { Sql } from './sql.ts'

/** The connections of the pools of each kind of process, at most. Starting takes three more for a moment. */
export const pools = {
  server: { main: 10, reads: 4, publicReads: 2, visitorReads: 2, heavyReads: 5, keys: 2 },
  workers: { main: 12 }
} as const

/** How many connections a process of a kind opens at most. */
export const connectionsOf = (kind: keyof typeof pools): number =>
  Object.values(pools[kind]).reduce((sum, count) => sum + count, 0)

/** Processes renew their registration every 5.5 seconds at most, which may take 4. */
const aliveSeconds = 10

/**
 * Compares the connections of all processes that run with those that Postgres has for them: its limits without the reserved
 * ones, of the role and of the database, less those of other programs. Returns a sentence if they are too few, else null.
 */
export async function findConnectionShortage(sql: Sql): Promise<string | null> {
  const [row] = await sql<
    { max: number; reserved: number; others: number; own: number | null; servers: number; workers: number }[]
  >`
    select current_setting('max_connections')::int as max,
      current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved,
      (select count(*) from pg_stat_activity
        where usesysid is not null and coalesce(backend_type, 'client backend') = 'client backend'
          and not (datname = current_database() and application_name like 'cuewire %')) as others,
      least((select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database())) as own,
      count(*) filter (where kind = 'server') as servers, count(*) filter (where kind = 'workers') as workers
    from processes where seen_at > clock_timestamp() - make_interval(secs => ${aliveSeconds})`
  if (row === undefined) return null
  const { max, reserved, others, own, servers, workers } = row
  const available = Math.min(max - reserved - others, own ?? Infinity)
  const needed =
    Math.max(1, servers) * connectionsOf('server') + Math.max(1, workers) * connectionsOf('workers')
  if (needed <= available) return null
  const limit =
    own !== null && own < max - reserved - others
      ? `the role or database is limited to ${own}`
      : `max_connections is ${max}, of which ${reserved} are reserved and others use ${others}`
  return `${Math.max(1, servers)} server and ${Math.max(1, workers)} workers processes use up to ${needed} connections, and ${limit}`
}
