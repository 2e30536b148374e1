import { expect } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import type { Sql } from '../../src/db/sql.ts'
import { markStationDeleted, removeDeletedStations } from '../../src/playout/station-removal.ts'
import { removeOldPlays } from '../../src/retention.ts'
import { test } from '../support/fixtures.ts'

const dayMs = 86_400_000

/** Adds a station with a library, and plays that ended so many days ago. */
async function addStation(
  sql: Sql,
  name: string,
  nowMs: number,
  playDays: readonly number[]
): Promise<number> {
  const [station] = await sql<{ id: number }[]>`
    insert into stations (name, short_name) values (${name}, ${name}) returning id`
  const id = station?.id ?? 0
  await sql`
    insert into song_history (station_id, song_id, started_at_ms, ended_at_ms)
    select ${id}, ${'0'.repeat(32)}, ${nowMs} - days * ${dayMs} - 1000, ${nowMs} - days * ${dayMs} - 1
    from unnest(${[...playDays]}::bigint[]) days`
  await sql`
    with list as (insert into playlists (station_id, name) values (${id}, 'All') returning id),
      song as (
        insert into media (station_id, unique_id, path, song_id)
        select ${id}, left(md5(${id}::text || '-' || n), 24), 'song ' || n, md5(n::text) from generate_series(1, 3) n returning id)
    insert into playlist_tracks (playlist_id, media_id, position) select list.id, song.id, 1 from list, song`
  return id
}

const playsOf = async (sql: Sql, stationId: number) => {
  const [row] = await sql<{ plays: number }[]>`
    select count(*) as plays from song_history where station_id = ${stationId}`
  return row?.plays
}

test('plays are kept for ever unless HISTORY_RETENTION_DAYS is set, and the play on air always', async ({
  sql
}) => {
  const nowMs = Date.now()
  const id = await addStation(sql, 'kept', nowMs, [400, 90, 30, 29])
  await sql`
    insert into song_history (station_id, song_id, started_at_ms) values (${id}, ${'0'.repeat(32)}, ${nowMs - 500 * dayMs})`
  expect(await removeOldPlays(sql, nowMs, parseConfig({}))).toBe(0)
  expect(await removeOldPlays(sql, nowMs, parseConfig({ HISTORY_RETENTION_DAYS: '30' }))).toBe(3)
  expect(await playsOf(sql, id)).toBe(2)
})

test('a retention too short for the AutoDJ is refused', () => {
  expect(() => parseConfig({ HISTORY_RETENTION_DAYS: '7' })).toThrow(
    'HISTORY_RETENTION_DAYS is neither 0 nor a number from 30 to 36500'
  )
})

test('a deleted station frees its short name at once, and its row goes last', async ({ sql }) => {
  const nowMs = Date.now()
  const deleted = await addStation(sql, 'reused', nowMs, [3, 2, 1])
  const other = await addStation(sql, 'other', nowMs, [3, 2, 1])
  await sql.begin(tx => markStationDeleted(tx, deleted))
  expect(await addStation(sql, 'reused', nowMs, [])).not.toBe(deleted)
  expect(await playsOf(sql, deleted)).toBe(3)
  expect(await removeDeletedStations(sql)).toBeGreaterThan(3)
  expect(await playsOf(sql, deleted)).toBe(0)
  expect(await sql`select id from stations where id = ${deleted}`).toEqual([])
  expect(await playsOf(sql, other)).toBe(3)
  expect(await removeDeletedStations(sql)).toBe(0)
})
