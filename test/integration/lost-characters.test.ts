import { expect } from 'vitest'

import { computeAddressSongId, computeSongId } from '../../src/model/songs/song.ts'
import { lostCharacterSteps } from '../../src/stores/db/library/lost-characters.ts'
import type { Sql, Tx } from '../../src/stores/db/sql.ts'
import { runUpgradeStep } from '../../src/stores/db/upgrade-step.ts'
import { test } from '../support/fixtures.ts'

const lost = '\uFFFD'

async function insertStation(sql: Sql): Promise<number> {
  const [station] = await sql<{ id: number }[]>`
    insert into stations (name, short_name) values ('Harbour FM', 'lost_characters') returning id`
  return station?.id ?? 0
}

interface Song {
  readonly path: string
  readonly artist?: string
  readonly title: string
  readonly album?: string
  readonly songId?: string
}

const insertSong = (sql: Sql | Tx, stationId: number, song: Song) => {
  const { path, artist = '', title, album = '' } = song
  const id = song.songId ?? computeSongId([artist, title].filter(text => text !== '').join(' - '))
  return sql`
    insert into media (station_id, unique_id, path, song_id, artist, title, album, title_key, artist_keys)
    values (${stationId}, ${path}, ${path}, ${id}, ${artist}, ${title}, ${album}, 0, '{}')`
}

async function runSteps(sql: Sql): Promise<number> {
  for (let batches = 0; batches < 100; batches++)
    if ((await runUpgradeStep(sql, lostCharacterSteps)) === null) return batches
  throw new Error('the steps do not end')
}

test('U+FFFD is removed from stored texts, and song ids that derive from them follow', async ({ sql }) => {
  const stationId = await insertStation(sql)
  const url = 'https://example.com/a.mp3'
  await sql.begin(async tx => {
    // Without triggers, as rows of before the migration.
    await tx`set local session_replication_role = replica`
    const song = (values: Song) => insertSong(tx, stationId, values)
    await song({ path: 'a.mp3', artist: `Beyonc${lost}`, title: 'Halo', album: `B${lost}Day` })
    await song({ path: `music/caf${lost}.mp3`, title: `${lost}${lost}` })
    await song({ path: url, title: `Caf${lost}`, songId: computeAddressSongId(url) })
    await song({ path: 'clean.mp3', title: 'Clean' })
    await tx`
      insert into song_history (station_id, song_id, artist, title, playlist, started_at_ms, ended_at_ms) values
        (${stationId}, ${computeSongId(`Beyonc${lost} - Halo`)}, ${`Beyonc${lost}`}, 'Halo', ${`Hits ${lost}`}, 1, 2),
        (${stationId}, ${computeSongId(lost)}, '', ${lost}, '', 3, 4)`
    await tx`update stations set name = ${`Radio ${lost}`}, revision = 1 where id = ${stationId}`
    await tx`insert into playlists (station_id, name) values (${stationId}, ${`Caf${lost}`})`
  })

  await runSteps(sql)

  const media = await sql`select path, song_id, artist, title, album from media order by id`
  expect([...media]).toEqual([
    {
      path: 'a.mp3',
      song_id: computeSongId('Beyonc - Halo'),
      artist: 'Beyonc',
      title: 'Halo',
      album: 'BDay'
    },
    { path: `music/caf${lost}.mp3`, song_id: computeSongId('caf'), artist: '', title: 'caf', album: '' },
    { path: url, song_id: computeAddressSongId(url), artist: '', title: 'Caf', album: '' },
    { path: 'clean.mp3', song_id: computeSongId('Clean'), artist: '', title: 'Clean', album: '' }
  ])
  const plays = await sql`select song_id, artist, title, playlist from song_history order by id`
  expect([...plays]).toEqual([
    { song_id: computeSongId('Beyonc - Halo'), artist: 'Beyonc', title: 'Halo', playlist: 'Hits' },
    { song_id: computeSongId('?'), artist: '', title: '?', playlist: '' }
  ])
  const [names] = await sql`
    select s.name, p.name as playlist, s.revision > 1 as "isPublished" from stations s join playlists p on p.station_id = s.id`
  expect(names).toEqual({ name: 'Radio', playlist: 'Caf', isPublished: true })
  const [changed] = await sql`select count(*)::int as songs from library_changes where kind = 'media'`
  expect(changed).toEqual({ songs: 3 })

  // Done, and found in order if they run again.
  await sql`delete from upgrade_steps`
  expect(await runSteps(sql)).toBeGreaterThan(lostCharacterSteps.length)
})

test('an older release that writes U+FFFD is not refused, also after the constraint was added', async ({
  sql
}) => {
  const stationId = await insertStation(sql)
  await insertSong(sql, stationId, { path: 'before.mp3', artist: lost, title: `Caf${lost}` })
  await runSteps(sql)
  await insertSong(sql, stationId, { path: 'after.mp3', artist: '', title: `Caf${lost}` })
  await sql`update media set title = ${`${lost}x`} where path = 'before.mp3'`
  const songs = await sql`select artist, title from media order by id`
  expect([...songs]).toEqual([
    { artist: '?', title: 'x' },
    { artist: '', title: 'Caf' }
  ])
})

test('the constraint refuses U+FFFD where no trigger removes it', async ({ sql }) => {
  const stationId = await insertStation(sql)
  await runSteps(sql)
  const write = sql.begin(async tx => {
    await tx`set local session_replication_role = replica`
    await insertSong(tx, stationId, { path: 'a.mp3', title: lost })
  })
  await expect(write).rejects.toThrow('media_no_lost_characters')
})
