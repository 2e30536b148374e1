import { describe, expect } from 'vitest'
import { parse } from 'yaml'

import { outOfScopeRoutes } from '../../src/api/azuracast/out-of-scope.ts'
import { engineTimeMs } from '../../src/platform/runtime/engine-time.ts'
import { removeOldPlays } from '../../src/stores/db/retention.ts'
import { serveApi } from '../support/api-server.ts'
import { isolatedTest as test } from '../support/fixtures.ts'
import { startMailServer } from '../support/mail-server.ts'
import { call, createUser, signedIn } from '../support/people.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const settings = '/api/admin/settings'
const gif = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64')

const fetchPlainly = (program: Program, path: string, init: RequestInit = {}) =>
  fetch(program.baseUrl + path, { redirect: 'manual', ...init })

const sendPicture = (
  program: Program,
  type: string,
  body: NonNullable<RequestInit['body']>,
  contentType?: string
) =>
  fetchPlainly(program, `/api/admin/custom_assets/${type}`, {
    method: 'POST',
    body,
    headers: { 'X-API-Key': adminKey, ...(contentType ? { 'Content-Type': contentType } : {}) }
  })

describe('settings', () => {
  test('the whole record can be sent back as it was read', async ({ program }) => {
    const { body: before } = await program.ask('GET', settings)
    expect(before).toMatchObject({
      base_url: expect.stringMatching(/^http:/),
      history_keep_days: 0,
      analytics: 'no_ip',
      mail_enabled: false,
      mail_smtp_password: '',
      public_theme: 'browser',
      app_unique_identifier: expect.stringMatching(/^[0-9a-f-]{36}$/)
    })
    expect(before.setup_complete_time).toBeGreaterThan(1_700_000_000)
    const { status, headers } = await program.ask('PUT', settings, { body: before })
    expect([status, headers.get('x-ignored-fields')]).toEqual([200, null])
    const { body: after } = await program.ask('GET', settings)
    expect({ ...after, sync_last_run: 0 }).toEqual({ ...before, sync_last_run: 0 })
  })

  test('what was written is read back, also by group, and null resets it', async ({ program }) => {
    const { status, headers } = await program.ask('PUT', `${settings}/general`, {
      body: { instance_name: 'Harbour Radio', history_keep_days: 60, public_theme: 'dark', nothing: 1 }
    })
    // A setting of another group is none of this one.
    expect([status, headers.get('x-ignored-fields')]).toEqual([200, 'public_theme, nothing'])
    const { body: general } = await program.ask('GET', `${settings}/general`)
    expect(general).toMatchObject({ instance_name: 'Harbour Radio', history_keep_days: 60 })
    expect(general).not.toHaveProperty('public_theme')
    const { body: all } = await program.ask('GET', settings)
    expect(all).toMatchObject({ instance_name: 'Harbour Radio', public_theme: 'browser' })
    await program.ask('PUT', settings, { body: { instance_name: null, history_keep_days: null } })
    expect((await program.ask('GET', settings)).body).toMatchObject({
      instance_name: '',
      history_keep_days: 0
    })
    const [entry] =
      await program.sql`select fields from audit_log where record = 'Settings' order by id desc limit 1`
    expect(entry?.['fields']).toEqual(['instance_name', 'history_keep_days'])
  })

  test.for([
    ['base_url', 'https://other.example.com', 'BASE_URL'],
    ['mail_smtp_password', 'secret', 'SMTP_URL'],
    ['backup_enabled', true, 'npm run backup'],
    ['public_custom_js', 'alert(1)', 'custom code'],
    ['history_keep_days', 7, 'at least 30'],
    ['homepage_redirect_url', 'ftp://example.com', 'http://']
  ] as const)('%s is refused with the reason', async ([name, value, reason], { program }) => {
    const { status, body } = await program.ask('PUT', settings, {
      body: { [name]: value, instance_name: 'No' }
    })
    expect(status).toBe(400)
    expect(body.extra_data.errors).toEqual([
      expect.objectContaining({ field: name, message: expect.stringContaining(reason) })
    ])
    expect((await program.ask('GET', settings)).body.instance_name).not.toBe('No')
  })

  test('they change the pages, and the picture of songs without a cover', async ({ program }) => {
    const [{ shortName } = { shortName: '' }] = await program.sql<{ shortName: string }[]>`
      select short_name as "shortName" from stations where id = ${await seedStation(program.sql)}`
    const read = async (path: string) => (await fetchPlainly(program, path)).text()
    await waitFor(async () => (await fetchPlainly(program, `/public/${shortName}`)).status === 200, {
      deadlineMs: 10_000,
      what: 'the station'
    })
    const body = {
      instance_name: 'Harbour Radio',
      public_theme: 'dark',
      homepage_redirect_url: 'https://radio.example.com/start',
      default_album_art_url: 'https://pictures.example.com/cover.png'
    }
    await program.ask('PUT', settings, { body })
    const player = await fetchPlainly(program, `/public/${shortName}`)
    const html = await player.text()
    expect(html).toContain('<html lang="en" data-theme="dark">')
    expect(html).toContain('<meta property="og:site_name" content="Harbour Radio" />')
    expect(player.headers.get('content-security-policy')).toContain(' https://pictures.example.com;')
    const home = await fetchPlainly(program, '/')
    expect([home.status, home.headers.get('location')]).toEqual([302, body.homepage_redirect_url])
    expect((await fetchPlainly(program, '/login')).headers.get('location')).toBe('./?dashboard=')
    expect(await read('/?dashboard')).toContain('<title>Stations · Harbour Radio</title>')
    const cover = await fetchPlainly(program, '/static/img/generic_song.jpg')
    expect([cover.status, cover.headers.get('location')]).toEqual([302, body.default_album_art_url])
    const none = {
      instance_name: null,
      public_theme: null,
      homepage_redirect_url: '',
      default_album_art_url: ''
    }
    await program.ask('PUT', settings, { body: none })
    expect(await read('/')).toContain('<title>Stations · Cuewire</title>')
    expect((await fetchPlainly(program, '/static/img/generic_song.jpg')).status).toBe(200)
  })

  test('the retention of plays follows the setting before the variable', async ({ sql }) => {
    const station = await seedStation(sql)
    const nowMs = engineTimeMs()
    const endedMs = nowMs - 50 * 86_400_000
    await sql`insert into song_history (station_id, song_id, started_at_ms, ended_at_ms)
      values (${station}, ${'0'.repeat(32)}, ${endedMs - 1_000}, ${endedMs})`
    const days = {
      HISTORY_RETENTION_DAYS: 0,
      REQUEST_RETENTION_DAYS: 0,
      DELIVERY_RETENTION_DAYS: 0,
      AUDIT_RETENTION_DAYS: 0,
      LISTENER_RETENTION_DAYS: 0,
      AUDIENCE_RETENTION_DAYS: 0
    }
    const keep = (value: number) => sql`
      insert into settings (name, value) values ('installation', ${JSON.stringify({ history_keep_days: value })})
      on conflict (name) do update set value = excluded.value`
    expect(await removeOldPlays(sql, nowMs, days)).toBe(0)
    await keep(0)
    expect(await removeOldPlays(sql, nowMs, { ...days, HISTORY_RETENTION_DAYS: 30 })).toBe(0)
    await keep(40)
    expect(await removeOldPlays(sql, nowMs, days)).toBe(1)
  })
})

describe('pictures of the program', () => {
  test('an uploaded picture is shown until it is deleted', async ({ program }) => {
    const state = async (type: string) => (await program.ask('GET', `/api/admin/custom_assets/${type}`)).body
    expect(await state('album_art')).toEqual({ hasRecord: false, url: null })
    expect((await sendPicture(program, 'album_art', gif, 'image/gif')).status).toBe(200)
    const form = new FormData()
    form.append('flowTotalChunks', '1')
    form.append('file_data', new Blob([gif]), 'icon.gif')
    expect((await sendPicture(program, 'browser_icon', form)).status).toBe(200)
    const { hasRecord, url } = await state('album_art')
    expect(hasRecord).toBe(true)
    const shown = await fetchPlainly(program, new URL(url).pathname)
    expect([shown.headers.get('content-type'), Buffer.from(await shown.arrayBuffer())]).toEqual([
      'image/gif',
      gif
    ])
    const cover = await fetchPlainly(program, '/static/img/generic_song.jpg')
    expect(Buffer.from(await cover.arrayBuffer())).toEqual(gif)
    const icon = new URL((await state('browser_icon')).url).pathname
    expect(await (await fetchPlainly(program, '/')).text()).toContain(`href=".${icon}"`)
    expect((await sendPicture(program, 'background', gif, 'image/gif')).status).toBe(200)
    const [{ shortName } = { shortName: '' }] = await program.sql<{ shortName: string }[]>`
      select short_name as "shortName" from stations where id = ${await seedStation(program.sql)}`
    await waitFor(async () => (await fetchPlainly(program, `/public/${shortName}`)).status === 200, {
      deadlineMs: 10_000,
      what: 'the station'
    })
    const { pathname } = new URL((await state('background')).url)
    const page = await (await fetchPlainly(program, `/public/${shortName}`)).text()
    expect(page).toContain(`<link rel="stylesheet" href="..${pathname}.css" />`)
    const styles = await (await fetchPlainly(program, `${pathname}.css`)).text()
    expect(styles).toContain(`url('${pathname.split('/').at(-1)}')`)
    for (const type of ['album_art', 'browser_icon', 'background'])
      expect((await program.ask('DELETE', `/api/admin/custom_assets/${type}`)).status).toBe(200)
    expect(await state('album_art')).toEqual({ hasRecord: false, url: null })
    expect((await fetchPlainly(program, '/static/img/generic_song.jpg')).headers.get('content-type')).toBe(
      'image/jpeg'
    )
  })

  test('what is no picture, and an unknown type, are refused', async ({ program }) => {
    expect((await sendPicture(program, 'album_art', 'text', 'image/gif')).status).toBe(400)
    expect((await sendPicture(program, 'album_art', '{}', 'application/json')).status).toBe(415)
    expect((await sendPicture(program, 'album_art', Buffer.alloc(5 * 2 ** 20 + 1), 'image/gif')).status).toBe(
      413
    )
    expect((await program.ask('GET', '/api/admin/custom_assets/other')).status).toBe(404)
  })
})

describe('users', () => {
  test('preferences are read back, and auth_password sets the password', async ({ program }) => {
    const { email, cookie } = await signedIn(program)
    const put = (body: object) => call(program, 'PUT', '/api/frontend/account/me', { cookie, body })
    expect((await put({ locale: 'de_DE', show_24_hour_time: true })).status).toBe(200)
    const { body: me } = await call(program, 'GET', '/api/frontend/account/me', { cookie })
    const expected = { email, name: 'Anna', locale: 'de_DE', show_24_hour_time: true, auth_password: '' }
    expect(me).toMatchObject({ ...expected, avatar: { service_name: 'disabled' } })
    await put({ show_24_hour_time: null, name: 'Berta' })
    const { body: user } = await program.ask('GET', `/api/admin/user/${me.id}`)
    expect(user).toMatchObject({
      name: 'Berta',
      locale: 'de_DE',
      show_24_hour_time: null,
      two_factor_secret: null
    })
    await program.ask('PUT', `/api/admin/user/${me.id}`, { body: { auth_password: 'another long password' } })
    const response = await call(program, 'POST', '/api/frontend/account/session', {
      body: { email, password: 'another long password' }
    })
    expect(response.status).toBe(200)
  })

  test('a user and a role can be sent back as they were read', async ({ program }) => {
    const { id } = await createUser(program, { role: 'DJ' })
    const { body: made } = await program.ask('POST', '/api/admin/roles', { body: { name: `Role of ${id}` } })
    for (const path of [`/api/admin/user/${id}`, `/api/admin/role/${made.id}`]) {
      const { body: before } = await program.ask('GET', path)
      const { status, headers } = await program.ask('PUT', path, { body: { ...before, name: 'Other' } })
      expect([path, status, headers.get('x-ignored-fields')]).toEqual([path, 200, null])
      const { body: after } = await program.ask('GET', path)
      expect({ ...after, updated_at: 0 }).toEqual({ ...before, name: 'Other', updated_at: 0 })
    }
  })

  test('an email address is changed with a session, not with a key', async ({ program }) => {
    const { id, cookie } = await signedIn(program)
    const other = await createUser(program)
    const { key } = (
      await call(program, 'POST', '/api/admin/api-keys', { key: adminKey, body: { user: id, comment: 'x' } })
    ).body
    const put = (email: string, options: object) =>
      call(program, 'PUT', '/api/frontend/account/me', { ...options, body: { email, name: 'Cleo' } })
    const email = `new-${other.email}`
    expect((await put(email, { key })).status).toBe(403)
    expect((await put(other.email, { cookie })).status).toBe(409)
    expect((await put(email, { cookie })).status).toBe(200)
    const { body } = await call(program, 'GET', '/api/frontend/account/me', { key })
    expect(body).toMatchObject({ email, name: 'Cleo' })
    const twoFactor = await call(program, 'GET', '/api/frontend/account/two-factor', { key })
    expect(twoFactor.body).toEqual({ two_factor_enabled: false })
  })

  test('a key of a user works with its permissions until it is revoked', async ({ program }) => {
    const { id, email, cookie } = await signedIn(program, { role: 'Read-only' })
    const path = '/api/admin/api-keys'
    const made = await program.ask('POST', path, { body: { user: email, comment: 'Sync' } })
    const { key, ...record } = made.body
    expect(record).toMatchObject({ id: key.slice(0, 16), comment: 'Sync', verifier: '', user: { id, email } })
    expect((await program.ask('GET', '/api/admin/users', { key })).status).toBe(200)
    expect((await program.ask('POST', '/api/admin/users', { key, body: {} })).status).toBe(403)
    expect((await program.ask('GET', `/api/admin/api-key/${record.id}`)).body).toMatchObject({
      id: record.id
    })
    expect((await program.ask('GET', `${path}?searchPhrase=${encodeURIComponent(email)}`)).body).toHaveLength(
      1
    )
    const own = await call(program, 'GET', '/api/frontend/account/api-keys', { cookie })
    expect(own.body).toEqual([
      expect.objectContaining({ id: record.id, user: expect.objectContaining({ id }) })
    ])
    expect(
      (await call(program, 'GET', `/api/frontend/account/api-key/${record.id}`, { cookie })).body.comment
    ).toBe('Sync')
    expect((await program.ask('DELETE', `/api/admin/api-key/${record.id}`)).status).toBe(200)
    expect((await program.ask('GET', '/api/admin/users', { key })).status).toBe(403)
    expect((await program.ask('DELETE', `/api/admin/api-key/${record.id}`)).status).toBe(404)
  })

  test('nobody creates or revokes a key with more permissions than their own', async ({ program }) => {
    const administrator = await createUser(program, { role: 'Administrator' })
    const { body: made } = await program.ask('POST', '/api/admin/api-keys', {
      body: { user: administrator.id, comment: 'all' }
    })
    const { body: weak } = await program.ask('POST', '/api/v1/main/api-keys', {
      body: { name: 'weak', permissions: ['administer api keys'] }
    })
    const body = { user: administrator.id, comment: 'mine' }
    expect((await program.ask('POST', '/api/admin/api-keys', { key: weak.key, body })).status).toBe(403)
    expect((await program.ask('DELETE', `/api/admin/api-key/${made.id}`, { key: weak.key })).status).toBe(403)
    const missing = await program.ask('POST', '/api/admin/api-keys', {
      body: { user: 'nobody@example.com', comment: 'x' }
    })
    expect([missing.status, missing.body.extra_data.errors[0].field]).toEqual([400, 'user'])
    const unnamed = await program.ask('POST', '/api/admin/api-keys', { body: { user: administrator.id } })
    expect([unnamed.status, unnamed.body.extra_data.errors[0].field]).toEqual([400, 'name'])
  })
})

describe('the state of the installation', () => {
  test('the machine, the processes and the metrics are shown', async ({ program }) => {
    const { body: stats } = await program.ask('GET', '/api/admin/server/stats')
    expect(Number(stats.memory.total_bytes)).toBeGreaterThan(Number(stats.memory.used_bytes))
    expect(Number(stats.disk.total_bytes)).toBeGreaterThan(0)
    expect(stats.cpu.cores.length).toBeGreaterThan(0)
    expect(stats.cpu.total.usage).toMatch(/^\d+(\.\d+)?$/)
    const { body: services } = await program.ask('GET', '/api/admin/services')
    expect(services.map(({ name, running }: JsonBody) => [name, running])).toEqual([
      ['server', true],
      ['workers', true],
      ['postgres', true],
      ['redis', true]
    ])
    const metrics = await program.ask('GET', '/api/prometheus')
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(metrics.body).toMatch(/^azuracast_active_stations \d+$/m)
    expect(metrics.body).toMatch(/^azuracast_system_ram_total_mbytes [\d.]+$/m)
    expect((await program.ask('GET', '/api/prometheus', { key: '' })).status).toBe(403)
  })

  test('the OpenAPI document is also YAML', async ({ program }) => {
    const { status, headers, body } = await program.ask('GET', '/api/openapi.yml', { key: '' })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/x-yaml; charset=utf-8'])
    const { body: document } = await program.ask('GET', '/api/openapi.json', { key: '' })
    expect(parse(body)).toEqual(document)
  })

  test('no program is installed, and there are no log files', async ({ program }) => {
    const read = async (path: string) => (await program.ask('GET', `/api/admin/${path}`)).body
    expect(await read('shoutcast')).toEqual({ version: null })
    expect(await read('rsas')).toEqual({ version: null, hasLicense: false })
    expect(await read('stereo_tool')).toEqual({ version: null })
    expect(await read('geolite')).toEqual({ version: null, key: null })
    expect(await read('logs')).toEqual({ globalLogs: [], stationLogs: [] })
    expect((await program.ask('GET', '/api/admin/log/any')).body.message).toContain('standard output')
  })

  test('entries of the audit log have the form of AzuraCast, and are found by date', async ({ program }) => {
    const { body: field } = await program.ask('POST', '/api/admin/custom_fields', { body: { name: 'Mood' } })
    const filter = `record=CustomField&record_id=${field.id}`
    const { body: made } = await program.ask('POST', '/api/v1/main/api-keys', {
      body: { name: 'auditor', permissions: ['view all'], dialect: 'azuracast' }
    })
    const { body } = await program.ask('GET', `/api/admin/auditlog?${filter}&start=2020-01-01`, {
      key: made.key
    })
    expect(body[0]).toMatchObject({
      operation: 1,
      operationText: 'insert',
      class: 'CustomField',
      identifier: String(field.id),
      targetClass: null,
      target: null,
      changes: expect.arrayContaining([{ field: 'name', from: '', to: 'Mood' }]),
      user: 'Administrator'
    })
    expect((await program.ask('GET', `/api/admin/auditlog?${filter}&end=2020-01-01`)).body).toEqual([])
  })

  test('the dashboard has the stations that the key may view, and unread notifications', async ({
    program
  }) => {
    const station = await seedStation(program.sql)
    const { body: made } = await program.ask('POST', '/api/v1/main/api-keys', {
      body: { name: 'one', station_permissions: [{ station, permissions: ['view station management'] }] }
    })
    const path = '/api/frontend/dashboard'
    await waitFor(
      async () => (await program.ask('GET', `${path}/stations`, { key: made.key })).body.length === 1,
      {
        deadlineMs: 10_000,
        what: 'the station'
      }
    )
    const { body: shown } = await program.ask('GET', `${path}/stations`, { key: made.key })
    expect(shown[0]).toMatchObject({ station: { id: station }, listeners: { total: 0 } })
    expect(Object.keys(shown[0].links)).toEqual(['public', 'manage'])
    expect(shown[0].live.broadcast_start).toBe('')
    const { body: other } = await program.ask('POST', '/api/v1/main/api-keys', {
      body: { name: 'two', permissions: ['view all'], dialect: 'azuracast' }
    })
    const { body: translated, headers } = await program.ask('GET', `${path}/stations`, { key: other.key })
    expect(translated[0].live.broadcast_start).toBeNull()
    expect(headers.get('vary')).toContain('X-API-Key')
    const all = await program.ask('GET', `${path}/stations?sort=listeners&sortOrder=DESC&per_page=1`)
    expect([all.body.rows.length, all.body.total > 1]).toEqual([1, true])
    await program.ask('POST', '/api/v1/main/notifications', { body: { title: 'Maintenance' } })
    const { body: notifications } = await program.ask('GET', `${path}/notifications`)
    expect(notifications[0]).toMatchObject({ title: 'Maintenance', type: 'info', actionUrl: null })
    expect((await program.ask('GET', `${path}/notifications`, { key: made.key })).body).toEqual([])
    const minute = Math.floor(engineTimeMs() / 60_000) - 120
    await program.sql`insert into listener_minutes values (${station}, ${minute}, 8, 6, 8, 8)`
    for (const method of ['GET', 'PUT']) {
      const { body: charts } = await program.ask(method, `${path}/charts`, { key: made.key })
      expect(charts.average.metrics[0].data.at(-1).y).toBe(8)
      expect(charts.unique.alt[0].values.at(-1).value).toBe('6 Listeners')
    }
  })

  test('a test message is sent, and refused without a mail server', async ({ program, sql, redisUrl }) => {
    await using mail = await startMailServer()
    const server = await serveApi(sql, redisUrl, { variables: { SMTP_URL: mail.url } })
    const key = await server.makeKey(['administer settings'])
    const send = (email: string) =>
      fetch(`${server.base}/api/admin/send-test-message`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ email })
      })
    expect((await send('anna@example.com')).status).toBe(200)
    expect(mail.received.map(({ to }) => to)).toEqual([['anna@example.com']])
    expect((await send('anna@example.com, berta@example.com')).status).toBe(400)
    const none = await program.ask('POST', '/api/admin/send-test-message', {
      body: { email: 'anna@example.com' }
    })
    expect([none.status, none.body.message]).toEqual([409, expect.stringContaining('SMTP_URL')])
  })
})

describe('debugging', () => {
  test('the caches are cleared, and the jobs are counted', async ({ program }) => {
    expect((await program.ask('PUT', '/api/admin/debug/clear-cache')).status).toBe(200)
    const { body } = await program.ask('GET', '/api/admin/debug/queues')
    expect(body.map(({ name }: JsonBody) => name)).toEqual(['high_priority', 'normal_priority'])
  })

  test('the queue of a station is cleared, explained and published', async ({ program }) => {
    const station = await seedStation(program.sql)
    const { body: listed } = await program.ask('GET', '/api/admin/debug/stations')
    const urls = listed.find(({ id }: JsonBody) => id === station)
    const put = async (url: string) => (await program.ask('PUT', new URL(url).pathname)).body.logs
    await waitFor(async () => (await program.ask('GET', `/api/station/${station}/queue`)).body.length > 0, {
      deadlineMs: 15_000,
      what: 'the queue'
    })
    const ids = async () =>
      (
        await program.sql<{ id: number }[]>`
      select id from queue where station_id = ${station} and played_at_ms is null and skipped_at_ms is null`
      ).map(({ id }) => id)
    const before = await ids()
    expect((await put(urls.getNextSongUrl))[0].message).toMatch(/^Next song: Artist \d+ - Title \d+$/)
    expect(await put(urls.clearQueueUrl)).toHaveLength(1)
    expect((await ids()).filter(id => before.includes(id))).toEqual([])
    expect((await put(urls.getNowPlayingUrl))[0].message).toContain('published')
  })
})

test('operations that are out of scope name the document, without a key and with any body', async ({
  program
}) => {
  expect(outOfScopeRoutes.length).toBeGreaterThan(50)
  for (const { method, path } of outOfScopeRoutes) {
    const { status, body } = await program.ask(method, path.replace(/:\w+/g, '1'), {
      key: '',
      ...(method === 'POST' || method === 'PUT' ? { body: 'no JSON' } : {})
    })
    expect([method, path, status, body.type]).toEqual([method, path, 501, 'NotImplementedException'])
    expect(body.message).toContain('See docs/azuracast.md')
  }
})
