import { setTimeout as pause } from 'node:timers/promises'

import { openSql, type Sql } from '../sql.ts'

const limitMs = 3_000

/**
 * Opens connections at once and returns how many have got a session within three seconds; null if no pooler is in front
 * of Postgres, whose own limits `findConnectionShortage` reads. Closes them. Throws if the first does not answer.
 */
export async function countPoolerSessions(url: string, count: number): Promise<number | null> {
  const sql = openSql(url, { max: count, name: 'check' })
  try {
    if (!(await hasPooler(sql))) return null
    let responded = 0
    // Each is sent over a connection of its own, because none is idle.
    const all = Array.from({ length: count }, async () => {
      await sql`select 1`
      responded++
    })
    const ending = new AbortController()
    await Promise.race([
      Promise.allSettled(all),
      pause(limitMs, undefined, { signal: ending.signal }).catch(() => {})
    ])
    ending.abort()
    return responded
  } finally {
    await sql.end({ timeout: 0 })
  }
}

/** A pooler opens the session with a process id of its own, and Postgres tells another. */
async function hasPooler(sql: Sql): Promise<boolean> {
  const rows = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return rows[0]?.pid !== rows.state.pid
}
