import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect } from 'vitest'

import { test as base } from '../support/fixtures.ts'
import { seedSessions } from '../support/listener-sessions.ts'
import { openWindow } from '../support/open-window.ts'

/** A new station, and requests to its paths. */
const test = base.extend('station', async ({ program }) => {
  const made = await program.ask('POST', '/api/admin/stations', { body: { name: 'Harbour FM' } })
  const id = Number(made.body.id)
  return {
    id,
    ask: (method: string, path: string, body?: unknown) =>
      program.ask(method, `/api/station/${id}${path}`, { body })
  }
})

describe('mounts', () => {
  test('are created, changed and deleted, and are the records of hls_streams', async ({ station }) => {
    const config = '{"burst-size":65536,"hidden":true}'
    const sent = { name: '/low.mp3', autodj_bitrate: 64, frontend_config: config, relay_url: '' }
    const { body: made, status } = await station.ask('POST', '/mounts', sent)
    expect(status).toBe(200)
    expect(made).toMatchObject({ ...sent, display_name: '/low.mp3 (64kbps MP3)', is_default: false })
    const { body: stream } = await station.ask('GET', `/hls_stream/${made.id}`)
    expect(stream).toEqual({
      ...made,
      frontend_config: [
        { key: 'burst-size', value: 65536 },
        { key: 'hidden', value: true }
      ]
    })
    expect(await station.ask('PUT', `/mount/${made.id}`, { is_default: true })).toMatchObject({ status: 200 })
    const { body: all } = await station.ask('GET', '/mounts')
    expect(all).toMatchObject([
      { name: '/radio.mp3', is_default: false },
      { ...made, is_default: true }
    ])
    expect(Object.keys(all[0])).toEqual(Object.keys(stream))
    expect(await station.ask('PUT', `/mount/${made.id}`, all[1])).toMatchObject({ status: 200 })
    expect((await station.ask('GET', `/mount/${made.id}`)).body).toEqual(all[1])
    expect(await station.ask('DELETE', `/mount/${made.id}`)).toMatchObject({ status: 200 })
    expect(await station.ask('GET', `/mount/${made.id}`)).toMatchObject({ status: 404 })
    expect(await station.ask('GET', `/hls_stream/${made.id}`)).toMatchObject({ status: 404 })
  })

  test.for(['<mount/>', '7', '{"a":{"b":1}}'])('refuse %s as settings', async (text, { station }) => {
    const { status, body } = await station.ask('POST', '/mounts', { name: '/x', frontend_config: text })
    expect(status).toBe(400)
    expect(body.extra_data.errors[0].field).toMatch(/^frontend_config/)
  })
})

test('the profile shows the station, and its managers edit some settings', async ({ program, station }) => {
  await station.ask('POST', '/playlists', { name: 'Now', schedule_items: [openWindow()] })
  const { body } = await station.ask('GET', '/profile')
  expect(body).toMatchObject({
    station: { id: station.id, name: 'Harbour FM', shortcode: expect.stringMatching(/^harbour_fm/) },
    services: { backendRunning: true, frontendRunning: false },
    schedule: expect.arrayContaining([expect.objectContaining({ type: 'playlist', name: 'Now' })])
  })
  const permissions = { [station.id]: ['manage station profile'] }
  const { body: made } = await program.ask('POST', '/api/v1/main/api-keys', {
    body: { name: 'manager', station_permissions: permissions }
  })
  const path = `/api/station/${station.id}/profile/edit`
  const sent = { description: 'By the sea', timezone: 'Europe/Berlin', backend: 'none', max_bitrate: 7 }
  const edited = await program.ask('PUT', path, { body: sent, key: made.key })
  expect(edited.status).toBe(200)
  expect(edited.headers.get('x-ignored-fields')).toBe('backend, max_bitrate')
  const { body: settings } = await program.ask('GET', path, { key: made.key })
  expect(settings).toMatchObject({
    description: 'By the sea',
    timezone: 'Europe/Berlin',
    source_password: ''
  })
  expect(settings).not.toHaveProperty('backend')
  const { body: record } = await program.ask('GET', `/api/admin/station/${station.id}`)
  expect(record).toMatchObject({ ...settings, backend: 'clock', max_bitrate: 0 })
  expect(await program.ask('PUT', path, { body: settings, key: made.key })).toMatchObject({ status: 200 })
  const { status, body: refused } = await program.ask('PUT', path, { body: { timezone: 'Nowhere' } })
  expect([status, refused.extra_data.errors[0].field]).toEqual([400, 'timezone'])
})

test('the quota of the media storage counts songs and bytes', async ({ program, station }) => {
  await program.sql`
    insert into media (station_id, unique_id, path, song_id, size_bytes)
    values (${station.id}, left(md5(random()::text), 24), 'a.mp3', md5('a'), 1500)`
  const { body } = await station.ask('GET', '/quota')
  expect(body).toMatchObject({ used: '1.4 KB', used_bytes: '1500', quota: '', num_files: 1, is_full: false })
  expect(Number(body.available_bytes)).toBeGreaterThan(1_500)
  const location = await program.ask('POST', '/api/admin/storage_locations', {
    body: {
      type: 'station_recordings',
      adapter: 'local',
      path: join(program.dataDir, 'stations', `quota-${station.id}`),
      storageQuota: '1 MB'
    }
  })
  const body2 = { recordings_storage_location_id: location.body.id }
  await program.ask('PUT', `/api/admin/station/${station.id}`, { body: body2 })
  const { body: recordings } = await station.ask('GET', '/quota/station_recordings')
  expect(recordings).toMatchObject({
    used_bytes: '0',
    quota: '1.0 MB',
    quota_bytes: '1048576',
    num_files: null
  })
  expect((await station.ask('GET', '/quota/station_podcasts')).body).toMatchObject({ num_files: 0 })
  expect(await station.ask('GET', '/quota/backup')).toMatchObject({ status: 404 })
})

test('broadcasts of a streamer are listed, downloaded and deleted', async ({ program, station }) => {
  const { body: wren } = await station.ask('POST', '/streamers', { streamer_username: 'wren' })
  const { body: other } = await station.ask('POST', '/streamers', { streamer_username: 'other' })
  const folder = join(program.dataDir, 'stations', String(station.id), 'recordings', 'wren')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'one.mp3'), 'a recording')
  const rows = await program.sql<{ id: number }[]>`
    insert into broadcasts (station_id, streamer_id, username, streamer_name, started_at_ms, ended_at_ms, recording_path)
    values (${station.id}, ${wren.id}, 'wren', 'DJ Wren', 1783468800000, 1783472400000, 'wren/one.mp3'),
      (${station.id}, ${wren.id}, 'wren', 'DJ Wren', 1783476000000, 1783476001000, ''),
      (${station.id}, ${other.id}, 'other', 'Other', 1783477000000, 1783478000000, ''),
      (${station.id}, ${wren.id}, 'wren', 'DJ Wren', 1783479000000, null, '') returning id`
  const [one, two, foreign, open] = rows.map(({ id }) => id)
  const path = `/streamer/${wren.id}`
  const { body: list } = await station.ask('GET', `${path}/broadcasts`)
  expect(list.map(({ id }: { id: number }) => id)).toEqual([open, two, one])
  expect(list[2]).toMatchObject({
    timestampStart: '2026-07-08T00:00:00+00:00',
    timestampEnd: '2026-07-08T01:00:00+00:00',
    streamer: { id: wren.id, streamer_username: 'wren', display_name: '' },
    recording: { path: 'wren/one.mp3', size: 11 }
  })
  expect(list[0]).toMatchObject({ timestampEnd: null, recording: null })
  const { pathname } = new URL(list[2].recording.downloadUrl)
  expect(await program.ask('GET', pathname)).toMatchObject({ status: 200, body: 'a recording' })
  const { body: unmounted } = await program.ask('POST', '/api/admin/storage_locations', {
    body: {
      type: 'station_recordings',
      adapter: 'local',
      path: join(program.dataDir, 'stations', `unmounted-${station.id}`)
    }
  })
  const storeIn = (location: number | null) =>
    program.sql`update stations set recordings_storage_location_id = ${location} where id = ${station.id}`
  await storeIn(unmounted.id)
  const { body: withoutStorage } = await station.ask('GET', `${path}/broadcasts`)
  expect(withoutStorage).toMatchObject([{ id: open }, { id: two }, { id: one, recording: null }])
  await storeIn(null)
  expect(await station.ask('GET', `${path}/broadcast/${two}/download`)).toMatchObject({ status: 404 })
  expect(await station.ask('DELETE', `${path}/broadcast/${foreign}`)).toMatchObject({ status: 404 })
  expect(await station.ask('DELETE', `${path}/broadcast/${open}`)).toMatchObject({ status: 409 })
  expect(await station.ask('DELETE', `${path}/broadcast/${one}`)).toMatchObject({ status: 200 })
  expect(await program.ask('GET', pathname)).toMatchObject({ status: 404 })
  const batch = await station.ask('POST', `${path}/broadcasts/batch`, { do: 'delete', rows: [two, foreign] })
  expect(batch.body).toEqual({
    success: false,
    errors: [`Broadcast ${foreign} does not exist.`],
    records: [{ id: two, title: 'DJ Wren' }]
  })
  expect((await station.ask('GET', `${path}/broadcasts`)).body).toHaveLength(1)
  expect((await station.ask('GET', '/streamers/broadcasts')).body).toHaveLength(2)
  expect(await station.ask('POST', `${path}/broadcasts/batch`, { do: 'copy' })).toMatchObject({ status: 400 })
})

test('logs show what happened at the station, and continue at a position', async ({ program, station }) => {
  await station.ask('POST', '/playlists', { name: 'Rotation', weight: 5 })
  const { body: logs } = await station.ask('GET', '/logs')
  expect(logs.map(({ key }: { key: string }) => key)).toEqual(['changes', 'broadcasts', 'webhooks'])
  const { pathname } = new URL(logs[0].links.self)
  const { body: log } = await program.ask('GET', pathname)
  expect(log.contents).toMatch(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ .*: POST \/api\/station\/\d+\/playlists .*name, weight/m
  )
  await station.ask('POST', '/playlists', { name: 'Night' })
  const { body: next } = await program.ask('GET', `${pathname}?position=${log.position}`)
  expect(next.contents.split('\n')).toHaveLength(1)
  expect(next.position).toBeGreaterThan(log.position)
  const { body: none } = await program.ask('GET', `${pathname}?position=${next.position}`)
  expect(none).toEqual({ contents: '', eof: false, position: next.position })
  await program.ask('PUT', `/api/admin/station/${station.id}`, { body: { backend: 'liquidsoap' } })
  const { body: script } = await station.ask('GET', '/log/liquidsoap')
  expect(script).toMatchObject({ contents: expect.stringContaining('Harbour FM'), eof: true, position: null })
  expect(await station.ask('GET', '/log/nginx')).toMatchObject({ status: 404 })
})

describe('reports', () => {
  test('chart listeners by day, weekday and hour of the station', async ({ program, station }) => {
    await program.ask('PUT', `/api/admin/station/${station.id}`, { body: { timezone: 'Europe/Berlin' } })
    // Tuesday 2026-07-07, 22:30 UTC, is Wednesday 00:30 in Berlin.
    const minute = Date.UTC(2026, 6, 7, 22, 30) / 60_000
    await program.sql`
      insert into listener_minutes (station_id, minute, total, "unique", most, fewest)
      values (${station.id}, ${minute}, 10, 8, 10, 10), (${station.id}, ${minute + 60}, 4, 4, 10, 4)`
    const path = '/reports/overview/charts?start=2026-07-08&end=2026-07-08'
    const { body: unique } = await station.ask('GET', path)
    expect(unique.daily.metrics[0].data).toEqual([{ x: Date.UTC(2026, 6, 7, 22), y: 8 }])
    expect(unique.day_of_week.metrics[0].data).toEqual([0, 0, 8, 0, 0, 0, 0])
    const { body: average } = await station.ask('GET', `${path}&type=average`)
    // Hour 0: 30 minutes of 10. Hour 1: 30 minutes of 10 and 30 of 4. Then 4.
    expect(average.hourly.all.metrics[0].data.slice(0, 3)).toEqual([10, 7, 4])
    expect(average.hourly.day2.metrics[0].data[23]).toBe(4)
    expect(average.hourly.day3.metrics[0].data[23]).toBe(0)
    expect(average.daily.alt[0].values).toEqual([
      { label: '2026-07-08', type: 'time', original: Date.UTC(2026, 6, 7, 22), value: '4.26 Listeners' }
    ])
  })

  test('count sessions of listeners in the form of AzuraCast', async ({ program, station }) => {
    await seedSessions(program.sql, station.id, [
      { atMs: Date.UTC(2026, 6, 7), seconds: 80 },
      { atMs: Date.UTC(2026, 6, 7), seconds: 4_000, family: 'Firefox', client: 'desktop', country: 'DE' }
    ])
    const report = async (name: string) =>
      (await station.ask('GET', `/reports/overview/${name}?start=2026-07-07&end=2026-07-07`)).body
    const counts = (listeners: number, seconds: number) => ({ listeners, connected_seconds: seconds })
    expect((await report('by-browser')).all).toEqual([{ browser: 'Firefox', ...counts(1, 4_000) }])
    const clients = await report('by-client')
    expect(clients.all).toEqual([
      { client_raw: 'desktop', client: 'Desktop Browser', ...counts(1, 4_000) },
      { client_raw: 'non_browser', client: 'Non-Browser', ...counts(1, 80) }
    ])
    expect(clients.top_connected_time).toMatchObject({
      labels: ['Desktop Browser', 'Non-Browser'],
      datasets: [{ label: 'Connected Seconds', data: [4_000, 80] }]
    })
    expect((await report('by-stream')).all).toEqual([
      { stream_id: 'local_/radio.mp3', stream: '/radio.mp3', ...counts(2, 4_080) }
    ])
    expect((await report('by-country')).all).toEqual([
      { country_code: 'DE', country: 'Germany', ...counts(1, 4_000) }
    ])
    const times = await report('by-listening-time')
    expect(times.all.map(({ value }: { value: number }) => value)).toEqual([0, 0, 1, 0, 0, 0, 1, 0])
    expect(times.chart.labels).toEqual(['One Minute to Five Minutes', 'One Hour to Two Hours'])
  })

  test('list performances in the format of SoundExchange', async ({ program, station }) => {
    const play = (title: string, at: string, unique: number) => program.sql`
      insert into song_history (station_id, song_id, artist, title, album, isrc, started_at_ms, ended_at_ms, unique_listeners)
      values (${station.id}, md5(${title}), 'Sibyl | ^Ortega', ${title}, 'Sea', 'QM1', ${Date.parse(at)}, ${Date.parse(at) + 1}, ${unique})`
    await play('Tide', '2026-06-01T00:00:00Z', 3)
    await play('Tide', '2026-06-30T23:59:59Z', 4)
    await play('Ebb', '2026-07-01T00:00:00Z', 9)
    await play('', '2026-06-02T00:00:00Z', 5)
    await play(' ', '2026-06-03T00:00:00Z', 5)
    await program.sql`
      insert into song_history (station_id, song_id, artist, title, started_at_ms, ended_at_ms, unique_listeners, streamer)
      select id, md5('live'), '', live_text, ${Date.parse('2026-06-04')}, ${Date.parse('2026-06-05')}, 5, 'Anna'
      from stations where id = ${station.id}`
    await program.sql`update stations set live_text = 'On the air' where id = ${station.id}`
    const { body, headers } = await station.ask(
      'GET',
      '/reports/soundexchange?start_date=2026-06-01&end_date=2026-06-30'
    )
    expect(headers.get('content-disposition')).toMatch(/HARBOUR_FM.*01062026-30062026_A\.txt/)
    expect(headers.get('cuewire-untitled-plays')).toBe('3')
    const [header, ...lines] = body.split('\n')
    expect(header).toMatch(/^\^NAME_OF_SERVICE\^\|.*\|\^ACTUAL_TOTAL_PERFORMANCES\^$/)
    expect(lines).toEqual(['^HARBOUR FM^|^A^|^SIBYL  ORTEGA^|^TIDE^|^QM1^|^SEA^|^^|7'])
    await program.sql`update song_history set listeners_start = 2, delta_positive = 3, artist = '=1+1'
      where station_id = ${station.id} and title = 'Tide'`
    const csv = await station.ask(
      'GET',
      '/reports/soundexchange?start_date=2026-06-01&end_date=2026-06-30&format=csv&performances=connections'
    )
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv/)
    expect(csv.body.split('\r\n').slice(1)).toEqual(["Harbour FM,A,'=1+1,Tide,QM1,Sea,,10", ''])
    const wrong = await station.ask('GET', '/reports/soundexchange?start_date=2026-07-02&end_date=2026-07-01')
    expect([wrong.status, wrong.body.extra_data.errors[0].field]).toEqual([400, 'end_date'])
  })
})
