import postgres from 'postgres'

interface Backend {
  readonly pid: number
  readonly query: string
  readonly queryStart: Date
}

/** The last query of each connection that the server process has to Postgres. */
export interface ServerQueries {
  /**
   * Queries that were begun after a moment (Unix milliseconds); of a connection that sent several, the last.
   */
  since(momentMs: number): Promise<string[]>
  /** Connections of the server that are open. */
  connections(): Promise<number>
  close(): Promise<void>
}

/**
 * Watches what the server process asks of Postgres, by `pg_stat_activity`: a connection shows when its newest
 * query began, so a connection that shows none after a moment has sent none.
 */
export function openServerQueries(databaseUrl: string): ServerQueries {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const read = () => sql<Backend[]>`
    select pid, query, query_start as "queryStart" from pg_stat_activity
    where application_name like 'cuewire server%'`
  return {
    since: async momentMs => {
      const backends = await read()
      return backends
        .filter(({ queryStart }) => queryStart.getTime() > momentMs)
        .map(({ query }) => query.replaceAll(/\s+/g, ' ').slice(0, 120))
    },
    connections: async () => (await read()).length,
    close: () => sql.end()
  }
}
