import { expect } from 'vitest'

import { upsertMedia } from '../../src/db/media-rows.ts'
import { migrate } from '../../src/db/migrate.ts'
import type { Sql } from '../../src/db/sql.ts'
import { noCuePoints } from '../../src/songs/cue-points.ts'
import { artistKeys, titleKey } from '../../src/songs/duplicate-keys.ts'
import { test } from '../support/fixtures.ts'
import { seedStation, seedStations } from '../support/stations.ts'

/** Many songs of two stations, alternating. */
async function seedSongs(sql: Sql, count: number) {
  const stations = await seedStations(sql, { stations: 2, tracks: 0 })
  await sql`
    insert into media (station_id, unique_id, path, song_id, artist, title)
    select (${stations.map(({ id }) => id)}::bigint[])[1 + n % 2], left(md5(n::text), 24), 'a/' || n, md5(n::text),
      'Tom ' || n || ' & Ann', 'Title ' || n
    from generate_series(1, ${count}::int) n`
}

test('media without keys get them when the schema is brought up to date, however many processes do it', async ({
  sql
}) => {
  await seedSongs(sql, 2_500)
  await sql`update media set title_key = 7, artist_keys = '{8}' where path = 'a/5'`
  await Promise.all([migrate(sql), migrate(sql), migrate(sql)])
  const rows = await sql<{ artist: string; title: string; titleKey: number; artistKeys: number[] }[]>`
    select artist, title, title_key as "titleKey", artist_keys as "artistKeys" from media order by id`
  expect(rows).toHaveLength(2_500)
  const wrong = rows.filter(
    row => row.titleKey !== titleKey(row.title) || String(row.artistKeys) !== String(artistKeys(row.artist))
  )
  expect(wrong).toEqual([{ artist: 'Tom 5 & Ann', title: 'Title 5', titleKey: 7, artistKeys: [8] }])
})

test('songs that are imported have keys, and others when they are imported under other names', async ({
  sql
}) => {
  const stationId = await seedStation(sql, { tracks: 0 })
  const nothing = { artists: [], album: '', genre: '', isrc: '', lyrics: '', durationMs: 0 }
  const song = { ...nothing, path: 'a.mp3', tags: null, cues: noCuePoints, coverHash: null, sizeBytes: 0, modifiedMs: 0 }
  const names = [
    { artist: 'Alpha feat. Beta', title: 'One' },
    { artist: '', title: '' },
    { artist: 'Gamma', title: 'Two' }
  ]
  for (const { artist, title } of names) {
    await sql.begin(tx => upsertMedia(tx, stationId, [{ ...song, artist, title }]))
    expect([...(await sql`select title_key, artist_keys from media`)]).toEqual([
      { title_key: titleKey(title), artist_keys: artistKeys(artist) }
    ])
  }
})
