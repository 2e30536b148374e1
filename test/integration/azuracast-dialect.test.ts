import { describe, expect } from 'vitest'

import { expectStatus } from '../contract/calls.ts'
import { serveApi } from '../support/api-server.ts'
import { aSong, aPlay, aStation } from '../support/builders.ts'
import { test as base } from '../support/fixtures.ts'
import { type JsonBody, adminKey, type Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

/** A station, and requests with a key of the dialect. */
const test = base.extend('ask', { scope: 'file' }, async ({ program }, { onCleanup }) => {
  const station = await seedStation(program.sql)
  const body = { name: 'Client', permissions: ['administer all'], dialect: 'azuracast' }
  const { body: made } = await program.ask('POST', '/api/v1/main/api-keys', { body })
  // Lists of keys show those with a dialect differently, and other files share the program.
  onCleanup(async () => void (await program.sql`delete from api_keys where id = ${made.api_key.id}`))
  return async (method: string, path: string, sent?: unknown) => {
    const at = path.replace('{station}', `/api/station/${station}`)
    if (isForm(sent)) return sendForm(program, method, at, sent, String(made.key))
    return program.ask(method, at, { key: String(made.key), ...(sent === undefined ? {} : { body: sent }) })
  }
})

const isForm = (body: unknown) => body instanceof URLSearchParams || body instanceof FormData

async function sendForm(
  { baseUrl }: Program,
  method: string,
  path: string,
  body: URLSearchParams | FormData,
  key: string
) {
  const response = await fetch(baseUrl + path, { method, headers: { 'X-API-Key': key }, body })
  const parsed: JsonBody = await response.json()
  return { status: response.status, headers: response.headers, body: parsed }
}

/** Bodies as clients of AzuraCast send them, and what is read back. `list`: where to create it, `one`: its path. */
const records = [
  {
    list: '{station}/playlists',
    one: '{station}/playlist',
    body: {
      name: 'Night',
      description: 'ignored',
      type: 'default',
      source: 'songs',
      order: 'sequential',
      remote_url: null,
      backend_options: ['interrupt', 'single_track'],
      play_per_hour_minute: 75,
      schedule_items: [{ start_time: 900, end_time: 1030, start_date: null, end_date: null, days: [1, 2] }]
    },
    shown: {
      backend_options: ['interrupt', 'single_track'],
      play_per_hour_minute: 0,
      remote_url: null,
      num_songs: 0,
      schedule_items: [expect.objectContaining({ start_time: 900, start_date: null, days: [1, 2] })],
      links: expect.objectContaining({ order: expect.stringMatching(/\/playlist\/\d+\/order$/) })
    },
    ignored: 'description'
  },
  {
    list: '{station}/remotes',
    one: '{station}/remote',
    body: {
      display_name: 'Oslo',
      type: 'icecast',
      url: 'https://relay.example.com:8443',
      mount: '/main.mp3',
      is_visible_on_public_pages: false,
      enable_autodj: true,
      autodj_format: 'aac',
      autodj_bitrate: 96
    },
    shown: {
      display_name: 'Oslo',
      url: 'https://relay.example.com:8443',
      mount: '/main.mp3',
      is_visible_on_public_pages: false,
      autodj_format: 'aac',
      autodj_bitrate: 96
    },
    ignored: 'enable_autodj'
  },
  {
    list: '{station}/mounts',
    one: '{station}/mount',
    body: {
      name: '/extra.mp3',
      fallback_mount: null,
      authhash: null,
      frontend_config: '<burst-size>1</burst-size>'
    },
    shown: {
      name: '/extra.mp3',
      fallback_mount: null,
      frontend_config: '<burst-size>1</burst-size>',
      intro_path: null
    }
  },
  {
    list: '{station}/hls_streams',
    one: '{station}/hls_stream',
    body: { name: 'AAC HiFi!', format: 'aac_he', bitrate: 96 },
    shown: { name: 'aac_hifi', format: 'aac', bitrate: 96, listeners: 0 }
  },
  {
    list: '{station}/mounts',
    one: '{station}/mount',
    body: {
      name: '/low.mp3',
      display_name: '',
      fallback_mount: null,
      relay_url: null,
      autodj_format: 'mp3',
      autodj_bitrate: 64,
      frontend_config: '{"burst-size":65536}'
    },
    shown: {
      display_name: '/low.mp3 (64kbps MP3)',
      fallback_mount: null,
      autodj_bitrate: 64,
      frontend_config: '{"burst-size":65536}',
      intro_path: null,
      links: expect.objectContaining({ intro: expect.stringMatching(/\/mount\/\d+\/intro$/) })
    }
  },
  {
    list: '{station}/streamers',
    one: '{station}/streamer',
    body: { streamer_username: 'wren', streamer_password: 'a long secret', comments: null },
    shown: {
      display_name: 'wren',
      comments: null,
      has_custom_art: false,
      art_updated_at: 0,
      art: expect.stringMatching(/\/art$/)
    }
  },
  {
    list: '{station}/webhooks',
    one: '{station}/webhook',
    body: {
      name: 'Chat',
      type: 'discord',
      // A song that changes meanwhile would be a pending delivery.
      is_enabled: false,
      triggers: ['song_changed'],
      config: {
        webhook_url: 'https://chat.example.com/hook',
        content: 'Now: {{ now_playing.song.text }}',
        color: '2196f3'
      }
    },
    shown: {
      config: expect.objectContaining({ content: 'Now: {{ now_playing.song.text }}', color: '#2196f3' })
    }
  },
  {
    list: '{station}/sftp-users',
    one: '{station}/sftp-user',
    body: { username: 'dialect-sftp', password: 'a long secret', publicKeys: null },
    shown: { username: 'dialect-sftp', password: '', publicKeys: null }
  },
  {
    list: '/api/admin/custom_fields',
    one: '/api/admin/custom_field',
    body: { name: 'Energy', short_name: 'energy', auto_assign: null },
    shown: { short_name: 'energy', auto_assign: null }
  },
  {
    list: '/api/admin/users',
    one: '/api/admin/user',
    body: { email: 'dialect@example.com', new_password: 'a long secret', roles: [] },
    shown: { name: null, auth_password: '', roles: [] }
  },
  {
    list: '/api/admin/storage_locations',
    one: '/api/admin/storage_location',
    body: { type: 'station_media', adapter: 'local', path: '/srv/dialect', storageQuota: null },
    shown: { storageQuota: null, storageUsedPercent: 0, isFull: false, s3Region: null, sftpPort: null }
  },
  {
    list: '/api/admin/storage_locations',
    one: '/api/admin/storage_location',
    body: {
      type: 'station_media',
      adapter: 's3',
      path: 'dialect',
      s3Bucket: 'songs',
      s3CredentialKey: 'key',
      s3CredentialSecret: 'a long secret',
      s3Endpoint: 'https://s3.example.com'
    },
    shown: { s3Bucket: 'songs', s3CredentialSecret: null }
  },
  {
    list: '/api/admin/stations',
    one: '/api/admin/station',
    body: {
      name: 'Dialect FM',
      short_name: 'dialect_fm',
      enable_public_page: false,
      frontend_type: 'icecast',
      backend_type: 'liquidsoap',
      backend_config: { autodj_queue_length: 7, crossfade: 3.5, charset: 'UTF-8' },
      frontend_config: { source_pw: 'hackme', port: 8000 },
      branding_config: { offline_text: 'Back soon' },
      api_history_items: 9
    },
    shown: {
      enable_public_page: false,
      backend_config: expect.objectContaining({ autodj_queue_length: 7, crossfade: 3.5 }),
      frontend_config: expect.objectContaining({ source_pw: '' }),
      branding_config: expect.objectContaining({ offline_text: 'Back soon' }),
      api_history_items: 9
    },
    ignored: 'frontend_config.port'
  }
]

interface KeptRecord {
  readonly list: string
  readonly one: string
  readonly body: object
  readonly shown: object
  readonly ignored?: string
}

type Ask = (method: string, path: string, sent?: unknown) => ReturnType<Program['ask']>

/** Writes a record, and expects that it is read back, and may be sent back unchanged. */
async function expectKept(ask: Ask, { list, one, body, shown, ignored }: KeptRecord) {
  const made = await ask('POST', list, body)
  expectStatus(made, 200)
  expect(made.headers.get('x-ignored-fields')).toBe(ignored ?? null)
  expect(made.body).toMatchObject(shown)
  const path = `${one}/${String(made.body.id)}`
  const before: JsonBody = (await ask('GET', path)).body
  expect(before).toMatchObject(shown)
  const put = await ask('PUT', path, before)
  expectStatus(put, 200)
  expect(put.headers.get('x-ignored-fields')).toBe(null)
  const after: JsonBody = (await ask('GET', path)).body
  // They change by themselves, and are absent in most records.
  for (const name of ['updated_at', 'storageAvailable', 'storageAvailableBytes'])
    if (name in before) after[name] = before[name]
  expect(after).toEqual(before)
}

describe('in the dialect of AzuraCast', () => {
  test.for(records.map(each => [each.list, each] as const))(
    'what is written to %s is read back, and may be sent back unchanged',
    async ([, record], { ask }) => expectKept(ask, record)
  )

  test('a role is read back as it was written, and may be sent back unchanged', async ({ ask }) => {
    const { body: station } = await ask('GET', '{station}/profile/edit')
    const reports = ['view station reports']
    await expectKept(ask, {
      list: '/api/admin/roles',
      one: '/api/admin/role',
      body: { name: 'Reporters', permissions: { global: [], station: { [station.id]: reports } } },
      shown: { permissions: { global: [], station: [{ id: station.id, permissions: reports }] } }
    })
  })
})

test('a file has its playlists as objects, and its custom fields by name', async ({ ask, program }) => {
  await ask('POST', '/api/admin/custom_fields', { name: 'Tempo', short_name: 'tempo' })
  // Disabled, so that the song is not played at once.
  const playlist = await ask('POST', '{station}/playlists', { name: 'Files', is_enabled: false })
  const sent = {
    path: 'dialect/one.mp3',
    title: 'One',
    length: 185,
    playlists: [{ id: playlist.body.id, name: 'Files' }],
    custom_fields: { tempo: '90' }
  }
  const { body: file } = await ask('POST', '{station}/files', sent)
  expect(file).toMatchObject({
    length_text: '3:05',
    artist: null,
    text: ' - One',
    playlists: [{ id: playlist.body.id, name: 'Files', short_name: 'files', folder: null, count: 1 }],
    custom_fields: { tempo: '90' }
  })
  expect((await ask('PUT', `{station}/file/${String(file.id)}`, file)).status).toBe(200)
  expect((await ask('GET', `{station}/file/${String(file.id)}`)).body).toEqual(file)
  await ask('PUT', `{station}/file/${String(file.id)}`, { custom_fields: { tempo: 95 } })
  expect((await ask('GET', `{station}/file/${String(file.id)}`)).body.custom_fields).toEqual({ tempo: '95' })
  await ask('PUT', `{station}/file/${String(file.id)}`, { custom_fields: {} })
  expect((await ask('GET', `{station}/file/${String(file.id)}`)).body.custom_fields).toEqual({})
  const { body: totals } = await ask('GET', `{station}/playlist/${String(playlist.body.id)}`)
  expect(totals).toMatchObject({ num_songs: 1, total_length: 185 })
  const order = `{station}/playlist/${String(playlist.body.id)}/order`
  const entry = {
    id: file.id,
    weight: 1,
    media: { title: 'One', text: 'One', album: null, extra_metadata_raw: null }
  }
  expect((await ask('GET', order)).body).toMatchObject([{ ...entry, is_queued: true, last_played: 0 }])
  await program.sql`
    update playlist_tracks set last_aired_ms = 1700000000999, last_pass = 1 where media_id = ${file.id}`
  await ask('PUT', `{station}/file/${String(file.id)}`, { extra_metadata: { cue_in: 1.5 } })
  const media = { ...entry.media, extra_metadata_raw: { cue_in: 1.5 } }
  expect((await ask('GET', order)).body).toMatchObject([
    { ...entry, media, is_queued: false, last_played: 1_700_000_000 }
  ])
  expect((await ask('PUT', order, { order: { [String(file.id)]: 1 } })).body).toEqual({
    [String(file.id)]: 1
  })
  const folder = await ask('GET', '{station}/files/list?currentDirectory=dialect')
  expect(folder.body).toMatchObject([{ path: 'dialect/one.mp3', media: { length_text: '3:05' } }])
})

test('a file is found by its unique id, and its cover by its number', async ({ ask, program }) => {
  const { body: station } = await ask('POST', '/api/admin/stations', { name: 'Unique FM' })
  const at = `/api/station/${String(station.id)}`
  const { body: file } = await ask('POST', `${at}/files`, { path: 'u.mp3', title: 'U', length: 9 })
  const one = `${at}/file/${String(file.unique_id)}`
  expect((await ask('GET', one)).body).toEqual(file)
  expect((await ask('GET', `${at}/file/${String(file.song_id)}`)).body).toEqual(file)
  expectStatus(await ask('PUT', one, { genre: 'Folk' }), 200)
  expect((await ask('GET', new URL(file.links.self).pathname)).body.genre).toBe('Folk')
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const art = `${program.baseUrl}${at}/art/${String(file.id)}`
  const headers = { 'X-API-Key': adminKey, 'Content-Type': 'image/png' }
  expect((await fetch(art, { method: 'POST', headers, body: png })).status).toBe(200)
  const shown = await waitFor(
    async () => {
      const response = await fetch(art, { headers: { 'X-API-Key': adminKey }, redirect: 'manual' })
      return response.status === 200 ? response : null
    },
    { deadlineMs: 5_000, what: 'the cover' }
  )
  expect(Buffer.from(await shown.arrayBuffer())).toEqual(png)
  expectStatus(await ask('DELETE', one), 200)
  expect((await ask('GET', one)).status).toBe(404)
})

test('mounts and HLS streams are listed apart', async ({ ask, program }) => {
  const at = `/api/station/${await seedStation(program.sql)}`
  const { body: stream } = await ask('POST', `${at}/hls_streams`, { name: 'apart', bitrate: 64 })
  const namesOf = async (list: string) =>
    (await ask('GET', `${at}/${list}`)).body.map((row: { readonly name: string }) => row.name)
  expect(await namesOf('hls_streams')).toEqual(['apart'])
  expect(await namesOf('mounts')).toEqual(['/radio.mp3'])
  expect((await ask('DELETE', `${at}/mount/${String(stream.id)}`)).status).toBe(404)
  expect((await ask('POST', `${at}/mounts`, { name: '/hls/x' })).status).toBe(400)
  expectStatus(await ask('DELETE', `${at}/hls_stream/${String(stream.id)}`), 200)
})

test('roles keep permissions that AzuraCast does not have, and do not show them', async ({
  ask,
  program
}) => {
  const permissions = { global: ['view all', 'view administration'], station: [] }
  const { body: made } = await program.ask('POST', '/api/admin/roles', {
    body: { name: 'Watchers', permissions }
  })
  const path = `/api/admin/role/${String(made.id)}`
  const { body: shown } = await ask('GET', path)
  expect(shown.permissions.global).toEqual(['view administration'])
  expectStatus(await ask('PUT', path, shown), 200)
  const { body: kept } = await program.ask('GET', path)
  expect(kept.permissions.global.toSorted()).toEqual(permissions.global.toSorted())
  expect(JSON.stringify((await ask('GET', '/api/admin/permissions')).body)).not.toContain('view all')
})

test('the profile is the record of the station, and is written as such', async ({ ask }) => {
  const sent = {
    description: 'By the sea',
    enable_public_page: true,
    api_history_items: 7,
    backend_config: { crossfade_type: 'none' }
  }
  const edited = await ask('PUT', '{station}/profile/edit', sent)
  expect([edited.status, edited.headers.get('x-ignored-fields')]).toEqual([200, null])
  const { body } = await ask('GET', '{station}/profile/edit')
  expect(body).toMatchObject({ ...sent, frontend_type: 'icecast', url: null })
  expect(body).not.toHaveProperty('media_storage_location')
  const { body: profile } = await ask('GET', '{station}/profile')
  expect(profile.station).toMatchObject({ description: 'By the sea', requests_enabled: true })
})

test('the test of a web hook answers where its log is', async ({ ask }) => {
  const config = { webhook_url: 'https://hook.invalid/', timeout: 1 }
  const { body: hook } = await ask('POST', '{station}/webhooks', { type: 'generic', name: 'n', config })
  const { body } = await ask('PUT', `{station}/webhook/${hook.id}/test`)
  expect(Object.keys(body)).toEqual(['logUrl'])
  const { body: log } = await ask('GET', new URL(body.logUrl).pathname)
  expect(log).toMatchObject({ contents: expect.stringContaining('Received: '), eof: true })
})

test('lists ignore sort keys they do not know, and page only with a size', async ({ ask }) => {
  const unsorted = await ask('GET', '{station}/playlists?sort=nothing&sortOrder=sideways&page=2')
  expect(unsorted.status).toBe(200)
  expect(Array.isArray(unsorted.body)).toBe(true)
  const paged = await ask('GET', '{station}/playlists?rowCount=1&current=1')
  expect(paged.body).toMatchObject({ page: 1, per_page: 1, rows: [{ short_name: expect.any(String) }] })
})

test.for([
  ['{station}/playlists?per_page=501', 501],
  ['{station}/playlists?rowCount=20000', 10_000],
  ['{station}/files/list?rowCount=20000', 1_000]
] as const)('callers with a key get pages as large as they ask for: %s', async ([path, size], { ask }) => {
  const { status, body } = await ask('GET', path)
  expectStatus({ status, body }, 200)
  expect(body.per_page).toBe(size)
})

test('settings that are not set are null, and may be sent back', async ({ ask }) => {
  for (const [path, name] of [
    ['/api/admin/settings', 'default_album_art_url'],
    ['/api/admin/settings/branding', 'homepage_redirect_url']
  ] as const) {
    const { body } = await ask('GET', path)
    expect(body[name]).toBe(null)
    expectStatus(await ask('PUT', path, body), 200)
  }
})

test('the history has the columns of AzuraCast as a file, and links as it was asked for', async ({ ask }) => {
  const { body: file } = await ask('GET', '{station}/history?format=csv')
  expect(file).toMatch(/^\uFEFFDate,Time,Listeners,Delta,Track,Artist,Playlist,Streamer\r\n/)
  const { body: page } = await ask('GET', '{station}/history?per_page=1')
  expect(new URL(page.links.first).search).toBe('?page=1&per_page=1')
  expect((await ask('GET', '{station}/files/list?rowCount=-1')).body).toMatchObject({ page: 1 })
})

test('an installation shows its dialect, and keys and own pages theirs', async ({ sql, redisUrl }) => {
  const {
    base: address,
    add,
    makeKey
  } = await serveApi(sql, redisUrl, { variables: { API_DIALECT: 'azuracast' } })
  const customFields = [{ id: 1, shortName: 'mood' }]
  const shown = aPlay({ song: aSong({ customFields: { 1: 'calm' } }) })
  await add(aStation({ shown, profile: { customFields, requestsEnabled: true } }))
  const documented = await makeKey(['view station management'], 'documented')
  const get = async (path: string, headers: Record<string, string> = {}): Promise<JsonBody> => {
    const response = await fetch(`${address}${path}`, { headers })
    expect(response.headers.get('vary')).toContain('X-API-Key, Authorization')
    return response.json()
  }
  const azuracast = {
    station: { requests_enabled: true, url: null, hls_url: null },
    live: { broadcast_start: null, art: null },
    now_playing: { song: { custom_fields: { mood: 'calm' } } }
  }
  expect(await get('/api/nowplaying/1')).toMatchObject({ ...azuracast, cache: 'hit' })
  expect(await get('/api/nowplaying_static/1.json')).toMatchObject({ ...azuracast, cache: 'event' })
  expect(await get('/api/nowplaying')).toMatchObject([azuracast])
  expect(await get('/api/stations')).toMatchObject([azuracast.station])
  const own = {
    station: { url: '', hls_url: '' },
    live: { broadcast_start: '', art: '' },
    now_playing: { song: { custom_fields: ['calm'] } }
  }
  for (const headers of [{ 'X-API-Key': documented }, { 'X-Requested-With': 'cuewire' }]) {
    expect(await get('/api/nowplaying/1', headers)).toMatchObject(own)
    expect((await get('/api/nowplaying/1', headers)).station).not.toHaveProperty('requests_enabled')
  }
  for (const headers of [{ 'X-API-Key': documented }, { Authorization: `Bearer ${documented}` }])
    expect(await get('/api/nowplaying', headers)).toMatchObject([own])
  expect(await get(`/api/nowplaying/1?api_key=${documented}`)).toMatchObject(own)
  const key = await makeKey(['administer all'])
  const fields = `${address}/api/admin/custom_fields?api_key=${key}`
  const listed = await fetch(`${fields}&per_page=1`)
  expect([listed.status, listed.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await listed.text()).not.toContain(encodeURIComponent(key))
  const headers = { 'Content-Type': 'application/json' }
  const written = await fetch(fields, { method: 'POST', headers, body: '{"name":"Mood"}' })
  expect(written.status).toBe(403)
})

test('an installation in the documented dialect answers keys of AzuraCast', async ({ sql, redisUrl }) => {
  const { base: address, add, makeKey } = await serveApi(sql, redisUrl)
  await add(aStation({ profile: { requestsEnabled: true } }))
  const headers = { 'X-API-Key': await makeKey(['view station management'], 'azuracast') }
  const read = async (path: string, init: RequestInit = {}): Promise<JsonBody> =>
    (await fetch(`${address}${path}`, init)).json()
  for (const path of ['/api/nowplaying/1', '/api/nowplaying_static/1.json', '/api/station/1/nowplaying'])
    expect(await read(path, { headers })).toMatchObject({ station: { requests_enabled: true } })
  expect(await read('/api/nowplaying', { headers })).toMatchObject([{ station: { requests_enabled: true } }])
  expect((await read('/api/nowplaying/1')).station).not.toHaveProperty('requests_enabled')
  const key = await makeKey(['administer all'], 'azuracast')
  expect(await read(`/api/admin/custom_fields?api_key=${key}`)).toMatchObject({ code: 403 })
})

test('wrong keys of public requests leave those of other requests alone', async ({ sql, redisUrl }) => {
  const { base: address, add, makeKey } = await serveApi(sql, redisUrl)
  await add(aStation())
  const key = await makeKey(['administer all'])
  const wrong = Array.from(
    { length: 150 },
    (_, index) => `${String(index).padStart(16, '0')}:${'0'.repeat(32)}`
  )
  const ask = async (path: string, apiKey: string) =>
    (await fetch(`${address}${path}`, { headers: { 'X-API-Key': apiKey } })).status
  const responses = await Promise.all(wrong.map(async each => ask('/api/nowplaying/1', each)))
  expect(new Set(responses)).toEqual(new Set([200]))
  expect(await ask('/api/admin/stations', key)).toBe(200)
})

test('the schedule has playlists and streamers, in days of the station', async ({ ask }) => {
  const { body: station } = await ask('POST', '/api/admin/stations', {
    name: 'Schedule FM',
    timezone: 'Europe/Berlin',
    enable_streamers: true
  })
  const at = `/api/station/${String(station.id)}`
  const schedule_items = [{ start_time: 2300, end_time: 2330, days: [] }]
  await ask('POST', `${at}/playlists`, { name: 'Night', schedule_items })
  const login = { streamer_username: 'wren', streamer_password: 'a long secret', display_name: 'DJ Wren' }
  await ask('POST', `${at}/streamers`, { ...login, schedule_items })
  await waitFor(async () => (await ask('GET', `${at}/schedule`)).status === 200, {
    deadlineMs: 10_000,
    what: 'the state of the station'
  })
  const list = async (query: string) => {
    const { status, body } = await ask('GET', `${at}/schedule?${query}`)
    return status === 200 ? body.map((each: JsonBody) => `${each.type} ${each.name} ${each.start}`) : status
  }
  const night = (day: string, offset: string) => [
    `playlist Night ${day}T23:00:00${offset}`,
    `streamer DJ Wren ${day}T23:00:00${offset}`
  ]
  expect(await list('start=2026-03-28&end=2026-03-29')).toEqual([
    ...night('2026-03-28', '+01:00'),
    ...night('2026-03-29', '+02:00')
  ])
  expect(await list('start=2026-03-28+23:15&end=2026-03-28+23:20')).toEqual(night('2026-03-28', '+01:00'))
  // The `+` of an offset is a blank in a query.
  expect(await list('start=2026-03-29T23:40:00+02:00&end=2026-03-28')).toHaveLength(4)
  expect(await list('start=2026-01-01&end=2026-04-02')).toHaveLength(92 * 2)
  expect(await list('now=2026-03-28T22:10:00Z&rows=3')).toHaveLength(3)
  expect((await ask('GET', `${at}/schedule?now=2026-03-28T22:10:00Z`)).body[0].is_now).toBe(true)
  const { body: past } = await ask('GET', `${at}/schedule?start=2026-03-28+23:15&end=2026-03-28+23:20`)
  expect(past[0].is_now).toBe(false)
  for (const query of [
    'start=soon',
    'end=soon&start=2026-03-28',
    'now=soon',
    'start=2026-01-01&end=2026-05-01'
  ])
    expect([query, await list(query)]).toEqual([query, 400])
})

test('the address of a mount leads to the streaming server, if listeners can reach it', async ({
  program,
  ask
}) => {
  const { body: made } = await ask('POST', '/api/admin/stations', {
    name: 'Listen FM',
    short_name: 'listen_fm'
  })
  const path = `/api/station/${String(made.id)}`
  await ask('POST', `${path}/mounts`, {
    name: '/own.mp3',
    custom_listen_url: 'https://cdn.example.com/own.mp3'
  })
  const [{ name: first }] = (await ask('GET', `${path}/mounts`)).body
  const follow = async (mount: string) => {
    const { status, headers } = await program.ask('GET', `/listen/listen_fm${mount}`, { key: '' })
    return [status, headers.get('location')]
  }
  await waitFor(async () => (await follow('/own.mp3'))[0] === 302, {
    deadlineMs: 5_000,
    what: 'the station to be published'
  })
  expect(await follow('/own.mp3?x=1')).toEqual([302, 'https://cdn.example.com/own.mp3?x=1'])
  expect(await follow(first)).toEqual([404, null])
  const setServer = (url: string) =>
    program.ask('PUT', `/api/admin/station/${String(made.id)}`, { body: { frontend_url: url } })
  expectStatus(await setServer('http://127.0.0.1:8000'), 200)
  expect(await follow(first)).toEqual([404, null])
  expectStatus(await setServer('https://ice.example.com:8443/status'), 200)
  expect(await follow(first)).toEqual([302, `https://ice.example.com:8443${first}`])
  expect(await follow('/hls/none')).toEqual([404, null])
  expectStatus(
    await ask('PUT', path.replace('/station/', '/admin/station/'), { enable_public_page: false }),
    200
  )
  await waitFor(async () => (await follow(first))[0] === 404, {
    deadlineMs: 5_000,
    what: 'the station to be private'
  })
})

test('repeated slashes are read as one by reads that need no key', async ({ sql, redisUrl }) => {
  const { base: address, makeKey } = await serveApi(sql, redisUrl)
  const key = await makeKey(['administer all'])
  const send = async (method: string, path: string) => {
    const body = method === 'POST' ? JSON.stringify({ name: 'Slashes' }) : null
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
    return (await fetch(`${address}${path}`, { method, body, headers, redirect: 'manual' })).status
  }
  for (const path of ['//api/nowplaying', '/api//nowplaying', '///api///nowplaying'])
    for (const method of ['GET', 'HEAD'])
      expect([method, path, await send(method, path)]).toEqual([method, path, 200])
  expect(await send('OPTIONS', '//api//nowplaying')).toBe(204)
  expect(await send('GET', '//api/admin/stations')).toBe(404)
  expect(await send('POST', '//api/admin/custom_fields')).toBe(404)
  expect(await send('POST', '/api/admin//custom_fields')).toBe(404)
  expect(await send('DELETE', '/api/admin//custom_field/1')).toBe(404)
  expect(await send('GET', '//nowhere//')).toBe(404)
})

test('a slash at the end of a path is redirected, with the query', async ({ sql, redisUrl }) => {
  const { base: address, makeKey } = await serveApi(sql, redisUrl)
  const send = async (path: string, init: RequestInit = {}) => {
    const { status, headers } = await fetch(`${address}${path}`, { redirect: 'manual', ...init })
    return [status, headers.get('location')]
  }
  expect(await send('/api/status/?a=1%20b')).toEqual([308, '/api/status?a=1%20b'])
  expect(await send('/api/admin/stations//', { method: 'POST', body: '{}' })).toEqual([
    308,
    '/api/admin/stations'
  ])
  expect(await send('/api/nothing/')).toEqual([404, null])
  expect(await send('//api/status/')).toEqual([308, '/api/status'])
  expect(await send('///api//nowplaying//?a=1')).toEqual([308, '/api/nowplaying?a=1'])
  expect(await send('//evil.example/')).toEqual([404, null])
  expect(await send('/api/admin//stations/')).toEqual([404, null])
  expect(await send('//api/status/', { method: 'POST', body: '{}' })).toEqual([308, '/api/status'])
  expect(await send('/api/status/', { method: 'OPTIONS' })).toEqual([204, null])
  const key = await makeKey(['administer all'])
  const { status } = await fetch(`${address}/api/admin/custom_fields/`, {
    method: 'POST',
    body: JSON.stringify({ name: 'Slash' }),
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' }
  })
  expect(status).toBe(200)
})

test('times without an offset are those of the station, and pictures may be sent in a form', async ({
  program,
  ask
}) => {
  const { body: made } = await ask('POST', '/api/admin/stations', {
    name: 'Forms FM',
    timezone: 'Europe/Berlin'
  })
  const path = `/api/station/${String(made.id)}`
  const startedAtMs = Date.parse('2026-07-08T10:00:00Z')
  await program.sql`
    insert into song_history (station_id, song_id, artist, title, started_at_ms, ended_at_ms, is_visible)
    values (${made.id}, md5('ab'), 'Nils', 'Noon', ${startedAtMs}, ${startedAtMs + 1_000}, true)`
  const plays = async (query: string) => (await ask('GET', `${path}/history?${query}`)).body.length
  expect(await plays('start=2026-07-08T12:00:00&end=2026-07-08T12:00:00')).toBe(1)
  expect(await plays('start=2026-07-08T12:00:01&end=2026-07-08T13:00:00')).toBe(0)
  expect(await plays('start=2026-07-08T10:00:00Z&end=2026-07-08T10:00:00%2B00:00')).toBe(1)
  expect(await plays('start=2026-07-08T12&end=2026-07-08T12')).toBe(1)
  const dayMs = 86_400_000
  await program.sql`
    insert into song_history (station_id, song_id, started_at_ms, ended_at_ms)
    select ${made.id}, md5('ab'), x, x + 1000 from unnest(${[16, 13, 1].map(days => Date.now() - days * dayMs)}::bigint[]) x`
  // Without a period, those of two weeks.
  expect([await plays(''), await plays('start=2026-01-01')]).toEqual([2, 4])

  const { body: streamer } = await ask('POST', `${path}/streamers`, { streamer_username: 'wren' })
  const form = new FormData()
  form.set('file', new Blob([Buffer.from('R0lGODlhAQABAAAAACw=', 'base64')]), 'art.gif')
  const sent = await fetch(`${program.baseUrl}${path}/streamer/${String(streamer.id)}/art`, {
    method: 'POST',
    headers: { 'X-API-Key': adminKey },
    body: form
  })
  expect(sent.status).toBe(200)
  const { body: shown } = await ask('GET', `${path}/streamer/${String(streamer.id)}`)
  expect(shown).toMatchObject({ has_custom_art: true, art_updated_at: expect.any(Number) })
  expect(
    (await fetch(shown.art.replace(/^https?:\/\/[^/]+/, program.baseUrl))).headers.get('content-type')
  ).toBe('image/gif')
  const text = new FormData()
  text.set('name', 'nothing')
  const refused = await fetch(`${program.baseUrl}${path}/streamer/${String(streamer.id)}/art`, {
    method: 'POST',
    headers: { 'X-API-Key': adminKey },
    body: text
  })
  expect(refused.status).toBe(400)
})

test('records may be sent in forms, with names as PHP nests them', async ({ program, ask }) => {
  const list = '{station}/playlists'
  const sent = new URLSearchParams(
    'name=Forms&is_enabled=0&weight=7&backend_options[]=interrupt&schedule_items[0][start_time]=900&schedule_items[0][end_time]=1030&schedule_items[0][days][]=1&schedule_items[0][days][]=3&nothing[a]=1'
  )
  const made = await ask('POST', list, sent)
  expectStatus(made, 200)
  expect(made.headers.get('x-ignored-fields')).toBe('nothing')
  expect(made.body).toMatchObject({
    name: 'Forms',
    is_enabled: false,
    weight: 7,
    backend_options: ['interrupt'],
    schedule_items: [{ start_time: 900, end_time: 1030, days: [1, 3] }]
  })
  const form = new FormData()
  form.set('name', 'Formen')
  form.append('backend_options[]', 'merge')
  form.append('backend_options[]', 'single_track')
  const one = `{station}/playlist/${String(made.body.id)}`
  expectStatus(await ask('PUT', one, form), 200)
  const changed = { name: 'Formen', weight: 7, backend_options: ['merge', 'single_track'] }
  expect((await ask('GET', one)).body).toMatchObject(changed)
  // An action whose body has no form of its own in the dialect.
  const copied = await ask(
    'POST',
    `${one}/clone`,
    new URLSearchParams({ name: 'Copy', 'clone[]': 'schedule' })
  )
  expectStatus(copied, 200)
  form.set('file', new Blob(['x']), 'a.txt')
  expectStatus(await ask('PUT', one, form), 400)
  const documented = await sendForm(program, 'POST', '/api/admin/custom_fields', sent, adminKey)
  expectStatus(documented, 415)
})
