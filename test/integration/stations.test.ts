import { isDeepStrictEqual } from 'node:util'

import { describe, expect } from 'vitest'

import { withoutCustomFields } from '../support/custom-fields.ts'
import { test } from '../support/fixtures.ts'
import { isDisconnect, isPub, type Publication, subscribeLive } from '../support/live-client.ts'
import { queueOf, startPlaying } from '../support/playing.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { readHistory, type Shape } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const keys = `
  id name short_name description url timezone frontend backend frontend_url frontend_admin_password
  enable_streamers source_password is_public is_enabled hls_enabled hls_is_default
  queue_length history_length offline_text live_text duplicate_prevention_time_range crossfade_type crossfade
  enable_auto_cue enable_requests request_delay request_threshold request_cooldown max_consecutive_requests max_overrun
  max_bitrate max_hls_streams media_storage_location_id
  recordings_storage_location_id podcasts_storage_location_id`
  .trim()
  .split(/\s+/)

let made = 0

/** Creates a station, with a unique name by default, and returns its record. */
async function create(program: Program, body: object = {}): Promise<JsonBody> {
  const response = await program.ask('POST', '/api/admin/stations', {
    body: { name: `Made ${++made}`, ...body }
  })
  expect([response.status, response.body.message]).toEqual([200, undefined])
  return response.body
}

async function put(program: Program, id: number, body: object): Promise<void> {
  const response = await program.ask('PUT', `/api/admin/station/${id}`, { body })
  expect([response.status, response.body.message]).toEqual([200, 'Record updated successfully.'])
}

const shown = (program: Program, name: number | string) =>
  program.ask('GET', `/api/nowplaying/${name}`, { key: '' })

/** A station that plays. */
async function playing(program: Program, shape: Omit<Shape, 'stations'> = {}): Promise<number> {
  return (await startPlaying(program, shape)).id
}

const socketOf = (program: Program) =>
  `${program.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`

describe('a station', () => {
  test('is created from its name alone, read, changed field by field, and deleted', async ({ program }) => {
    const record = await create(program, { name: 'Café del Sól', id: 4711 })
    expect(Object.keys(record)).toEqual(keys)
    expect(record).toMatchObject({
      name: 'Café del Sól',
      short_name: 'cafe_del_sol',
      timezone: 'UTC',
      frontend: 'icecast',
      backend: 'clock',
      is_public: true,
      is_enabled: true,
      queue_length: 3,
      history_length: 5,
      offline_text: 'Station Offline',
      duplicate_prevention_time_range: 120,
      crossfade_type: 'normal',
      crossfade: 2,
      enable_auto_cue: false,
      enable_requests: true,
      request_delay: 5,
      request_threshold: 15,
      request_cooldown: 5,
      max_consecutive_requests: 2,
      max_overrun: 600,
      max_bitrate: 0,
      media_storage_location_id: 0
    })
    const path = `/api/admin/station/${record.id}`
    expect((await program.ask('GET', path)).body).toEqual(record)
    const sent = {
      description: 'By the sea.\nAlways.',
      duplicate_prevention_time_range: 10_080,
      crossfade_type: 'smart',
      crossfade: 2.25,
      enable_auto_cue: true,
      enable_requests: false,
      request_delay: 0,
      request_threshold: 1_440,
      request_cooldown: 0,
      max_consecutive_requests: 20,
      max_overrun: 86_400
    }
    const changed = { ...record, ...sent, timezone: 'America/New_York' }
    await put(program, record.id, { ...sent, crossfade: '2.25', timezone: 'america/new_york' })
    expect((await program.ask('GET', path)).body).toEqual(changed)
    const list = await program.ask('GET', '/api/admin/stations?searchPhrase=del_sol')
    expect(list.body).toEqual([changed])
    expect((await program.ask('DELETE', path)).body.message).toBe('Record deleted successfully.')
    for (const method of ['GET', 'DELETE', 'PUT']) expect((await program.ask(method, path)).status).toBe(404)
  })

  test('is not changed if it is written as it was read', async ({ program }) => {
    const record = await create(program, { is_public: false, hls_enabled: true, url: 'https://example.com' })
    const revisions = () => program.sql`select revision from stations where id = ${record.id}`
    // A new custom field raises the revisions of all stations.
    await waitFor(
      async () => {
        const before = await revisions()
        await put(program, record.id, record)
        return isDeepStrictEqual(await revisions(), before)
      },
      { deadlineMs: 5_000, what: 'a write that changes nothing' }
    )
    expect((await program.ask('GET', `/api/admin/station/${record.id}`)).body).toEqual(record)
  })

  test('has a unique short name, and a derived one gets a suffix', async ({ program }) => {
    const first = await create(program, { name: 'Rock', short_name: 'Rock.FM' })
    const taken = await program.ask('POST', '/api/admin/stations', {
      body: { name: 'Other', short_name: 'Rock.FM' }
    })
    expect([taken.status, taken.body.extra_data.errors[0].code]).toEqual([409, 'duplicate'])
    const second = await create(program, { name: 'Jazz' })
    const third = await create(program, { name: 'Jazz' })
    expect([second.short_name, third.short_name]).toEqual(['jazz', 'jazz_2'])
    const conflict = await program.ask('PUT', `/api/admin/station/${third.id}`, {
      body: { name: 'Never', short_name: 'Rock.FM' }
    })
    expect(conflict.status).toBe(409)
    expect((await program.ask('GET', `/api/admin/station/${third.id}`)).body).toEqual(third)
    await put(program, first.id, { name: '1984', short_name: '' })
    expect((await program.ask('GET', `/api/admin/station/${first.id}`)).body.short_name).toBe('station_1984')
  })

  test('is created and changed concurrently without lost updates', async ({ program }) => {
    const records = await Promise.all(Array.from({ length: 8 }, () => create(program, { name: 'Twins' })))
    const names = Array.from({ length: 7 }, (_, index) => `twins_${index + 2}`)
    expect(new Set(records.map(({ short_name }) => short_name))).toEqual(new Set(['twins', ...names]))
    const { id } = records[0]
    const changes = {
      description: 'one',
      url: 'https://two.example',
      timezone: 'Asia/Tokyo',
      max_bitrate: 320,
      queue_length: 7,
      is_enabled: false
    }
    await Promise.all(Object.entries(changes).map(([key, value]) => put(program, id, { [key]: value })))
    expect((await program.ask('GET', `/api/admin/station/${id}`)).body).toMatchObject(changes)
    for (const each of records) await program.ask('DELETE', `/api/admin/station/${each.id}`)
  })

  const bad: [field: string, value: unknown, code: string][] = [
    ['name', '  ', 'blank'],
    ['name', 'x'.repeat(101), 'too_long'],
    ['name', 7, 'invalid_type'],
    ['short_name', '1984', 'invalid_format'],
    ['short_name', '..', 'invalid_format'],
    ['short_name', 'a b', 'invalid_format'],
    ['short_name', 'a/b', 'invalid_format'],
    ['short_name', 'x'.repeat(101), 'too_long'],
    ['url', 'javascript:alert(1)', 'invalid_url'],
    ['timezone', 'Mars/Olympus', 'invalid_format'],
    ['timezone', '+01:00', 'invalid_format'],
    ['timezone', '', 'invalid_format'],
    ['timezone', 1, 'invalid_type'],
    ['frontend', 'icecast3', 'not_in_enum'],
    ['backend', 'robot', 'not_in_enum'],
    ['is_enabled', 'maybe', 'invalid_type'],
    ['queue_length', 1, 'out_of_range'],
    ['queue_length', 26, 'out_of_range'],
    ['history_length', -1, 'out_of_range'],
    ['history_length', 51, 'out_of_range'],
    ['duplicate_prevention_time_range', 10_081, 'out_of_range'],
    ['crossfade_type', 'hard', 'not_in_enum'],
    ['crossfade', 30.01, 'out_of_range'],
    ['crossfade', -0.5, 'out_of_range'],
    ['crossfade', 'long', 'invalid_type'],
    ['enable_auto_cue', 2, 'invalid_type'],
    ['enable_requests', 'no', 'invalid_type'],
    ['request_delay', 1_441, 'out_of_range'],
    ['request_threshold', 1.5, 'invalid_type'],
    ['request_cooldown', -1, 'out_of_range'],
    ['max_consecutive_requests', 21, 'out_of_range'],
    ['max_overrun', 86_401, 'out_of_range'],
    ['max_bitrate', 10_001, 'out_of_range'],
    ['max_hls_streams', 1_001, 'out_of_range'],
    ['media_storage_location_id', 987_654, 'not_found'],
    ['media_storage_location_id', -1, 'out_of_range'],
    ['podcasts_storage_location_id', '9999999999999999999', 'invalid_type']
  ]
  test.for(bad)('is refused with %s %j', async ([field, value, code], { program }) => {
    const { status, body } = await program.ask('POST', '/api/admin/stations', {
      body: { name: 'Bad', [field]: value }
    })
    expect([status, body.extra_data.errors[0]]).toMatchObject([400, { field, code }])
  })

  test('refers to storage locations of the right type only', async ({ program }) => {
    const [media = { id: 0 }, podcasts = { id: 0 }] = await program.sql<{ id: number }[]>`
      insert into storage_locations (type, adapter, place)
      values ('station_media', 'local', '/a'), ('station_podcasts', 'local', '/b') returning id`
    const record = await create(program, {
      media_storage_location_id: media.id,
      podcasts_storage_location_id: String(podcasts.id)
    })
    expect(record).toMatchObject({
      media_storage_location_id: media.id,
      recordings_storage_location_id: 0,
      podcasts_storage_location_id: podcasts.id
    })
    const { status, body } = await program.ask('PUT', `/api/admin/station/${record.id}`, {
      body: { media_storage_location_id: podcasts.id, recordings_storage_location_id: 987_654 }
    })
    expect([status, body.extra_data.errors]).toMatchObject([
      400,
      [
        { field: 'media_storage_location_id', code: 'not_in_enum' },
        { field: 'recordings_storage_location_id', code: 'not_found' }
      ]
    ])
    await expect(program.sql`delete from storage_locations where id = ${media.id}`).rejects.toThrow(
      /foreign key/
    )
    await put(program, record.id, { media_storage_location_id: 0, podcasts_storage_location_id: null })
    await program.sql`delete from storage_locations where id in (${media.id}, ${podcasts.id})`
  })

  test('that is locked returns an error to retry later', { timeout: 15_000 }, async ({ program }) => {
    const { id } = await create(program)
    await program.sql.begin(async tx => {
      await tx`select from stations where id = ${id} for update`
      const { status, headers } = await program.ask('PUT', `/api/admin/station/${id}`, {
        body: { name: 'Later' }
      })
      expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    })
    await put(program, id, { name: 'Later' })
  })

  test('can be changed while records are added to it', async ({ program }) => {
    const { id } = await create(program)
    await program.sql.begin(async tx => {
      await tx`insert into playlists (station_id, name) values (${id}, 'Being imported')`
      await put(program, id, { name: 'Changed meanwhile' })
    })
  })

  test('requires the permission to administer stations', async ({ program }) => {
    const { id } = await create(program)
    const weak = '5747a10357471035:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
    await program.sql`
      insert into api_keys (name, identifier, verifier, permissions, station_permissions)
      values ('weak', '5747a10357471035', sha256('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'),
        '["view administration", "manage station media"]', ${program.sql.json({ [id]: ['administer all'] })})`
    for (const [method, path] of [
      ['GET', '/api/admin/stations'],
      ['POST', '/api/admin/stations'],
      ['GET', `/api/admin/station/${id}`],
      ['PUT', `/api/admin/station/${id}`],
      ['DELETE', `/api/admin/station/${id}`]
    ] as const) {
      const { status, body } = await program.ask(method, path, { key: weak })
      expect([method, status, body.type]).toEqual([method, 403, 'PermissionDeniedException'])
    }
    await program.ask('DELETE', `/api/admin/station/${id}`)
    const [key] = await program.sql`select station_permissions from api_keys where name = 'weak'`
    expect(key?.['station_permissions']).toEqual({})
  })
})

describe('what is changed', () => {
  test('is published before the response: a new station, its stream, its new name', async ({ program }) => {
    for (let round = 0; round < 10; round++) {
      const { id, short_name } = await create(program)
      const byId = await shown(program, id)
      expect([byId.status, byId.body.station.shortcode]).toEqual([200, short_name])
      expect(byId.body.station.mounts).toMatchObject([{ path: '/radio.mp3', is_default: true }])
      const streams = await program.ask('GET', `/api/station/${short_name}/hls_streams`)
      expect(streams.body).toHaveLength(1)
      await put(program, id, { name: `Renamed ${round}`, short_name: `renamed_${round}` })
      expect((await shown(program, short_name)).status).toBe(404)
      expect((await shown(program, `renamed_${round}`)).body.station.name).toBe(`Renamed ${round}`)
      await put(program, id, { is_public: false })
      expect((await shown(program, id)).status).toBe(404)
      await program.ask('DELETE', `/api/admin/station/${id}`)
      expect((await program.ask('GET', `/api/nowplaying/${id}`)).status).toBe(404)
    }
  })

  test('a station with relays only promises no mount but those with an address of their own', async ({
    program
  }) => {
    const { id } = await create(program)
    const listed = async () => {
      const { station } = (await shown(program, id)).body
      return [station.listen_url, station.mounts.length]
    }
    expect((await listed())[1]).toBe(1)
    await put(program, id, { frontend: 'remote' })
    expect(await listed()).toEqual(['', 0])
    const { body: streams } = await program.ask('GET', `/api/station/${id}/hls_streams`)
    const body = { custom_listen_url: 'https://cdn.example.com/live.mp3' }
    await program.ask('PUT', `/api/station/${id}/hls_stream/${streams[0].id}`, { body })
    await expect.poll(listed).toEqual([body.custom_listen_url, 1])
  })

  test('reaches sockets by id; a former short name gets no messages until it is used again', async ({
    program
  }) => {
    const { id, short_name } = await create(program)
    const message = { subs: { [`station:${short_name}`]: { recover: true } } }
    const former = await subscribeLive(socketOf(program), message)
    const both = await subscribeLive(socketOf(program), {
      subs: { [`station:${id}`]: { recover: true }, 'station:renamed_live': { recover: true } }
    })
    await put(program, id, { short_name: 'renamed_live' })
    const isRenamed = (frame: unknown): frame is Publication =>
      isPub(frame) && frame.pub.data.np.station.shortcode === 'renamed_live'
    const channels = [await both.until(isRenamed), await both.until(isRenamed)]
    expect(channels.map(({ channel }) => channel)).toEqual([`station:${id}`, 'station:renamed_live'])
    expect(former.frames.filter(isRenamed)).toEqual([])
    // Subscribers of the first station with this name must start again.
    const heir = await create(program, { short_name })
    expect((await former.until(isDisconnect)).disconnect.code).toBe(3010)
    const again = await subscribeLive(socketOf(program), message)
    const [publication] = again.connect.subs?.[`station:${short_name}`]?.publications ?? []
    expect(publication?.data.np.station.id).toBe(heir.id)
  })

  test('in the length of the history is published at once, and starts no song', async ({ program }) => {
    const id = await playing(program)
    for (let play = 0; play < 3; play++) await program.ask('POST', `/api/station/${id}/backend/skip`)
    await waitFor(async () => (await shown(program, id)).body.song_history.length === 3, {
      deadlineMs: 5_000,
      what: 'three ended songs'
    })
    const { body } = await shown(program, id)
    await put(program, id, { history_length: 1 })
    const after = (await shown(program, id)).body
    expect(withoutCustomFields(after.song_history)).toEqual(
      withoutCustomFields(body.song_history.slice(0, 1))
    )
    expect(after.now_playing.sh_id).toBe(body.now_playing.sh_id)
  })

  test('in the length of the queue refills it, or lets it run down', async ({ program }) => {
    const id = await playing(program, { queueLength: 3 })
    const queue = () => queueOf(program, id)
    const before = await queue()
    await put(program, id, { queue_length: 6 })
    const longer = await queue()
    expect(longer).toHaveLength(6)
    expect(longer.slice(0, 3)).toEqual(before)
    await put(program, id, { queue_length: 2 })
    expect(await queue()).toEqual(longer)
  })
})

describe('a disabled station', () => {
  test('ends its play, keeps its queue and resumes when it is enabled', async ({ program }) => {
    const id = await playing(program)
    const queue = await queueOf(program, id)
    await put(program, id, { is_enabled: false })
    expect((await shown(program, id)).body).toMatchObject({ is_online: false })
    const [play] = await readHistory(program.sql, id)
    expect(Math.abs((play?.endedAtMs ?? 0) - Date.now())).toBeLessThan(2_000)
    expect(await queueOf(program, id)).toEqual(queue)
    expect((await program.ask('POST', `/api/station/${id}/backend/skip`)).status).toBe(409)
    await put(program, id, { is_enabled: true })
    const { body } = await shown(program, id)
    expect([body.is_online, withoutCustomFields(body.now_playing.song)]).toEqual([true, queue[0].song])
    expect(await readHistory(program.sql, id)).toHaveLength(2)
  })

  test('can be created disabled, and plays nothing', async ({ program }) => {
    const { id } = await create(program, { is_enabled: false, offline_text: 'Soon' })
    expect((await shown(program, id)).body).toMatchObject({
      is_online: false,
      now_playing: { song: { title: 'Soon' } }
    })
  })

  test('or leaves the clock, ends with its song; back with the clock it plays on', async ({ program }) => {
    const id = await playing(program)
    const { body } = await shown(program, id)
    await put(program, id, { backend: 'none' })
    expect((await shown(program, id)).body.now_playing.sh_id).toBe(body.now_playing.sh_id)
    await program.sql`update song_history set due_at_ms = ${Date.now()} where station_id = ${id}`
    await waitFor(async () => !(await shown(program, id)).body.is_online, {
      deadlineMs: 5_000,
      what: 'silence'
    })
    await put(program, id, { backend: 'clock' })
    expect((await shown(program, id)).body.is_online).toBe(true)
  })

  test('a play without an end gets one from the clock', async ({ program }) => {
    const id = await playing(program, { songMs: 60_000 })
    await put(program, id, { backend: 'none' })
    await program.sql`update song_history set due_at_ms = null, started_at_ms = started_at_ms - 59000
      where station_id = ${id}`
    await put(program, id, { backend: 'clock' })
    await waitFor(async () => (await readHistory(program.sql, id)).length === 2, {
      deadlineMs: 5_000,
      what: 'the next song'
    })
  })
})

test('a deleted station leaves no rows, and other stations are unchanged', async ({ program }) => {
  const id = await playing(program)
  const neighbour = await playing(program)
  await program.sql`insert into sftp_users (station_id, username) values (${id}, ${`user${id}`})`
  await program.sql`insert into webhooks (station_id, type) values (${id}, 'generic')`
  const subs = { [`station:${id}`]: { recover: true }, [`station:${neighbour}`]: { recover: true } }
  const witness = await subscribeLive(socketOf(program), { subs })
  const { status } = await program.ask('DELETE', `/api/admin/station/${id}`)
  expect(status).toBe(200)
  for (const path of [`/api/nowplaying/${id}`, `/api/station/${id}`, `/api/station/${id}/queue`])
    expect([path, (await program.ask('GET', path)).status]).toEqual([path, 404])
  for (const path of ['/api/nowplaying', '/api/stations'])
    expect(JSON.stringify((await program.ask('GET', path)).body)).not.toContain(`/api/station/${id}/`)
  const tables = await program.sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where column_name = 'station_id' and table_schema = 'public' and table_name <> 'audit_log'`
  expect(tables.length).toBeGreaterThan(6)
  for (const { name } of tables)
    await waitFor(
      async () =>
        (await program.sql`select from ${program.sql(name)} where station_id = ${id} limit 1`).length === 0,
      { deadlineMs: 15_000, what: `${name} to be empty` }
    )
  // A client that reconnects gets nothing of the deleted station.
  expect(await witness.until(isDisconnect)).toMatchObject({ disconnect: { code: 3010 } })
  const { connect: _connect, ...client } = await subscribeLive(socketOf(program), { subs })
  await program.ask('POST', `/api/station/${neighbour}/backend/skip`)
  const isSkipped = (frame: unknown): frame is Publication =>
    isPub(frame) && frame.pub.data.triggers.includes('song_changed')
  expect((await client.until(isSkipped)).channel).toBe(`station:${neighbour}`)
  expect(client.frames.filter(isPub).map(({ channel }) => channel)).not.toContain(`station:${id}`)
})
