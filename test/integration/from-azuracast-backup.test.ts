import { join } from 'node:path'

import { describe, expect } from 'vitest'

import { writeBackup } from '../support/azuracast/backup.ts'
import { renderDump } from '../support/azuracast/dump.ts'
import {
  apiKeys,
  generateInstallation,
  mediaFolderOf,
  newestPlay,
  uniqueIdOf
} from '../support/azuracast/installation.ts'
import { covers, envOf, png, runMove, sizes } from '../support/azuracast/move.ts'
import { readTakenRows } from '../support/azuracast/taken-rows.ts'
import { isolatedTest } from '../support/fixtures.ts'
import { signIn } from '../support/people.ts'
import { followStation } from '../support/playing.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

/** A program after a backup was tried, and then taken. */
const test = isolatedTest.extend('moved', { scope: 'file' }, async ({ program }, { onCleanup }) => {
  const folder = await openTempFolder()
  onCleanup(folder[Symbol.asyncDispose])
  const installation = generateInstallation(sizes)
  const station = [...(installation['station'] ?? [])].map(row =>
    row['id'] === 3 ? { ...row, short_name: 'радио_(3)' } : row
  )
  const backup = join(folder.path, 'backup.tgz')
  await writeBackup(backup, renderDump({ ...installation, station }), covers)
  const take = (...options: string[]) => runMove(envOf(program), ...options, backup)
  const tried = await take('--dry-run')
  const { body: stationsAfterTrial } = await program.ask('GET', '/api/admin/stations')
  const taken = await take()
  const read = async (path: string, key?: string) => {
    const { status, body } = await program.ask('GET', path, key === undefined ? {} : { key })
    expect([path, status]).toEqual([path, 200])
    return body
  }
  return { tried, stationsAfterTrial, taken, take, read }
})

describe('a backup that was taken', { timeout: 90_000 }, () => {
  test('a dry run takes nothing', async ({ moved: { tried, stationsAfterTrial } }) => {
    expect(tried).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Would be taken:\n/) })
    expect(stationsAfterTrial).toEqual([])
  })

  test('what cannot be taken is named in the report', async ({ moved: { taken } }) => {
    expect(taken).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Taken:\n/) })
    for (const name of [
      'Station 1 – Bücher & Töne: genre',
      'settings of the installation: instance_name, history_keep_days, public_theme, homepage_redirect_url\n',
      'default_album_art_url must be',
      'BASE_URL=https://radio.example.com\n',
      'MAIL_FROM=radio@example.com\n',
      'settings of the installation without an equivalent: 1\n    analytics\n',
      'Station 1 – Bücher & Töne: branding_config.public_custom_css\n',
      'Station 1 – Bücher & Töne: backend_config.hls_segment_length\n',
      'Station 1 – Bücher & Töne: so that streamers connect as before, run its Liquidsoap with HARBOR_PORT=8015 HARBOR_MOUNT=/\n',
      'max_mounts 4, max_hls_streams 2: together 6',
      'old@example.com',
      'short (Odd)',
      'no:colon',
      'Talk'
    ])
      expect(taken.stdout).toContain(name)
  })

  test('stations and settings are read back', async ({ moved: { read } }) => {
    expect(await read('/api/admin/station/1')).toMatchObject({
      id: 1,
      name: 'Station 1 – Bücher & Töne',
      short_name: 'station_1',
      description: 'It\'s station "1"\nwith two lines \\ and a backslash',
      timezone: 'Europe/Berlin',
      backend: 'liquidsoap',
      is_enabled: true,
      is_public: true,
      hls_enabled: true,
      hls_is_default: true,
      queue_length: 4,
      history_length: 8,
      offline_text: 'Back soon',
      live_text: 'On air now',
      duplicate_prevention_time_range: 90,
      crossfade_type: 'smart',
      crossfade: 3.5,
      enable_requests: true,
      request_delay: 7,
      request_threshold: 30,
      enable_streamers: true,
      max_bitrate: 320,
      max_hls_streams: 6,
      media_storage_location_id: 1
    })
    expect(await read('/api/admin/settings')).toMatchObject({
      instance_name: 'Example Radio',
      history_keep_days: 90,
      public_theme: 'dark',
      homepage_redirect_url: 'https://www.example.com/',
      default_album_art_url: ''
    })
    expect(await read('/api/admin/storage_location/1')).toMatchObject({
      type: 'station_media',
      adapter: 'local',
      path: mediaFolderOf(1),
      storageQuotaBytes: '50000000000'
    })
    expect(await read('/api/admin/custom_fields')).toEqual([
      { id: 3, name: 'Mood', short_name: 'mood', auto_assign: 'mood' },
      { id: 5, name: 'Notes', short_name: 'notes', auto_assign: '' }
    ])
  })

  test('songs, playlists and folders are read back', async ({ program, moved: { read } }) => {
    expect(await read('/api/station/1/file/3')).toMatchObject({
      id: 3,
      unique_id: uniqueIdOf(3),
      path: 'Album 3/Title 3 (1).mp3',
      artist: 'Artist 3',
      title: 'Title 3',
      album: 'Album 3',
      genre: 'Jazz',
      isrc: 'USRC17607839',
      length: 183,
      mtime: newestPlay - 1_000_000,
      size: 0,
      playlists: [1],
      custom_fields: { mood: 'mood "3"' },
      extra_metadata: { cue_in: 1.5, cue_out: 170, amplify: -2.5 }
    })
    expect(await read('/api/station/1/playlists')).toMatchObject([
      {
        id: 2,
        name: 'Mornings',
        type: 'once_per_x_songs',
        order: 'sequential',
        play_per_songs: 12,
        weight: 5,
        backend_options: 'interrupt,single_track',
        schedule_items: [
          {
            id: 7,
            start_time: 900,
            end_time: 1730,
            start_date: '',
            end_date: '',
            days: [1, 2, 3],
            loop_once: true
          }
        ]
      },
      {
        id: 3,
        name: 'Relay',
        source: 'remote_url',
        remote_url: 'https://relay.example.com/stream3.mp3',
        remote_buffer: 10
      },
      { id: 1, name: 'Rotation', type: 'default', order: 'shuffle', is_enabled: true }
    ])
    const tracks = await program.sql`
    select media_id, position, last_pass, last_aired_ms from playlist_tracks where playlist_id = 1 order by position limit 2`
    expect([...tracks]).toEqual([
      { media_id: 20, position: 40, last_pass: 0, last_aired_ms: null },
      { media_id: 19, position: 41, last_pass: 1, last_aired_ms: (newestPlay - 19) * 1_000 }
    ])
    const [folders] = await program.sql`
      select (select array_agg(playlist_id || ' ' || path order by path) from playlist_folders) as folders,
        (select array_agg(path order by path) from media_folders) as kept,
        (select array_agg(media_id) from playlist_tracks where is_from_folder) as songs`
    expect(folders).toEqual({
      folders: ['1 Album 3', '1 Various/New'],
      kept: ['Album 3', 'Various/New'],
      songs: [3]
    })
  })

  test('mounts and relays are read back', async ({ program, moved: { read } }) => {
    expect(await read('/api/station/1/hls_streams')).toMatchObject([
      {
        id: 1,
        name: '/radio.mp3',
        display_name: '/radio.mp3 (192kbps MP3)',
        is_default: true,
        autodj_bitrate: 192,
        frontend_config: [
          { key: 'custom_config', value: '<mount>\n\t<burst-size>65536</burst-size>\n</mount>' }
        ]
      },
      { id: 2, name: '/low.aac', display_name: 'Low', is_default: false, autodj_format: 'aac' },
      { name: '/hls/aac_hifi', autodj_bitrate: 256, is_visible_on_public_pages: false }
    ])
    expect(await read('/api/station/1/remotes?sort=id')).toMatchObject([
      {
        id: 1,
        name: 'Oslo',
        url: 'http://relay.example.com:8000/main.mp3',
        type: 'icecast',
        admin_password: ''
      },
      { id: 2, name: 'http://old.example.com:8010/', url: 'http://old.example.com:8010', type: '' },
      { id: 3, name: 'Far away', url: 'http://relay.example.org/radio.mp3' }
    ])
    const relayed = await program.sql`
    select r.relayed_mount, l.base_url from remotes r join relays l on l.id = r.relay_id where r.id = 3`
    expect([...relayed]).toEqual([{ relayed_mount: '/radio.mp3', base_url: 'http://relay.example.org' }])
  })

  test('streamers, SFTP users and web hooks are read back', async ({ moved: { read } }) => {
    expect(await read('/api/station/1/streamers')).toMatchObject([
      {
        id: 1,
        streamer_username: 'wren',
        display_name: 'DJ Wren',
        comments: "It's late;\nring twice",
        enforce_schedule: true,
        schedule_items: [{ id: 9, start_time: 2200, end_time: 100, start_date: '2026-01-01', days: [] }]
      }
    ])
    expect(await read('/api/station/1/streamers/broadcasts')).toMatchObject([{}, {}])
    expect(await read('/api/station/1/sftp-users')).toMatchObject([
      { id: 1, username: 'uploader', publicKeys: '# laptop' }
    ])
    expect(await read('/api/station/1/webhooks')).toMatchObject([
      { id: 2, type: 'discord', is_enabled: false },
      {
        id: 1,
        name: 'Site',
        type: 'generic',
        is_enabled: true,
        triggers: ['song_changed'],
        config: expect.arrayContaining([
          { key: 'webhook_url', value: 'https://hooks.example.com/radio' },
          { key: 'basic_auth_username', value: 'u' },
          { key: 'basic_auth_password', value: '' }
        ])
      }
    ])
  })

  test('plays, listeners, requests and the queue are read back', async ({ program, moved: { read } }) => {
    const start = new Date((newestPlay - 100_000) * 1_000).toISOString().slice(0, 10)
    const history = await read(`/api/station/1/history?start=${start}&end=2023-12-31&per_page=200`)
    // Every tenth play is hidden.
    expect(history.total).toBe(90)
    expect(history.rows.find(({ sh_id: id }: { sh_id: number }) => id === 151)).toMatchObject({
      sh_id: 151,
      played_at: newestPlay - 50 * 200 + 5,
      duration: 200,
      playlist: 'Rotation',
      streamer: 'DJ Wren',
      is_request: false,
      song: { artist: expect.stringMatching(/^Artist /), genre: 'Jazz', isrc: 'USRC17607839' }
    })
    const day = new Date((newestPlay - 86_400 * 2) * 1_000).toISOString().slice(0, 10)
    const series = await read(`/api/station/1/listeners/series?start=${day}&end=${day}&step=3600`)
    expect(series.points).toContainEqual(
      expect.objectContaining({ total: 14, unique: 12, most: 19, fewest: 10 })
    )
    expect(await read('/api/station/1/reports/requests')).toMatchObject(
      expect.arrayContaining([expect.anything()])
    )
    const queue = await program.sql`
    select id, media_id, playlist_id, track_id is not null as has_track, is_request, duration_ms from queue
    where station_id = 1 and id in (12, 13) order by id`
    const planned = {
      id: 12,
      media_id: 1,
      playlist_id: 1,
      has_track: true,
      is_request: false,
      duration_ms: 181_500
    }
    const requested = {
      id: 13,
      media_id: 2,
      playlist_id: null,
      has_track: false,
      is_request: true,
      duration_ms: 181_500
    }
    // The AutoDJ replaces a song whose playlist is not scheduled now.
    expect([[requested], [planned, requested]]).toContainEqual([...queue])
  })

  test('people have their passwords, keys and permissions', async ({ program, moved: { read } }) => {
    const users = await read('/api/admin/users')
    expect(users.map(({ email, roles }: Record<string, unknown>) => [email, roles])).toEqual(
      expect.arrayContaining([
        ['admin@example.com', [expect.objectContaining({ name: 'Administrator' })]],
        ['old@example.com', []]
      ])
    )
    await signIn(program, 'admin@example.com', 'correct horse')
    await read('/api/admin/stations', apiKeys.administrator)
    const [file] = await read('/api/station/1/files', apiKeys.manager)
    // A member that only AzuraCast's own code answers.
    expect(file).toHaveProperty('length_text')
    const refused = [
      await program.ask('GET', '/api/station/2/files', { key: apiKeys.manager }),
      await program.ask('GET', '/api/station/1/files', { key: `${apiKeys.manager.slice(0, -1)}0` })
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 403])
    const login = { username: 'uploader', password: 'correct horse' }
    expect((await program.ask('POST', '/api/internal/sftp-auth', { body: login })).body).toMatchObject({
      allow: true,
      station_id: 1
    })
  })

  test('a station is found by the short name it had', async ({ program, moved: { read } }) => {
    const former = encodeURIComponent('радио_(3)')
    await waitFor(async () => (await program.ask('GET', `/api/nowplaying/${former}`)).status === 200, {
      deadlineMs: 15_000,
      what: 'the station with another short name'
    })
    expect((await read(`/api/nowplaying/${former}`)).station.shortcode).toBe('_3')
    expect(await read(`/api/station/${former}/streamers`)).toEqual(await read('/api/station/3/streamers'))
  })

  test('a station is on the air, with the cover under its old address', async ({
    program,
    moved: { read }
  }) => {
    await waitFor(async () => (await program.ask('GET', '/api/nowplaying/station_1')).status === 200, {
      deadlineMs: 15_000,
      what: 'the station to be shown'
    })
    const live = await read('/api/nowplaying/1')
    expect(live).toMatchObject({ station: { id: 1, shortcode: 'station_1' } })
    const cover = await fetch(`${program.baseUrl}/api/station/1/art/${uniqueIdOf(1)}-1600000000.jpg`)
    expect([cover.status, Buffer.from(await cover.arrayBuffer()).equals(png)]).toEqual([200, true])

    expect((await read('/api/station/1/file/1')).size).toBe('audio'.length)
  })

  test('taken again it changes nothing', async ({ program, moved: { take } }) => {
    const before = await readTakenRows(program.sql)
    const again = await take()
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('\nNothing was new.\n') })
    expect(await readTakenRows(program.sql)).toEqual(before)
  })

  test('a new record takes no id of AzuraCast', async ({ program }) => {
    const created = await program.ask('POST', '/api/station/1/playlists', { body: { name: 'New' } })
    expect(created.body.id).toBeGreaterThan(9)
  })

  test('a station is followed by the short name it had', async ({ program }) => {
    const followed = await followStation(program, 'радио_(3)')
    await program.ask('PUT', '/api/station/3/listeners', { body: { total: 123 } })
    await followed.next(np => np.listeners.total === 123)
  })
})
