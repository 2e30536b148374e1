import { describe, expect } from 'vitest'

import { recordTrackReport } from '../../src/engine/plays/report-track.ts'
import { noCuePoints } from '../../src/model/songs/cue-points.ts'
import { artistKeys, titleKey } from '../../src/model/songs/duplicate-keys.ts'
import { computeSongId, formatSongText } from '../../src/model/songs/song.ts'
import { upsertMedia } from '../../src/stores/db/library/media-rows.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { test } from '../support/fixtures.ts'
import { advanceAndRead, openPlayout } from '../support/playout.ts'
import { adminKey } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'

const artist = 'Alpha feat. Beta'
const listed = ['Alpha', 'Beta, The', 'Tom & Ann']

/** Imports songs with these artists. Returns their ids. */
async function importSongs(
  sql: Sql,
  stationId: number,
  artists: readonly string[] = listed,
  texts = [artist]
) {
  const nothing = { album: '', genre: '', isrc: '', lyrics: '', durationMs: 60_000, tags: null }
  const file = { cues: noCuePoints, coverHash: null, sizeBytes: 0, modifiedMs: 0 }
  const songs = texts.map((text, index) => ({
    ...nothing,
    ...file,
    path: `song ${index}.mp3`,
    artist: text,
    artists,
    title: `Title ${index}`
  }))
  await sql.begin(tx => upsertMedia(tx, stationId, songs))
  const rows = await sql<{ id: number }[]>`select id from media where station_id = ${stationId} order by path`
  return rows.map(({ id }) => id)
}

const readSong = async (sql: Sql, stationId: number) => {
  const [song] = await sql`
    select artist, artists, artist_keys as keys, title_key as title from media where station_id = ${stationId}`
  return song
}

const fromFile = { artist, artists: listed, keys: artistKeys('', listed), title: titleKey('Title 0') }
const fromPerson = (text: string) => ({
  ...fromFile,
  artist: text,
  artists: [],
  keys: artistKeys(text)
})

describe('the artists that a file lists', () => {
  test('are kept by edits of other texts, and replaced by an edit of the artist', async ({ program }) => {
    const stationId = await seedStation(program.sql, { tracks: 0 })
    const [id] = await importSongs(program.sql, stationId)
    const edit = (body: object) => program.ask('PUT', `/api/station/${stationId}/file/${id}`, { body })
    await edit({ title: 'Other', album: 'Album' })
    expect(await readSong(program.sql, stationId)).toEqual({ ...fromFile, title: titleKey('Other') })
    await edit({ title: 'Title 0', artist })
    expect(await readSong(program.sql, stationId)).toEqual(fromFile)
    for (const text of ['Gamma, The', artist, '']) {
      await edit({ artist: text })
      expect(await readSong(program.sql, stationId)).toEqual(fromPerson(text))
    }
  })

  test('are kept or replaced likewise by a CSV file', async ({ program }) => {
    const stationId = await seedStation(program.sql, { tracks: 0 })
    await importSongs(program.sql, stationId)
    const upload = async (line: string) => {
      const form = new FormData()
      form.set('file', new File([`path,title,artist\nsong 0.mp3,${line}\n`], 'all.csv'))
      const url = `${program.baseUrl}/api/station/${stationId}/files/bulk`
      return fetch(url, { method: 'POST', headers: { 'X-API-Key': adminKey }, body: form })
    }
    expect((await upload(`Other,${artist}`)).status).toBe(200)
    expect(await readSong(program.sql, stationId)).toEqual({ ...fromFile, title: titleKey('Other') })
    await upload('Title 0,"Gamma, The"')
    expect(await readSong(program.sql, stationId)).toEqual(fromPerson('Gamma, The'))
  })

  test('are copied with the station', async ({ program }) => {
    const stationId = await seedStation(program.sql, { tracks: 0 })
    await importSongs(program.sql, stationId)
    await program.sql`
      with location as (
        insert into storage_locations (type, adapter, path) values ('station_media', 'local', '/srv/artists') returning id)
      update stations set media_storage_location_id = location.id from location where stations.id = ${stationId}`
    const body = { name: `Copy of ${stationId}`, clone: ['media_storage', 'playlists'] }
    const response = await program.ask('POST', `/api/admin/station/${stationId}/clone`, { body })
    expect(response.status).toBe(200)
    expect(await readSong(program.sql, response.body.id)).toEqual(fromFile)
  })

  test('are those of a reported play of the song, which has its id or is named like it', async ({
    sql,
    redisUrl
  }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedStation(sql, { tracks: 0 })
    await sql`update stations set backend = 'liquidsoap' where id = ${stationId}`
    const [mediaId = 0] = await importSongs(sql, stationId)
    const text = { title: 'Title 0', artist }
    const reports = [
      { ...text, mediaId },
      { title: '', artist: '', mediaId },
      { title: 'Other', artist: 'Gamma & Delta', mediaId },
      { ...text, mediaId: null },
      { title: 'TITLE 0', artist: 'Gamma', mediaId: null }
    ]
    for (const [minute, report] of reports.entries())
      await recordTrackReport(playout, stationId, {
        ...report,
        queueId: null,
        playlistId: null,
        startedAtMs: Date.now() - 600_000 + minute * 60_000,
        isTimed: true
      })
    const plays = await sql`
      select title, title_key as key, artist_keys as keys from song_history where station_id = ${stationId} order by id`
    const own = { title: 'Title 0', key: titleKey('Title 0'), keys: artistKeys('', listed) }
    expect([...plays]).toEqual([
      own,
      own,
      { title: 'Other', key: titleKey('Other'), keys: artistKeys('Gamma & Delta') },
      own,
      { title: 'TITLE 0', key: titleKey('Title 0'), keys: artistKeys('Gamma') }
    ])
  })
})

test('songs of artists with an article or suffix after a comma do not count as repeats of each other', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 0, queueLength: 5 })
  const names = ['Alpha, The', 'Beta, The', 'Gamma, The', 'Delta, The', 'Epsilon, Jr.', 'Zeta, Jr.']
  const ids = await importSongs(sql, stationId, [], names)
  await sql`
    insert into playlist_tracks (playlist_id, media_id, position)
    select p.id, m.id, m.place from playlists p, unnest(${ids}::bigint[]) with ordinality m (id, place)
    where p.station_id = ${stationId}`
  await advanceAndRead(playout, { stationId, endedShId: 0, cause: 'wake' })
  const rows = await sql<{ tier: number }[]>`
    select (jsonb_path_query_first(log, '$[*] ? (@.step == "picked")') -> 'tier')::int as tier
    from queue where station_id = ${stationId} order by position`
  expect(rows.map(({ tier }) => tier)).toEqual(Array(6).fill(1))
})

test('what release 0.2.0 stored of an unchanged file keeps its text and id, and gets the artists of the file', async ({
  sql
}) => {
  const stationId = await seedStation(sql, { tracks: 0 })
  const texts = ['AC', 'A person', 'Alpha']
  await importSongs(sql, stationId, [], texts)
  await sql`update media set tag_version = 1`
  const before = await sql`select song_id from media order by path`
  await importSongs(sql, stationId, [], ['AC/DC', artist, 'Alpha'])
  const stored = () => sql`select artist, artists, artist_keys as keys from media order by path`
  const [, person] = texts
  const edited = { artist: person, artists: [], keys: artistKeys('A person') }
  expect([...(await stored())]).toEqual([
    { artist: 'AC', artists: ['AC/DC'], keys: artistKeys('AC/DC') },
    edited,
    { artist: 'Alpha', artists: [], keys: artistKeys('Alpha') }
  ])
  await importSongs(sql, stationId, listed, ['AC/DC', artist, 'Alpha'])
  const after = { artists: listed, keys: artistKeys('', listed) }
  expect([...(await stored())]).toEqual([
    { artist: 'AC/DC', ...after },
    edited,
    { artist: 'Alpha', ...after }
  ])
  expect((await sql`select song_id from media order by path`).slice(1)).toEqual(before.slice(1))
})

test('the id of a song derives from its text, whatever its file lists', async ({ sql }) => {
  const stationId = await seedStation(sql, { tracks: 0 })
  await importSongs(sql, stationId)
  const [song] = await sql`select song_id from media`
  expect(song).toEqual({ song_id: computeSongId(formatSongText(artist, 'Title 0')) })
})
