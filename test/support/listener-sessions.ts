import type { Sql } from '../../src/stores/db/sql.ts'

export interface SeededSession {
  readonly atMs: number
  readonly seconds: number
  readonly family?: string
  readonly client?: string
  readonly country?: string
}

/** Adds sessions of listeners of `/radio.mp3`. */
export async function seedSessions(sql: Sql, stationId: number, sessions: readonly SeededSession[]) {
  const rows = sessions.map(
    ({ atMs, seconds, family = 'VLC', client = 'non_browser', country = '' }, index) => ({
      station_id: stationId,
      started_at_ms: atMs,
      opened: 1,
      ordinal: index,
      ended_at_ms: atMs + seconds * 1_000,
      source: 'mount',
      stream: '/radio.mp3',
      family,
      client,
      country
    })
  )
  await sql`insert into listener_sessions ${sql(rows)}`
}
