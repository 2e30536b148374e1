import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'

import { migrateDatabase } from '../../src/stores/db/migrate.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import { startPostgres } from '../../src/stores/embedded/postgres.ts'
import { openTempFolder } from './temp-folder.ts'

/** The number of rows in each table with long retention. */
export const manyRows = 5_000_000
/** The number of rows in each of `queue`, `listener_sessions`, `broadcasts` and `notifications`. */
const fewerRows = 1_000_000
/** The number of rows in each table that are older than the retention. */
export const oldRows = 60_000
const minuteMs = 60_000

/** The stations of `fillTables`. */
export const stations = {
  /** Has five million rows in each table. */
  large: 1,
  /** Has three plays, which are older than all others. */
  silent: 2,
  /** Has 20,000 plays. */
  small: 3
} as const

/** Starts a Postgres on disk (13 GB) with a database that `fillTables` has filled. */
export async function openLargeDatabase(nowMs: number): Promise<AsyncDisposable & { readonly url: string }> {
  const folder = await openTempFolder()
  const made = await startPostgres(folder.path, { durable: false })
  await made.stop()
  const settings = ['autovacuum = off', 'wal_level = minimal', 'max_wal_senders = 0', 'max_wal_size = 4GB']
  await appendFile(join(folder.path, 'data', 'postgresql.conf'), `${settings.join('\n')}\n`)
  const service = await startPostgres(folder.path, { durable: false })
  const close = async () => {
    await service.stop()
    await folder[Symbol.asyncDispose]()
  }
  try {
    await migrateDatabase(service.url)
    await fillTables(service.url, nowMs)
  } catch (error) {
    await close()
    throw error
  }
  return { url: service.url, [Symbol.asyncDispose]: close }
}

/**
 * Fills an empty, migrated database: each growing table has rows of the station `large` up to `nowMs` (a
 * whole minute). Rare rows, such as failed deliveries and audit entries of one kind, come first. Fast in a
 * Postgres with `wal_level` `minimal`.
 */
async function fillTables(databaseUrl: string, nowMs: number): Promise<void> {
  const sql = openSql(databaseUrl, { max: 2, name: 'fill', statementSeconds: 600 })
  try {
    await addStations(sql)
    const indexes = await dropIndexes(sql)
    const parts = partsUpTo(nowMs)
    await Promise.all(parts.map(part => fillPart(sql, part)))
    const waiting = indexes.values()
    const build = async () => {
      for (const index of waiting) await sql.unsafe(`set maintenance_work_mem = '512MB'; ${index}`)
    }
    await Promise.all([build(), build()])
    await Promise.all(
      parts.map(async part => sql.unsafe(`vacuum (analyze, parallel 0) ${part.tables.join(', ')}`))
    )
    await sql`analyze`
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function addStations(sql: Sql): Promise<void> {
  await sql`insert into stations (name, short_name) values ('Large', 'large'), ('Silent', 'silent'), ('Small', 'small')`
  await sql`insert into media (station_id, unique_id, path, song_id, duration_ms) values (1, 'unique', 'path', ${songId}, 180000)`
  await sql`insert into playlists (station_id, name) values (1, 'All')`
  await sql`insert into playlists (station_id, name, type, play_per_songs) values (1, 'Jingles', 'once_per_x_songs', 5)`
  await sql`insert into playlist_tracks (playlist_id, media_id, position) values (1, 1, 1)`
  await sql`insert into webhooks (station_id, type) values (1, 'generic')`
}

/**
 * Drops indexes and constraints that are faster to build afterwards. Returns the statements that build them.
 */
async function dropIndexes(sql: Sql): Promise<string[]> {
  const tables = partsUpTo(0).flatMap(part => part.tables)
  const indexes = await sql<{ name: string; definition: string }[]>`
    select i.indexname as name, i.indexdef as definition from pg_indexes i
    where i.schemaname = 'public' and i.tablename = any(${tables}::text[])
      and not exists (select from pg_constraint c where c.conname = i.indexname)`
  for (const { name } of indexes) await sql`drop index ${sql(name)}`
  return indexes.map(({ definition }) => definition)
}

const songId = '0'.repeat(32)

/** Statements that fill tables, in order. */
interface Part {
  readonly tables: readonly string[]
  readonly statements: readonly string[]
}

/** Two groups of statements with about the same duration. */
function partsUpTo(nowMs: number): readonly Part[] {
  const rows = `generate_series(1, ${manyRows}::bigint) n`
  const fewer = `generate_series(1, ${fewerRows}::bigint) n`
  /** The time of row `n`, a minute before the next one. */
  const at = `(${nowMs}::bigint - (${manyRows} - n) * ${minuteMs})`
  /** The same for fewer rows, 50 ms before the next one; old rows are 100 days older. */
  const atOfFewer = `(${nowMs}::bigint - (${fewerRows} - n) * 50 - case when n <= ${oldRows} then 8640000000 else 0 end)`
  const rare = (usual: string, first: string) => `case when n <= 10 then ${first} else ${usual} end`
  const plays = (stationId: number, untilMs: number, count: number) => `
    insert into song_history (station_id, media_id, playlist_id, song_id, artist, title, duration_ms, started_at_ms, ended_at_ms)
    select ${stationId}, 1, case when n = 10 then 2 end, '${songId}', 'Artist', 'Title ' || n, ${minuteMs},
      ${untilMs}::bigint - (${count} - n + 1) * ${minuteMs}, ${untilMs}::bigint - (${count} - n) * ${minuteMs}
    from generate_series(1, ${count}::bigint) n`
  return [
    {
      tables: ['song_history', 'queue', 'requests', 'listener_minutes', 'listener_sessions'],
      statements: [
        plays(stations.silent, nowMs - (manyRows + 1) * minuteMs, 3),
        plays(stations.large, nowMs, manyRows),
        plays(stations.small, nowMs, 20_000),
        `insert into queue (station_id, seq, media_id, cued_at_ms, plays_at_ms, duration_ms, position, history_id, played_at_ms)
          select 1, -n, 1, ${atOfFewer}, ${atOfFewer}, ${minuteMs}, n, n, ${atOfFewer} from ${fewer}`,
        `insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms, state, ended_at_ms)
          select 1, 1, '', ${at}, ${at}, 'aired', ${at} from ${rows}`,
        `insert into listener_minutes (station_id, minute, total, "unique", most, fewest)
          select 1, ${at} / ${minuteMs}, 1, 1, 1, 1 from ${rows}`,
        `insert into listener_sessions (station_id, started_at_ms, opened, ordinal, ended_at_ms, source, stream, family, client, country)
          select 1, ${atOfFewer}, n, 0, ${atOfFewer} + ${minuteMs}, 'mount', '/radio.mp3', 'VLC', 'desktop', 'DE' from ${fewer}`
      ]
    },
    {
      tables: [
        'webhook_events',
        'webhook_deliveries',
        'webhook_attempts',
        'audit_log',
        'broadcasts',
        'notifications'
      ],
      statements: [
        `insert into webhook_events (station_id, fact, happened_at_ms, state)
          select 1, lpad(n::text, 12, '0'), ${at}, '{}' from ${rows}`,
        `insert into webhook_deliveries (webhook_id, event_id, message_id, triggers, happened_at_ms, state, attempts, ended_at_ms)
          select 1, n, lpad(n::text, 12, '0'), '{song_changed}', ${at}, ${rare("'delivered'", "'failed'")}, 1, ${at}
          from ${rows}`,
        `insert into webhook_attempts (delivery_id, attempt, started_at_ms, duration_ms, status, error, url, response)
          select n, 1, ${at}, 5, 200, '', 'https://radio.example.com/', '' from ${rows}`,
        `insert into audit_log (at, key_id, key_name, method, path, record, record_id, station_id)
          select to_timestamp(${at} / 1000), n % 3, 'key ' || n % 3, 'PUT', '/', ${rare("'Playlist'", "'Rare'")}, n::text,
            ${rare('1', '2')} from ${rows}`,
        `insert into broadcasts (station_id, username, streamer_name, started_at_ms, ended_at_ms)
          select 1, 'wren', 'DJ Wren', ${atOfFewer}, ${atOfFewer} from ${fewer}`,
        `insert into notifications (notification_id, title, created_at, read_at)
          select lpad(n::text, 36, '0'), 'Title', to_timestamp(${atOfFewer} / 1000), now() from ${fewer}`
      ]
    }
  ]
}

async function fillPart(sql: Sql, { tables, statements }: Part): Promise<void> {
  await sql.begin(async tx => {
    // Foreign key checks would take most of the time.
    await tx`set local session_replication_role = replica`
    // Writes to a table that was created in the same transaction need no WAL.
    await tx.unsafe(`truncate ${tables.join(', ')} cascade`)
    for (const statement of statements) await tx.unsafe(statement)
  })
}
