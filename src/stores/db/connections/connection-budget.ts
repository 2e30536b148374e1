import type { Sql } from '../sql.ts'
import { countPoolerSessions } from './pooler-sessions.ts'

/**
 * The connections of the pools of each kind of process, at most. Those of a server are one for each kind of caller:
 * changes, reads with a key, reads of visitors, and checks of keys. Starting takes three more for a moment.
 */
export const poolSizes = {
  server: { main: 7, reads: 5, publicReads: 2, keys: 2 },
  workers: { main: 12 }
} as const

/** How many connections a process of a kind opens at most. */
export const countConnections = (kind: keyof typeof poolSizes): number =>
  Object.values(poolSizes[kind]).reduce((sum, count) => sum + count, 0)

/** Processes renew their registration every 5.5 seconds at most, which may take 4. */
export const aliveSeconds = 10

/**
 * Compares the connections of all processes that run with those that Postgres has for them: its limits without the
 * reserved ones, of the role and of the database, less those of other programs. Returns a sentence if they are too few,
 * else null. A process that was killed counts for ten seconds more.
 */
export async function findConnectionShortage(sql: Sql): Promise<string | null> {
  const { max, reserved, others, own, needed, processes } = await readBudget(sql)
  const available = Math.min(max - reserved - others, own ?? Infinity)
  if (needed <= available) return null
  const limit =
    own !== null && own < max - reserved - others
      ? `the role or database is limited to ${own}`
      : `max_connections is ${max}, of which ${reserved} are reserved and others use ${others}`
  return `${processes} use up to ${needed} connections, and ${limit}`
}

/**
 * Opens the connections that a process of a kind may use at once. Returns a sentence if a pooler is in front of
 * Postgres and gives fewer, else null. Call it while this process has no other connection.
 */
export async function findPoolerShortage(url: string, kind: keyof typeof poolSizes): Promise<string | null> {
  const needed = countConnections(kind)
  const sessions = await countPoolerSessions(url, needed)
  return sessions === null || sessions >= needed
    ? null
    : `a pooler in front of Postgres gives this process only ${sessions} of ${needed} connections`
}

/** The same for all processes that run: opens those connections that they have not opened yet. */
export async function findPoolerShortageForAll(sql: Sql, url: string): Promise<string | null> {
  const { open, needed, processes } = await readBudget(sql)
  if (open >= needed) return null
  const sessions = await countPoolerSessions(url, needed - open)
  return sessions === null || open + sessions >= needed
    ? null
    : `${processes} use up to ${needed} connections, and a pooler in front of Postgres gives only ${open + sessions}`
}

/** What Postgres has and what the processes that run need; at least one of each kind is assumed. */
async function readBudget(sql: Sql) {
  const [row] = await sql<
    {
      max: number
      reserved: number
      others: number
      open: number
      own: number | null
      servers: number
      workers: number
    }[]
  >`
    select current_setting('max_connections')::int as max,
      current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved,
      activity.others, activity.open,
      least((select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database())) as own,
      processes.servers, processes.workers
    from (select count(*) filter (where not is_own) as others, count(*) filter (where is_own) as open
        from (select coalesce(datname = current_database() and application_name like 'cuewire %', false) as is_own
          from pg_stat_activity
          where usesysid is not null and coalesce(backend_type, 'client backend') = 'client backend') a) activity,
      (select count(*) filter (where kind = 'server') as servers, count(*) filter (where kind = 'workers') as workers
        from processes where seen_at > clock_timestamp() - make_interval(secs => ${aliveSeconds})) processes`
  if (row === undefined) throw new Error('Postgres has not answered')
  const [servers, workers] = [Math.max(1, row.servers), Math.max(1, row.workers)]
  return {
    ...row,
    needed: servers * countConnections('server') + workers * countConnections('workers'),
    processes: `${servers} server and ${workers} workers processes`
  }
}
