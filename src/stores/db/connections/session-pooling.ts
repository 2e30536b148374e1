import { AdvisedError } from '../../../platform/runtime/operator-error.ts'
import type { Sql } from '../sql.ts'

/** A pooler usually shows itself in the first round. Other clients that use it meanwhile may hide it. */
const rounds = 6
/** How PgBouncer renames prepared statements in transaction mode. */
const renamed = 'PGBOUNCER_%'

/**
 * Checks that a connection keeps its session, which prepared statements and timeouts need. With a pooler in transaction
 * mode, two connections share sessions, or one has several. Both pools have one connection. Throws an `AdvisedError`.
 */
export async function assertSessionsKept(one: Sql, other: Sql): Promise<void> {
  // Twice, because a connection that was lost meanwhile has another session as well.
  if ((await areMixed(one, other)) && (await areMixed(one, other)))
    throw new AdvisedError(
      'a pooler in transaction mode is in front of Postgres, and Cuewire needs sessions',
      'set its pool_mode to session for this database (with a hosted Postgres, use the session pooler or the direct address), or set DATABASE_URL to Postgres itself'
    )
}

async function areMixed(one: Sql, other: Sql): Promise<boolean> {
  const first = await pidOf(one)
  for (let round = 0; round < rounds; round++) {
    // Twice in a row, for poolers that take sessions in turn; then the other, for those that take the newest one.
    const pids = [await pidOf(one), await pidOf(one)]
    if (pids.some(pid => pid !== first) || (await pidOf(other)) === first) return true
  }
  // With two processes of a pooler, each connection may be served by its own.
  const [prepared] = await one<{ isRenamed: boolean }[]>`
    select exists (select from pg_prepared_statements where name like ${renamed}) as "isRenamed"`
  return prepared?.isRenamed ?? false
}

/** Not a prepared statement, which a pooler in transaction mode may refuse. */
async function pidOf(sql: Sql): Promise<number | undefined> {
  const [row] = await sql.unsafe<{ pid: number }[]>('select pg_backend_pid() as pid').simple()
  return row?.pid
}
