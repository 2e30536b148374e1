import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect } from 'vitest'

import { findStationByName } from '../../src/api/core/find-station.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { insertStation } from '../../src/stores/db/stations.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { apiUrlKey, openAzuracastApi } from '../support/azuracast/api.ts'
import { type BackupFile, writeBackup } from '../support/azuracast/backup.ts'
import { renderDump } from '../support/azuracast/dump.ts'
import { generateInstallation, newestPlay, uniqueIdOf } from '../support/azuracast/installation.ts'
import { covers, envOf, moveCommand, png, runMove, sizes } from '../support/azuracast/move.ts'
import { wordsFor } from '../support/compiled-program.ts'
import { test } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'
import { shared } from '../support/worker-process.ts'

async function backupOf(dump: Iterable<string>, name = 'backup.tgz', files: readonly BackupFile[] = []) {
  const path = join(await scratchFolder(), name)
  await writeBackup(path, dump, files)
  return path
}

const changeOneByte = (bytes: Buffer) =>
  Buffer.from(bytes.map((byte, at) => (at === 5_000 ? byte ^ 1 : byte)))

const countPlays = async (sql: Sql) =>
  (
    await sql<
      { plays: number; ids: number }[]
    >`select count(*) as plays, sum(id)::bigint as ids from song_history`
  )[0]

describe('a backup', () => {
  test('that has new plays since is continued', async ({ databaseUrl, sql }) => {
    const place = { databaseUrl, dataDir: await scratchFolder() }
    const first = generateInstallation(sizes)
    await runMove(envOf(place), await backupOf(renderDump(first)))
    // The id of the next play is taken meanwhile.
    const [own] = await sql<{ id: number }[]>`
      insert into song_history (station_id, song_id, started_at_ms, ended_at_ms) values (1, 'a', 1, 2) returning id`
    expect(own?.id).toBe(301)
    // So is a user deleted, with the keys.
    await sql`delete from users where id = 2`
    const later = {
      ...generateInstallation(sizes),
      song_history: generateInstallation({ ...sizes, plays: 306 })['song_history'] ?? []
    }
    const end = await runMove(envOf(place), await backupOf(renderDump(later)))
    expect(end.stdout).toContain('306 plays (300 of them before this run)')
    expect(end.stdout).toContain('API keys of users that were deleted in Cuewire')
    const orphans = await sql`select from api_keys where user_id is not null and user_id <> 1`
    expect(orphans).toHaveLength(0)
    expect(await countPlays(sql)).toEqual({ plays: 307, ids: 307 * 154 })
  })

  test.runIf(isDeep)(
    'is continued after the process was killed',
    { timeout: 180_000 },
    async ({ databaseUrl, sql }) => {
      const place = { databaseUrl, dataDir: await scratchFolder() }
      const many = { ...sizes, plays: 50_000 }
      const backup = await backupOf(renderDump(generateInstallation(many)), 'backup.zip')
      const child = spawn(process.execPath, [...wordsFor(moveCommand), backup], {
        env: { PATH: process.env['PATH'], ...envOf(place) },
        stdio: ['ignore', 'ignore', 'inherit']
      })
      const exited = once(child, 'exit')
      const isBegun = async () => {
        const rows = await sql`select from azuracast_progress where step = 'song_history'`
        return rows.length > 0
      }
      await waitFor(isBegun, { deadlineMs: 120_000, what: 'the first plays' })
      child.kill('SIGKILL')
      await exited
      expect((await countPlays(sql))?.plays).toBeLessThan(many.plays)
      const [station] = await sql<{ is_enabled: boolean }[]>`select is_enabled from stations where id = 1`
      expect(station?.is_enabled).toBe(false)

      const end = await runMove(envOf(place), backup)
      expect(end).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/50000 plays \(\d+ of them before this run\)/)
      })
      expect(await countPlays(sql)).toEqual({ plays: many.plays, ids: (many.plays * (many.plays + 1)) / 2 })
      const counts = await sql`
      select (select count(*) from media) as media, (select count(*) from playlist_tracks) as tracks,
        (select count(*) from queue) as queued, (select count(*) from listener_minutes where total > 0) as minutes,
        (select count(*) from stations where is_enabled) as enabled`
      // Three entries of playlists with an address are media as well.
      expect(counts[0]).toEqual({ media: 63, tracks: 69, queued: 2, minutes: 1_026, enabled: 3 })
    }
  )

  test.each([
    ['backup.tgz', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2), /is damaged/],
    ['backup.tzst', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2), /is damaged/],
    ['backup.tzst', changeOneByte, /is damaged: .*checksum/],
    ['backup.zip', changeOneByte, /is damaged: .*checksum/],
    ['backup.sql', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2), /damaged|not complete/],
    ['backup.rar', () => Buffer.from('Rar!....'), /is no backup/]
  ])('that is broken leaves nothing behind: %s', async (name, damage, problem) => {
    const folder = await scratchFolder()
    const path = join(folder, name)
    const dump = [...renderDump(generateInstallation(sizes))]
    if (name.endsWith('.sql')) await writeFile(path, dump.join(''))
    else await writeBackup(path, dump)
    await writeFile(path, damage(await readFile(path)))
    // No database: it is not asked for.
    const env = { ...shared, DATABASE_URL: 'postgres://localhost:1/none', TMPDIR: folder }
    const end = await runMove(env, path)
    expect(end).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(problem) })
    expect((await readdir(folder)).toSorted()).toEqual([name])
  })
})

describe('stations with the id of others', () => {
  const backup = () => backupOf(renderDump(generateInstallation({ ...sizes, songs: 6, plays: 9, days: 1 })))

  test('are refused, renumbered or left out', async ({ databaseUrl, sql }) => {
    const place = { databaseUrl, dataDir: await scratchFolder() }
    const id = await insertStation(sql, { shortName: 'other', name: 'Other' })
    expect(id).toBe(1)
    const path = await backup()
    const refused = await runMove(envOf(place), path)
    const conflict = 'Station 1 – Bücher & Töne (1, station_1): Cuewire has Other (1, other)'
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(conflict) })
    const tried = await runMove(envOf(place), '--dry-run', path)
    expect(tried).toMatchObject({ code: 0, stdout: expect.stringContaining(conflict) })
    expect(tried.stdout).toContain('3 stations\n')
    const names = async () =>
      (await sql<{ name: string }[]>`select id || ' ' || short_name as name from stations order by id`).map(
        row => row.name
      )
    expect(await names()).toEqual(['1 other'])

    await runMove(envOf(place), '--on-conflict', 'skip', path)
    expect(await names()).toEqual(['1 other', '2 station_2', '3 station_3'])
    expect(await countPlays(sql)).toEqual({ plays: 6, ids: 2 + 3 + 5 + 6 + 8 + 9 })
    const again = await runMove(envOf(place), '--on-conflict', 'skip', path)
    expect(again.stdout).toContain('Nothing was new.')
  })

  test('replace them', async ({ databaseUrl, sql }) => {
    const place = { databaseUrl, dataDir: await scratchFolder() }
    await insertStation(sql, { shortName: 'demo', name: 'Demo' })
    const end = await runMove(envOf(place), '--on-conflict', 'replace', await backup())
    expect(end.stdout).toContain('The station Demo (1, demo) of Cuewire was deleted.')
    const stations = await sql`select id, short_name, is_enabled from stations order by id limit 1`
    expect([...stations]).toEqual([{ id: 1, short_name: 'station_1', is_enabled: true }])
  })

  test('get new ids, and their records belong to them', async ({ databaseUrl, sql }) => {
    const place = { databaseUrl, dataDir: await scratchFolder() }
    await insertStation(sql, { shortName: 'station_1', name: 'Other' })
    const installation = generateInstallation({ ...sizes, songs: 6, plays: 9, days: 1 })
    const odd = [
      { api_history_items: 70, description: 'x'.repeat(3_000) },
      { short_name: 'станция_(2)' },
      { short_name: '2', enable_public_page: false, enable_public_api: true }
    ]
    const station = [...(installation['station'] ?? [])].map((row, index) => ({ ...row, ...odd[index] }))
    const songs = [...(installation['station_media'] ?? [])]
    const copy = { ...songs[0], id: 7, path: 'Copy.mp3' }
    const path = await backupOf(renderDump({ ...installation, station, station_media: [...songs, copy] }))
    const tried = await runMove(envOf(place), '--on-conflict', 'renumber', '--dry-run', path)
    const taken = await runMove(envOf(place), '--on-conflict', 'renumber', path)
    for (const { stdout } of [tried, taken])
      for (const line of [
        'station_1 becomes station_1_2\n',
        'станция_(2) becomes _2\n',
        ': 2 becomes station_2\n',
        'api_history_items 70 becomes 50.\n',
        'The default applies.\n',
        ' 6 songs\n',
        'another song of the location has: 1\n    Copy.mp3\n',
        'whose API required no key: now it requires one: 1\n    Station 3',
        'because their station has that off: 3\n    Station 3'
      ])
        expect(stdout).toContain(line)
    const stations = await sql`
      select s.id, s.short_name, s.is_public, count(h.id) as plays, min(m.path) as path from stations s
      left join song_history h on h.station_id = s.id left join media m on m.id = h.media_id
      group by s.id order by s.id`
    expect([...stations]).toEqual([
      { id: 1, short_name: 'station_1', is_public: true, plays: 0, path: null },
      { id: 2, short_name: '_2', is_public: true, plays: 3, path: expect.stringContaining('(2)') },
      { id: 3, short_name: 'station_2', is_public: false, plays: 3, path: expect.stringContaining('(3)') },
      { id: 4, short_name: 'station_1_2', is_public: true, plays: 3, path: expect.stringContaining('(1)') }
    ])
    expect(await findStationByName(sql, 'станция_(2)')).toMatchObject({ id: 2, shortName: '_2' })
    const onDemand = await sql<{ id: number }[]>`
      select distinct station_id as id from playlists where include_in_on_demand order by id`
    expect(onDemand.map(({ id }) => id)).toEqual([2, 4])
  })
})

test('stations that share their files all have them, with the addresses of covers', async ({
  databaseUrl,
  sql
}) => {
  const place = { databaseUrl, dataDir: await scratchFolder() }
  const installation = generateInstallation({ ...sizes, songs: 6, plays: 9, days: 1 })
  const stations = [...(installation['station'] ?? [])].map(station => ({
    ...station,
    media_storage_location_id: 1
  }))
  await runMove(
    envOf(place),
    await backupOf(renderDump({ ...installation, station: stations }), 'backup.tzst', covers)
  )
  const songs = await sql`
    select station_id, count(*) as songs, count(distinct unique_id) as addresses, count(artwork_hash) as covers
    from media where remote_playlist_id is null group by station_id order by station_id`
  expect([...songs]).toEqual([1, 2, 3].map(id => ({ station_id: id, songs: 2, addresses: 2, covers: 2 })))
})

test('media files are copied where they are to be', async ({ databaseUrl, sql }) => {
  const folder = await scratchFolder()
  const place = { databaseUrl, dataDir: folder }
  const backup = await backupOf(renderDump(generateInstallation(sizes)), 'backup.zip', covers)
  const end = await runMove(envOf(place), '--copy-media', join(folder, 'media'), backup)
  expect(end.stdout).toContain('1 media files copied')
  expect(await readFile(join(folder, 'media/station_1/media/Album 1/Title 1 (1).mp3'), 'utf8')).toBe('audio')
  const [location] = await sql<{ path: string }[]>`select path from storage_locations where id = 1`
  expect(location?.path).toBe(join(folder, 'media/station_1/media'))
})

test('fallback tracks, intros and pictures of streamers are taken once from this machine, or listed', async ({
  databaseUrl,
  sql
}) => {
  const folder = await scratchFolder()
  const place = { databaseUrl, dataDir: join(folder, 'data') }
  const installation = generateInstallation({ ...sizes, songs: 6, plays: 9, days: 1 })
  const stations = [...(installation['station'] ?? [])].map((station, index) => ({
    ...station,
    radio_base_dir: join(folder, String(index + 1)),
    fallback_path: 'fallback.mp3'
  }))
  const own = join(folder, '1', 'config')
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'fallback.mp3'), mp3())
  await writeFile(join(own, 'intro.mp3'), 'no audio')
  await writeFile(join(own, 'streamer_1.jpg'), png)
  const path = await backupOf(renderDump({ ...installation, station: stations }))
  const end = await runMove(envOf(place), path)
  expect(end.stdout).toMatch(/ 2 fallback tracks, intros of mounts and pictures of streamers\n/)
  expect(end.stdout).toMatch(/intro of \/radio\.mp3: it is not audio/)
  expect(end.stdout).toContain(`fallback track: ${join(folder, '2/config/fallback.mp3')}`)
  const stored = join(folder, 'data/stations/1/config')
  expect(await readdir(stored)).toEqual(['fallback.mp3'])
  const read = async () =>
    (
      await sql`
        select s.fallback_path as fallback, w.artwork, w.artwork_type as type
        from stations s left join streamers w on w.station_id = s.id order by s.id`
    ).map(row => ({ ...row }))
  const none = { fallback: '', artwork: null, type: null }
  expect(await read()).toEqual([{ fallback: 'fallback.mp3', artwork: png, type: 'image/png' }, none, none])
  // What an operator deletes is not added again.
  await sql`update stations set fallback_path = ''`
  await rm(stored, { recursive: true })
  expect((await runMove(envOf(place), path)).stdout).toContain('Nothing was new.')
  expect(await readdir(join(folder, 'data/stations')).catch(() => [])).not.toContain('2')
})

test('a running AzuraCast is read with its API, and what that does not show is listed', async ({
  databaseUrl,
  sql
}) => {
  await using azuracast = await startWebServer()
  azuracast.respondWith(openAzuracastApi())
  const place = { databaseUrl, dataDir: await scratchFolder() }
  const refused = await runMove(envOf(place), '--api', azuracast.url, '--key', 'wrong')
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('GET /api/admin/settings: status 403')
  })
  const end = await runMove(envOf(place), '--api', azuracast.url, '--key', apiUrlKey)
  expect(end).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('passwords of users, streamers and SFTP users')
  })
  expect(end.stdout).toContain('pending requests and the queue')
  // Its settings are the defaults of AzuraCast.
  expect(end.stdout).not.toContain('settings of stations')
  expect(await countPlays(sql)).toEqual({ plays: 2_200, ids: 1_100 * 2_201 })
  const [found] = await sql`
    select (select array_agg(media_id || ' ' || position order by id) from playlist_tracks where playlist_id = 2) as tracks,
      (select schedule_items from playlists where id = 1) as schedule,
      (select array_agg(unique_id || cue_in_ms order by id) from media where station_id = 1) as media,
      (select station_permissions from roles where id = (select role_id from user_roles)) as grants,
      (select array_agg(id || path order by id) from storage_locations) as locations,
      (select count(*) from song_history where playlist_id = station_id and is_request) as requests,
      (select count(*) from media_custom_fields where value = 'calm') as fields`
  expect(found).toEqual({
    tracks: ['21 2', '22 1'],
    schedule: [
      { id: 21, start_time: 800, end_time: 900, start_date: '', end_date: '', days: [1, 2], loop_once: false }
    ],
    media: [`${uniqueIdOf(11)}2000`, `${uniqueIdOf(12)}2000`],
    grants: { '2': ['manage station media'] },
    locations: [
      '1/var/azuracast/stations/station_1/station_media',
      '2/var/azuracast/stations/station_2/station_media',
      '11/var/azuracast/stations/station_11/station_recordings',
      '12/var/azuracast/stations/station_12/station_podcasts'
    ],
    requests: 314,
    fields: 4
  })
  const again = await runMove(envOf(place), '--api', azuracast.url, '--key', apiUrlKey)
  expect(again.stdout).toContain('Nothing was new.')
})

test('repeated songs of a playlist are taken with their order and passes, those of folders once', async ({
  databaseUrl,
  sql
}) => {
  const place = { databaseUrl, dataDir: await scratchFolder() }
  const entry = (id: number, playlist: number, media: number, parts: object = {}) => ({
    id,
    playlist_id: playlist,
    media_id: media,
    weight: id,
    is_queued: true,
    ...parts
  })
  const backup = await backupOf(
    renderDump({
      ...generateInstallation({ stations: 1, songs: 5, plays: 0, days: 0 }),
      station_playlist_media: [
        entry(1, 2, 1, { weight: 6, is_queued: false }),
        entry(2, 2, 2),
        entry(3, 2, 1),
        entry(4, 2, 1, { folder_id: 2 }),
        entry(5, 2, 1, { is_queued: false, last_played: newestPlay }),
        entry(6, 1, 3, { folder_id: 2 }),
        entry(7, 1, 3),
        entry(8, 1, 4, { folder_id: 2 }),
        entry(9, 1, 4, { folder_id: 2 })
      ]
    })
  )
  const end = await runMove(envOf(place), backup)
  expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('6 songs in playlists') })
  const entriesOf = async (playlist: number) => [
    ...(await sql`
      select id, media_id, last_pass, is_from_folder from playlist_entries where playlist_id = ${playlist}
      order by position, id`)
  ]
  const taken = [
    { id: 2, media_id: 2, last_pass: 0, is_from_folder: false },
    { id: 3, media_id: 1, last_pass: 0, is_from_folder: false },
    { id: 5, media_id: 1, last_pass: 1, is_from_folder: false },
    { id: 1, media_id: 1, last_pass: 1, is_from_folder: false }
  ]
  expect(await entriesOf(2)).toEqual(taken)
  const [song] =
    await sql`select id, is_from_folder from playlist_entries where playlist_id = 1 and media_id = 3`
  expect(song).toEqual({ id: 7, is_from_folder: false })
  expect((await runMove(envOf(place), backup)).stdout).toContain('Nothing was new.')
  expect(await entriesOf(2)).toEqual(taken)
  // A song that leaves its playlist here stays away, when the rest of a migration is taken.
  await sql`delete from playlist_tracks where media_id = 1`
  await sql`update azuracast_progress set last_id = 4 where step = 'station_playlist_media'`
  expect(await runMove(envOf(place), backup)).toMatchObject({ code: 0 })
  expect(await entriesOf(2)).toEqual(taken.slice(0, 1))
})
