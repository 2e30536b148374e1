import postgres from 'postgres'

interface Backend {
  readonly pid: number
  readonly query: string
  readonly queryStart: Date
}

/** The newest query of each connection of the server to Postgres. */
export interface ServerQueries {
  /** Returns the newest query of each connection that has sent one since a time (Unix milliseconds). */
  readSince(fromMs: number): Promise<string[]>
  /** Returns the number of open connections of the server. */
  countConnections(): Promise<number>
  close(): Promise<void>
}

/**
 * Reads the queries of the server from `pg_stat_activity`. It lists only the newest query of each connection,
 * which is sufficient: if that began before a time, the connection has sent none since.
 */
export function openServerQueries(databaseUrl: string): ServerQueries {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const read = () => sql<Backend[]>`
    select pid, query, query_start as "queryStart" from pg_stat_activity
    where application_name like 'cuewire server%'`
  return {
    readSince: async fromMs => {
      const backends = await read()
      return backends
        .filter(({ queryStart }) => queryStart.getTime() > fromMs)
        .map(({ query }) => query.replaceAll(/\s+/g, ' ').slice(0, 120))
    },
    countConnections: async () => (await read()).length,
    close: () => sql.end()
  }
}
