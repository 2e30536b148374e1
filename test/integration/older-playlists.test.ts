import { expect } from 'vitest'

import { readPlaylists } from '../../src/stores/db/library/library.ts'
import {
  appendMissingEntries,
  countOccurrences,
  orderPlaylistEntries,
  removePlaylistEntry,
  appendRepeatedSong
} from '../../src/stores/db/library/playlist-entries.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { test as base } from '../support/fixtures.ts'
import { seedStations } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

/** A playlist with five entries of its first song, and one of each of two others. */
const test = base.extend('repeated', async ({ sql }) => {
  const [station] = await seedStations(sql, { tracks: 3 })
  const { id: stationId = 0, playlistId = 0 } = station ?? {}
  await sql`update playlists set "order" = 'sequential' where id = ${playlistId}`
  const media = await sql<{ id: number }[]>`select id from media where station_id = ${stationId} order by id`
  const [jingle = 0, a = 0, b = 0] = media.map(({ id }) => id)
  await sql.begin(tx =>
    appendMissingEntries(tx, playlistId, countOccurrences([jingle, a, jingle, b, jingle, jingle, jingle]))
  )
  const names = new Map([
    [jingle, 'jingle'],
    [a, 'a'],
    [b, 'b']
  ])
  const entries = async () => {
    const rows = await sql<{ id: number; mediaId: number }[]>`
      select id, media_id as "mediaId" from playlist_entries where playlist_id = ${playlistId} order by position, id`
    return rows.map(({ id, mediaId }) => ({ id, name: names.get(mediaId) }))
  }
  const titles = async () => (await entries()).map(({ name }) => name)
  return { stationId, playlistId, jingle, a, b, entries, titles }
})

/** What release 0.2.0 reads of a playlist, in order. */
const readAsBefore = async (sql: Sql, playlistId: number) =>
  (
    await sql<{ id: number }[]>`
      select m.id from playlist_tracks t join media m on m.id = t.media_id
      where t.playlist_id = ${playlistId} and m.remote_playlist_id is null order by t.position, t.id`
  ).map(({ id }) => id)

/** How release 0.2.0 appends songs. */
const appendAsBefore = (sql: Sql, playlistId: number, ids: readonly number[]) => sql`
  with kept as (
    update playlist_tracks set is_from_folder = false
    where playlist_id = ${playlistId} and media_id = any(${[...ids]}::bigint[]) and is_from_folder
  )
  insert into playlist_tracks (playlist_id, media_id, position)
  select ${playlistId}::bigint, new.media_id, last.position + new.place
  from unnest(${[...ids]}::bigint[]) with ordinality as new (media_id, place), (
    select coalesce(max(position), 0) as position from playlist_tracks where playlist_id = ${playlistId}
  ) as last
  on conflict (playlist_id, media_id) do nothing`

/** How release 0.2.0 orders the songs of a playlist. */
async function orderAsBefore(sql: Sql, playlistId: number, order: readonly number[]): Promise<void> {
  const positions = new Map(order.map((each, position) => [each, position]))
  const tracks = await sql<{ id: number; mediaId: number }[]>`
    select id, media_id as "mediaId" from playlist_tracks where playlist_id = ${playlistId} order by position, id`
  const positionOf = (track: { mediaId: number }) => positions.get(track.mediaId) ?? order.length
  const sortedIds = tracks.toSorted((x, y) => positionOf(x) - positionOf(y)).map(track => track.id)
  await sql`
    update playlist_tracks t set position = x.position
    from unnest(${sortedIds}::bigint[]) with ordinality as x (id, position)
    where x.id = t.id and t.position <> x.position`
}

test('a process of 0.2.0 sees each song of a playlist once, and adds songs beside its repeats', async ({
  sql,
  repeated
}) => {
  const { playlistId, jingle, a, b, titles } = repeated
  expect(await titles()).toEqual(['jingle', 'a', 'b', 'jingle', 'jingle', 'jingle', 'jingle'])
  expect(await readAsBefore(sql, playlistId)).toEqual([jingle, a, b])
  await appendAsBefore(sql, playlistId, [b, jingle])
  expect(await titles()).toHaveLength(7)
})

test('an order of 0.2.0 leaves the repeats behind the songs, in their order, and going back and forth loses none', async ({
  sql,
  repeated
}) => {
  const { playlistId, jingle, a, b, entries, titles } = repeated
  const before = await entries()
  await orderAsBefore(sql, playlistId, [b, a, jingle])
  expect(await titles()).toEqual(['b', 'a', 'jingle', 'jingle', 'jingle', 'jingle', 'jingle'])
  const repeats = (list: typeof before) => list.filter(({ name }) => name === 'jingle').map(({ id }) => id)
  expect(repeats(await entries())).toEqual(repeats(before))
  await sql.begin(tx =>
    orderPlaylistEntries(
      tx,
      before.map(({ id }) => id)
    )
  )
  expect(await entries()).toEqual(before)
})

test('a song that 0.2.0 removes from a playlist, or a library, leaves with all its entries', async ({
  sql,
  repeated
}) => {
  const { playlistId, stationId, jingle, a, titles } = repeated
  await sql`
    delete from playlist_tracks where media_id = ${jingle} and playlist_id = any(${[playlistId]}::bigint[]) and not is_from_folder`
  expect(await titles()).toEqual(['a', 'b'])
  await sql.begin(tx => appendRepeatedSong(tx, playlistId, a))
  await sql`delete from media where id = ${a} and station_id = ${stationId}`
  expect(await titles()).toEqual(['b'])
  await sql`delete from playlists where id = ${playlistId}`
  expect([...(await sql`select from playlist_tracks where playlist_id = ${playlistId}`)]).toEqual([])
})

test('entries refer to their first one, whichever is removed, and keep their passes', async ({
  sql,
  repeated
}) => {
  const { stationId, playlistId, entries, titles } = repeated
  const [first, , , second] = await entries()
  await sql`update playlist_tracks set last_pass = 4, last_aired_ms = 7 where id = ${first?.id ?? 0}`
  await sql`
    insert into queue (station_id, seq, position, playlist_id, track_id, media_id, cued_at_ms, plays_at_ms, duration_ms)
    select ${stationId}, -1, 1, playlist_id, id, media_id, 1, 1, 1 from playlist_entries where id = ${second?.id ?? 0}`
  await sql.begin(tx => removePlaylistEntry(tx, first?.id ?? 0))
  expect(await titles()).toEqual(['a', 'b', 'jingle', 'jingle', 'jingle', 'jingle'])
  const [kept] = await sql`
    select t.is_repeat, t.last_pass, q.track_id = t.id as is_queued from playlist_entries t join queue q on q.seq = -1
    where t.id = ${second?.id ?? 0}`
  expect(kept).toEqual({ is_repeat: false, last_pass: 0, is_queued: true })
  // In a shuffled list the song has been heard in this pass, with any of its entries.
  await sql`update playlists set "order" = 'shuffle' where id = ${playlistId}`
  await sql`update playlist_tracks set last_pass = 5, last_aired_ms = 9 where id = ${second?.id ?? 0}`
  await sql.begin(tx => removePlaylistEntry(tx, second?.id ?? 0))
  const found = await sql`
    select last_pass, last_aired_ms from playlist_entries where playlist_id = ${playlistId} and not is_repeat order by position desc limit 1`
  expect([...found]).toEqual([{ last_pass: 5, last_aired_ms: 9 }])
})

test('the AutoDJ reads all entries in order, with ids of their own', async ({ sql, repeated }) => {
  const { stationId, entries } = repeated
  const [playlist] = (await readPlaylists(sql, [stationId])).get(stationId) ?? []
  expect([...(playlist?.tracks.ids ?? [])]).toEqual((await entries()).map(({ id }) => id))
  expect([...(playlist?.tracks.duplicates ?? [])]).toEqual([0, 0, 0, 1, 1, 1, 1])
})

test('an import that repeats a song which is just removed adds it anew', async ({ sql, repeated }) => {
  const { playlistId, jingle, a, titles } = repeated
  const list = countOccurrences([jingle, a, jingle, jingle])
  const removal = sql.begin(async tx => {
    await tx`delete from playlist_tracks where playlist_id = ${playlistId} and media_id = ${jingle}`
    const importing = sql.begin(other => appendMissingEntries(other, playlistId, list))
    await waitFor(
      async () => {
        const [waiting] = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        return waiting !== undefined
      },
      { deadlineMs: 5_000, what: 'the import to wait for the removal' }
    )
    return { importing }
  })
  await (
    await removal
  ).importing
  expect(await titles()).toEqual(['a', 'b', 'jingle', 'jingle', 'jingle'])
})
