import { describe, expect } from 'vitest'

import { noCuePoints } from '../../src/model/songs/cue-points.ts'
import { artistKeys, titleKey } from '../../src/model/songs/duplicate-keys.ts'
import { upsertMedia } from '../../src/stores/db/library/media-rows.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { runUpgradeStep } from '../../src/stores/db/upgrade-step.ts'
import { upgradeSteps } from '../../src/stores/db/upgrade-steps.ts'
import { test } from '../support/fixtures.ts'
import { seedStation, seedStations } from '../support/stations.ts'

const step = 'keys of titles and artists'
const runStep = (sql: Sql) =>
  runUpgradeStep(
    sql,
    upgradeSteps.filter(({ name }) => name === step)
  )

/** Runs the batches of a step until it is done. Returns the number of songs of each. */
async function finishStep(sql: Sql): Promise<number[]> {
  const batches = []
  for (;;) {
    const batch = await runStep(sql)
    if (batch === null) return batches
    batches.push(batch.rows)
  }
}

const readKeys = (sql: Sql) => sql<{ id: number; title: number; artists: number[] }[]>`
  select id, title_key as title, artist_keys as artists from media order by id`

/** The keys that release 0.2.0 stored for `Alpha, The`. */
const formerKeys = ['alpha', 'the'].map(titleKey)

/**
 * Stations with songs of an artist whose keys release 0.2.0 stored, and of others; their ids alternate between the
 * stations.
 */
async function seedFormerSongs(sql: Sql, { stations, songs }: { stations: number; songs: number }) {
  const ids = (await seedStations(sql, { stations, tracks: 0 })).map(({ id }) => id)
  await sql`
    insert into media (station_id, unique_id, path, song_id, artist, title, title_key, artist_keys)
    select s.id, left(md5(s.id || '-' || n), 24), 'a/' || n, md5(n::text),
      case when n % 2 = 0 then 'Alpha, The' else 'Tom & Ann' end, 'Title', ${titleKey('Title')},
      case when n % 2 = 0 then ${formerKeys}::bigint[] else ${artistKeys('Tom & Ann')}::bigint[] end
    from generate_series(1, ${songs}::int) n, unnest(${ids}::bigint[]) s (id) order by n, s.id`
  return ids
}

const readVersions = async (sql: Sql) =>
  new Map(
    (await sql<{ id: number; version: number }[]>`select station_id as id, version from libraries`).map(
      row => [row.id, row.version]
    )
  )

describe('keys that an earlier release stored are computed anew', () => {
  test('by ten stations at a time, whose libraries alone change', async ({ sql }) => {
    const ids = await seedFormerSongs(sql, { stations: 25, songs: 6 })
    const other = await seedStation(sql, { tracks: 3 })
    const rows = await readKeys(sql)
    const versions = [await readVersions(sql)]
    for (let batch = 0; batch < 3; batch++) {
      await runStep(sql)
      versions.push(await readVersions(sql))
    }
    const raised = versions.slice(1).map((after, index) => {
      const before = versions[index]
      return ids.filter(id => after.get(id) !== before?.get(id)).length
    })
    expect(raised).toEqual([10, 10, 5])
    expect(versions.at(-1)?.get(other)).toBe(versions[0]?.get(other))
    const keys = await readKeys(sql)
    const expected = [artistKeys('Alpha, The').join(), artistKeys('Tom & Ann').join()]
    expect(new Set(keys.slice(0, 150).map(({ artists }) => artists.join()))).toEqual(new Set(expected))
    expect(keys.map(({ title }) => title)).toEqual(rows.map(({ title }) => title))
  })

  test('a thousand at a time, however many stations they are of, by several processes', async ({ sql }) => {
    await seedFormerSongs(sql, { stations: 2, songs: 1_250 })
    await sql`update media set title_key = null, artist_keys = null where path = 'a/3'`
    expect((await Promise.all([finishStep(sql), finishStep(sql)])).flat().length).toBeLessThanOrEqual(5)
    await finishStep(sql)
    const keys = await readKeys(sql)
    expect(keys.filter(({ artists }) => artists.join() === artistKeys('Alpha, The').join())).toHaveLength(
      1_250
    )
    expect(keys.filter(({ title }) => title !== titleKey('Title'))).toEqual([])
  })

  test('of a large library within the list of changes, which is read one by one', async ({ sql }) => {
    const [id = 0] = await seedFormerSongs(sql, { stations: 1, songs: 3_000 })
    expect(await finishStep(sql)).toEqual([1_000, 1_000, 1_000, 0])
    const kinds = await sql`
      select kind, count(*) from library_changes where station_id = ${id} and kind <> 'playlist' group by kind`
    expect([...kinds]).toEqual([{ kind: 'media', count: 1_500 }])
  })

  test('from the first song on, if the earlier release wrote meanwhile', async ({ sql }) => {
    await seedFormerSongs(sql, { stations: 1, songs: 2_000 })
    await runStep(sql)
    const heartbeat = (minutesAgo: number) => sql`
      insert into processes (id, kind, version, readable_schemas, own_schema, seen_at)
      values ('00000000-0000-0000-0000-000000000001', 'server', '0.2.0', '{3}', 3, clock_timestamp() - make_interval(mins => ${minutesAgo}))
      on conflict (id) do update set seen_at = excluded.seen_at`
    await heartbeat(0)
    await sql`update media set artist_keys = ${formerKeys} where path = 'a/2'`
    expect(await runStep(sql)).toBeNull()
    await heartbeat(6)
    expect(await finishStep(sql)).toEqual([1_000, 1_000, 0])
    const keys = await readKeys(sql)
    expect(keys.filter(({ artists }) => artists.join() === formerKeys.join())).toEqual([])
    expect(await finishStep(sql)).toEqual([])
  })

  test('from the text alone, if the earlier release changed it and knew nothing of the list', async ({
    sql
  }) => {
    const stationId = await seedStation(sql, { tracks: 0 })
    await importSong(sql, stationId, { artist: 'Alpha feat. Beta', artists: ['Alpha', 'Beta'], title: 'One' })
    // As release 0.2.0 edits, and then imports, songs.
    await sql`update media set artist = 'Gamma, The', artist_keys = ${['gamma', 'the'].map(titleKey)}`
    await finishStep(sql)
    expect(await readKeys(sql)).toMatchObject([{ artists: artistKeys('Gamma, The') }])
    await sql`
      insert into media as old (station_id, unique_id, path, song_id, artist, title, title_key, artist_keys, tag_version)
      values (${stationId}, 'x', 'a.mp3', ${'0'.repeat(32)}, 'Delta', 'One', 1, '{1}', 1)
      on conflict (station_id, path) where remote_playlist_id is null do update set artist = excluded.artist,
        artist_keys = excluded.artist_keys, tag_version = excluded.tag_version
      where old.artist is distinct from excluded.artist`
    await sql`delete from upgrade_steps`
    await finishStep(sql)
    expect(await readKeys(sql)).toMatchObject([{ artists: artistKeys('Delta') }])
  })
})

interface Names {
  readonly artist: string
  readonly artists?: readonly string[]
  readonly title: string
}

/** Imports a song with these tags. */
function importSong(sql: Sql, stationId: number, { artists = [], ...names }: Names) {
  const nothing = { album: '', genre: '', isrc: '', lyrics: '', durationMs: 0, tags: null }
  const file = { path: 'a.mp3', cues: noCuePoints, coverHash: null, sizeBytes: 0, modifiedMs: 0 }
  return sql.begin(tx => upsertMedia(tx, stationId, [{ ...nothing, ...file, ...names, artists }]))
}

test('songs that are imported have keys, and others when they are imported under other names', async ({
  sql
}) => {
  const stationId = await seedStation(sql, { tracks: 0 })
  const songs: Names[] = [
    { artist: 'Alpha feat. Beta', title: 'One' },
    { artist: 'Alpha feat. Beta', artists: ['Alpha', 'Beta', 'Tom & Ann'], title: 'One' },
    { artist: 'Alpha feat. Beta', artists: ['Alpha', 'Beta'], title: 'One' },
    { artist: 'Alpha & Beta', artists: ['Alpha', 'Beta'], title: 'One' },
    { artist: '', title: '' },
    { artist: 'Gamma', title: 'Two' }
  ]
  for (const song of songs) {
    const { artist, artists = [], title } = song
    expect(await importSong(sql, stationId, song)).toMatchObject({ unchanged: 0 })
    expect(await importSong(sql, stationId, song)).toMatchObject({ unchanged: 1 })
    expect([...(await sql`select artist, artists, title_key, artist_keys from media`)]).toEqual([
      { artist, artists, title_key: titleKey(title), artist_keys: artistKeys(artist, artists) }
    ])
  }
})
