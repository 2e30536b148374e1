import { expect } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import { markStationDeleted, removeDeletedStations } from '../../src/engine/station-removal.ts'
import { storeCovers } from '../../src/stores/db/library/media-rows.ts'
import { removeOldBroadcasts, removeOldPlays, removeUnusedCovers } from '../../src/stores/db/retention.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { removeOrphanDeliveries } from '../../src/webhooks/deliveries/deliveries.ts'
import { readDueHooks } from '../../src/webhooks/deliveries/leases.ts'
import { openOutbox } from '../../src/webhooks/outbox.ts'
import { filterHookTriggers } from '../../src/webhooks/types/hook-types.ts'
import { test } from '../support/fixtures.ts'
import { seedHook, stateOf } from '../support/hooks.ts'
import { openSilentFaults } from '../support/playout.ts'

const dayMs = 86_400_000

/** Adds a station with a library, and plays that ended `days` days ago. */
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

test('plays are kept unless HISTORY_RETENTION_DAYS is set, and the current play always', async ({ sql }) => {
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

test('a deleted station frees its short name at once, and its row is deleted last', async ({ sql }) => {
  const nowMs = Date.now()
  const stationFaults = openSilentFaults()
  const deleted = await addStation(sql, 'reused', nowMs, [3, 2, 1])
  const other = await addStation(sql, 'other', nowMs, [3, 2, 1])
  await sql.begin(tx => markStationDeleted(tx, deleted))
  expect(await addStation(sql, 'reused', nowMs, [])).not.toBe(deleted)
  expect(await playsOf(sql, deleted)).toBe(3)
  expect(await removeDeletedStations({ sql, stationFaults })).toBeGreaterThan(3)
  expect(await playsOf(sql, deleted)).toBe(0)
  expect(await sql`select id from stations where id = ${deleted}`).toEqual([])
  expect(await playsOf(sql, other)).toBe(3)
  expect(await removeDeletedStations({ sql, stationFaults })).toBe(0)
})

test('broadcasts are kept as long as plays', async ({ sql }) => {
  const nowMs = Date.now()
  const id = await addStation(sql, 'live', nowMs, [])
  const days = [400, 31, 29]
  await sql`
    insert into broadcasts (station_id, username, streamer_name, started_at_ms, ended_at_ms)
    select ${id}, 'dj', 'DJ', ${nowMs} - days * ${dayMs}, ${nowMs} - days * ${dayMs} + 1000 from unnest(${days}::bigint[]) days`
  await sql`
    insert into broadcasts (station_id, username, streamer_name, started_at_ms)
    values (${id}, 'dj', 'On air', ${nowMs - 500 * dayMs})`
  expect(await removeOldBroadcasts(sql, nowMs, parseConfig({}))).toBe(0)
  expect(await removeOldBroadcasts(sql, nowMs, parseConfig({ HISTORY_RETENTION_DAYS: '30' }))).toBe(2)
  expect(await sql`select streamer_name from broadcasts order by started_at_ms`).toEqual([
    { streamer_name: 'On air' },
    { streamer_name: 'DJ' }
  ])
})

test('a cover is deleted with its last song, unless an import is about to use it', async ({ sql }) => {
  const id = await addStation(sql, 'covers', Date.now(), [])
  const cover = (hash: string) => ({ hash, contentType: 'image/png', bytes: Buffer.from(hash) })
  await sql.begin(tx => storeCovers(tx, ['used', 'unused', 'wanted'].map(cover)))
  await sql`update media set artwork_hash = 'used' where id = (select min(id) from media where station_id = ${id})`
  await sql.begin(async tx => {
    await storeCovers(tx, [cover('wanted')])
    expect(await removeUnusedCovers(sql)).toBe(1)
    await tx`update media set artwork_hash = 'wanted' where id = (select max(id) from media where station_id = ${id})`
  })
  expect(await removeUnusedCovers(sql)).toBe(0)
  expect(await sql`select hash from artwork order by hash`).toEqual([{ hash: 'used' }, { hash: 'wanted' }])
})

test('deliveries of a deleted web hook are removed afterwards, and no others', async ({ sql }) => {
  const stationId = await addStation(sql, 'hooks', Date.now(), [])
  const deleted = await seedHook(sql, stationId, { config: { webhook_url: 'http://127.0.0.1:9' } })
  const kept = await seedHook(sql, stationId, { config: { webhook_url: 'http://127.0.0.1:9' } })
  for (const shId of [1, 2])
    await sql.begin(tx =>
      openOutbox(filterHookTriggers).writeEvent(tx, stateOf(stationId, shId), {
        fact: `song:${shId}`,
        happenedAtMs: Date.now(),
        triggers: ['song_changed']
      })
    )
  expect(await removeOrphanDeliveries(sql)).toBe(0)
  await sql`delete from webhooks where id = ${deleted}`
  expect(await readDueHooks(sql, Date.now() + 10_000, 10)).toEqual([kept])
  expect(await removeOrphanDeliveries(sql)).toBe(2)
  expect(await sql`select distinct webhook_id as id from webhook_deliveries`).toEqual([{ id: kept }])
  expect(await sql`select from deleted_webhooks`).toHaveLength(0)
})
