import { describe, expect } from 'vitest'

import { type Call, expectStatus, openCalls, wrongFields } from '../contract/calls.ts'
import { addedRows, interfaceRows, type Row } from '../contract/table.ts'
import { bodyOf, fill, makeRecord, openStations, pathOf, recordParameter } from '../contract/world.ts'
import { test as base } from '../support/fixtures.ts'

const test = base.extend('world', { scope: 'file' }, async ({ program }) => {
  const call = openCalls(program)
  const [station, other] = await openStations(program, call)
  return { call, station, other }
})

/** Creates a key with exactly these permissions, for one station or for all. */
const holders = test.extend('keyWith', { scope: 'file' }, async ({ world: { call } }) => {
  const made = new Map<string, string>()
  return async (permissions: string[], station?: number): Promise<string> => {
    const wanted = JSON.stringify([permissions, station])
    const known = made.get(wanted)
    if (known !== undefined) return known
    const body = {
      name: wanted,
      permissions: station === undefined ? permissions : [],
      station_permissions: station === undefined ? [] : [{ station, permissions }],
      expires_at: 0
    }
    const { status, body: response } = await call('POST', '/api/v1/main/api-keys', { body })
    if (status !== 200) throw new Error(`no key was made: ${status} ${JSON.stringify(response)}`)
    made.set(wanted, String(response.key))
    return String(response.key)
  }
})

const allRows = [...interfaceRows, ...addedRows]
const named = (rows: readonly Row[]) => rows.map((row): [string, Row] => [`${row.method} ${row.path}`, row])
const isKeyed = ({ permission }: Row) => permission !== 'public'
const isOfStation = ({ path }: Row) => path.includes('{station_id}')
/** `PUT` of a news article creates it. */
const mustExist = ({ method, path }: Row) =>
  recordParameter(path) !== undefined && !(method === 'PUT' && path.includes('{article_id}'))

const wrongKey = '0123456789abcdef:00000000000000000000000000000000'
const notIds = ['abc', '-1', '1.5', '1e3', '0x1', '%20', '9223372036854775808', '9'.repeat(40)]
const unknownIds = ['0', '9007199254740993', '9223372036854775807']
const unknownStations = ['nobody', '0', '-1', '1.5', '%2e%2e', 'a%00b', '9007199254740993', '9'.repeat(40)]

describe('the interface', () => {
  test('a request id of the client is returned', async ({ world: { station }, program }) => {
    const response = await fetch(`${program.baseUrl}/api/nowplaying/${station.id}`, {
      headers: { 'X-Request-Id': 'my.request-1_A' }
    })
    expect(response.headers.get('x-request-id')).toBe('my.request-1_A')
  })

  test('the description lists every endpoint of the interface', async ({ world: { call } }) => {
    const { status, body } = await call('GET', '/api/openapi.json')
    expectStatus({ status, body }, 200)
    const described = new Set(
      Object.entries(body.paths).flatMap(([path, methods]) =>
        Object.keys(Object(methods)).map(
          method => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`
        )
      )
    )
    const missing = interfaceRows
      .map(row => `${row.method} ${row.path.replace(/\{\w+\}/g, '{}')}`)
      .filter(name => !described.has(name))
    expect(missing).toEqual([])
  })
})

describe('keys', () => {
  test.for(named(allRows.filter(isKeyed)))(
    '%s requires a key',
    async ([, row], { world: { call, station } }) => {
      // The key is checked first, so that stations are not revealed without one.
      for (const [key, byName] of [
        ['', 'nobody'],
        [wrongKey, station.id]
      ] as const) {
        const path = pathOf(row.path, byName, '1')
        const { status, body } = await call(row.method, path, { key, body: bodyOf(row) })
        expect([status, body.type]).toEqual([403, 'NotLoggedInException'])
      }
    }
  )

  test.for(named(allRows.filter(row => !isKeyed(row))))(
    '%s requires no key and ignores a wrong one',
    async ([, row], { world: { call, station } }) => {
      for (const key of ['', 'wrong', wrongKey]) {
        const { status } = await call(row.method, pathOf(row.path, station.id), { key })
        expect([key, status]).toEqual([key, 200])
      }
    }
  )

  holders.for(named(allRows.filter(isKeyed)))(
    '%s requires exactly the documented permission',
    async ([, row], { world: { call, station, other }, keyWith }) => {
      const permissions = row.permission === 'any key' ? [] : [row.permission]
      const enough = isOfStation(row)
        ? [
            await keyWith(permissions),
            await keyWith(permissions, station.id),
            await keyWith(['administer all'], station.id)
          ]
        : [await keyWith(permissions), await keyWith(['administer all'])]
      const tooWeak = isOfStation(row)
        ? [
            await keyWith([]),
            await keyWith(['view station logs'], station.id),
            await keyWith(permissions, other.id)
          ]
        : [await keyWith(['view system logs']), await keyWith(['administer all'], station.id)]
      // The record does not exist, so an allowed deletion deletes nothing.
      // A PUT may create it, so it has an id of its own.
      const path = pathOf(
        row.path,
        station.id,
        row.method === 'PUT' ? '9007199254740970' : '9007199254740971'
      )
      for (const key of enough) {
        const { status } = await call(row.method, path, { key, body: bodyOf(row) })
        expect(status).toBe(mustExist(row) ? 404 : 200)
      }
      for (const key of permissions.length === 0 ? [] : tooWeak) {
        const { status, body } = await call(row.method, path, { key, body: bodyOf(row) })
        expect([status, body.type]).toEqual([403, 'PermissionDeniedException'])
      }
    }
  )
})

describe('unknown records and stations', () => {
  test.for(named(allRows.filter(mustExist)))('%s: an unknown record', async ([, row], { world }) => {
    const { call, station } = world
    const bad = row.path.includes('{id}')
      ? [...unknownIds, ...notIds]
      : ['nobody', '9'.repeat(40), '%20', 'a%00b']
    expectStatus(await call('OPTIONS', pathOf(row.path, station.id, '1')), 204)
    for (const record of bad) {
      const { status } = await call(row.method, pathOf(row.path, station.id, record), { body: bodyOf(row) })
      expect([record, status]).toEqual([record, 404])
    }
  })

  test.for(named(allRows.filter(isOfStation)))(
    '%s: an unknown station',
    async ([, row], { world: { call } }) => {
      expectStatus(await call('OPTIONS', pathOf(row.path, '1', '1')), 204)
      for (const unknownStation of unknownStations) {
        const { status } = await call(row.method, pathOf(row.path, unknownStation, '1'), {
          body: bodyOf(row)
        })
        // The client resolves `..`: then it is the route of the reports of many stations, which refuses the body.
        const isList = unknownStation === '%2e%2e' && row.path.endsWith('/listeners')
        expect([unknownStation, status]).toEqual([unknownStation, isList ? 400 : 404])
      }
    }
  )

  test.for(named(allRows.filter(row => isOfStation(row) && mustExist(row))))(
    '%s: a record of another station',
    async ([, row], { world: { call, station, other } }) => {
      const record = await makeRecord(call, row, station)
      for (const otherStation of [other.id, other.shortName]) {
        const { status } = await call(row.method, pathOf(row.path, otherStation, record), {
          body: bodyOf(row)
        })
        expect(status).toBe(404)
      }
      const own = await call('GET', pathOf(row.path, station.id, record))
      expect(own.status).toBe(200)
    }
  )

  test.for([
    '/api',
    '/api/',
    '/api/station',
    '/api/v1/main',
    '/api/v1/main/nothing',
    '/api/v2/main/news',
    '/nothing'
  ])('%s is 404 for every method, with or without a key', async (path, { world: { call } }) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect([method, (await call(method, path)).status]).toEqual([method, 404])
    }
    expect((await call('GET', path, { key: '' })).status).toBe(404)
  })
})

describe('methods', () => {
  const paths = [...new Set(allRows.map(row => row.path))]

  test.for(paths)('%s refuses those it does not have and lists the others', async (path, { world }) => {
    const { call, station } = world
    const has = allRows.filter(row => row.path === path).map(row => row.method)
    const lacks = has.includes('POST') && has.includes('GET') ? ['PUT', 'DELETE', 'PATCH'] : ['PATCH']
    const asked = pathOf(path, station.id, '1')
    for (const method of lacks) {
      const { status, headers } = await call(method, asked, { key: '' })
      expect([method, status]).toEqual([method, 405])
      const allowed = headers.get('allow')?.split(', ') ?? []
      const wanted = [...has, 'OPTIONS', ...(has.includes('GET') ? ['HEAD'] : [])]
      expect(allowed).toEqual(expect.arrayContaining(wanted))
      expect(allowed).not.toContain(method)
    }
  })

  test.for(paths)('OPTIONS %s answers a preflight', async (path, { world: { call, station } }) => {
    const { status, headers } = await call('OPTIONS', pathOf(path, station.id, '1'), { key: '' })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
    expect(headers.get('access-control-allow-headers')).toContain('x-api-key')
    expect(headers.get('access-control-max-age')).toBe('86400')
  })

  test.for(named(allRows.filter(row => row.method === 'GET')))(
    '%s answers HEAD',
    async ([, row], { world: { call, station } }) => {
      const record = recordParameter(row.path) === undefined ? '' : await makeRecord(call, row, station)
      const path = pathOf(row.path, station.id, record)
      const { headers, status } = await call('HEAD', path)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toMatch(/^application\/json/)
    }
  )
})

describe('API keys', () => {
  const make = async (call: Call, parts: object = {}) => {
    const sent = fill({
      name: 'Key {n}',
      permissions: ['administer all'],
      station_permissions: [],
      expires_at: 0
    })
    const { status, body } = await call('POST', '/api/v1/main/api-keys', { body: { ...sent, ...parts } })
    expectStatus({ status, body }, 200)
    return { sent, key: String(body.key), record: body.api_key }
  }

  test('a new key is returned once, works, and is listed without its secret', async ({ world: { call } }) => {
    const { sent, key, record } = await make(call)
    expect(record).toMatchObject({ ...sent, identifier: key.slice(0, 16), revoked_at: 0 })
    expect((await call('GET', '/api/admin/custom_fields', { key })).status).toBe(200)
    const { body } = await call('GET', '/api/v1/main/api-keys')
    expect(body.api_keys).toContainEqual({ ...record, last_used_at: expect.any(Number) })
    expect(JSON.stringify(body)).not.toContain(key.slice(17))
  })

  const ways: [way: string, nameOf: (key: string, record: { id: number; identifier: string }) => string][] = [
    ['identifier', (_, record) => record.identifier],
    ['whole key', key => key],
    ['number', (_, record) => String(record.id)]
  ]
  test.for(ways)(
    'a key that is revoked by its %s stops working within a second',
    async ([, nameOf], { world }) => {
      const { call } = world
      const { key, record } = await make(call)
      expect((await call('GET', '/api/health', { key })).status).toBe(200)
      const revoked = await call('POST', `/api/v1/main/api-keys/revoke/${nameOf(key, record)}`)
      expectStatus(revoked, 200)
      const secondLater = Date.now() + 1_000
      await expect
        .poll(async () => (await call('GET', '/api/health', { key })).status, {
          interval: 50,
          timeout: 3_000
        })
        .toBe(403)
      expect(Date.now()).toBeLessThan(secondLater + 500)
      const { body } = await call('GET', '/api/v1/main/api-keys')
      const listed = body.api_keys.find((each: { id: number }) => each.id === record.id)
      expect(Math.abs(listed.revoked_at - Date.now() / 1000)).toBeLessThan(10)
    }
  )

  test('an expired key is refused', async ({ world: { call } }) => {
    const now = Math.floor(Date.now() / 1000)
    const { key } = await make(call, { expires_at: now + 2 })
    expect((await call('GET', '/api/health', { key })).status).toBe(200)
    await expect
      .poll(async () => (await call('GET', '/api/health', { key })).status, { interval: 100, timeout: 5_000 })
      .toBe(403)
  })

  const bad: [field: string, body: object][] = [
    ['permissions', { permissions: ['be the boss'] }],
    ['permissions', { permissions: 'administer all' }],
    ['station_permissions', { station_permissions: [{ station: 'abc', permissions: [] }] }],
    ['station_permissions', { station_permissions: [{ station: 1, permissions: ['be the boss'] }] }],
    ['expires_at', { expires_at: 'tomorrow' }],
    ['name', { name: { a: 1 } }]
  ]
  test.for(bad)(
    'an invalid %s is refused with the field: %j',
    async ([field, parts], { world: { call } }) => {
      const body = { name: 'Bad', permissions: [], station_permissions: [], expires_at: 0, ...parts }
      const response = await call('POST', '/api/v1/main/api-keys', { body })
      expect([response.status, wrongFields(response.body)]).toEqual([400, [field]])
    }
  )

  test('a key cannot create a key with more permissions', async ({ world: { call } }) => {
    const { key } = await make(call, { permissions: ['administer api keys'] })
    const body = { name: 'More', permissions: ['administer all'], station_permissions: [], expires_at: 0 }
    expect((await call('POST', '/api/v1/main/api-keys', { body, key })).status).not.toBe(200)
  })
})

describe('news', () => {
  test('an article is created and changed under the id in the path', async ({ world: { call } }) => {
    const path = fill('/api/v1/main/news/opening-{n}')
    const made = await call('PUT', path, {
      body: { title: 'We open', body: 'Today.', type: 'info', is_published: false }
    })
    expect(made.body.article).toMatchObject({
      article_id: path.split('/').at(-1),
      title: 'We open',
      is_published: false
    })
    const read = await call('GET', path)
    expect(read.body).toEqual(made.body)
    const changed = await call('PUT', path, { body: { title: 'We opened', is_published: true } })
    expect(changed.body.article).toEqual({
      ...made.body.article,
      title: 'We opened',
      is_published: true,
      updated_at: expect.any(Number)
    })
    const { body } = await call('GET', '/api/v1/main/news')
    expect(body.articles).toContainEqual(changed.body.article)
    expect((await call('DELETE', path)).status).toBe(200)
    for (const method of ['GET', 'DELETE']) expect((await call(method, path)).status).toBe(404)
  })

  test.for(['title', 'body', 'type', 'is_published'])(
    'an invalid %s is refused with the field',
    async (field, { world }) => {
      const body = { title: 'Words', body: 'Words.', type: 'info', is_published: true, [field]: { a: 1 } }
      for (const [method, path] of [
        ['POST', '/api/v1/main/news'],
        ['PUT', '/api/v1/main/news/wrong']
      ] as const) {
        const response = await world.call(method, path, { body })
        expect([response.status, wrongFields(response.body)]).toEqual([400, [field]])
      }
      expect((await world.call('GET', '/api/v1/main/news/wrong')).status).toBe(404)
    }
  )
})

describe('notifications', () => {
  const make = async (call: Call, type: string) => {
    const sent = fill({ title: 'Note {n}', body: 'Words.', type })
    const { status, body } = await call('POST', '/api/v1/main/notifications', { body: sent })
    expectStatus({ status, body }, 200)
    expect(body.notification).toMatchObject({ ...sent, is_read: false, read_at: 0 })
    return body.notification
  }
  const ids = (body: { notifications: { notification_id: string }[] }) =>
    body.notifications.map(each => each.notification_id)

  test('are listed, filtered, counted and deleted in bulk', async ({ world: { call } }) => {
    const before = (await call('GET', '/api/v1/main/notifications/stats')).body
    const [note, warning, danger] = [
      await make(call, 'info'),
      await make(call, 'warning'),
      await make(call, 'danger')
    ]
    const stats = (await call('GET', '/api/v1/main/notifications/stats')).body
    expect(stats).toMatchObject({
      total: before.total + 3,
      by_type: { info: before.by_type.info + 1, warning: before.by_type.warning + 1 }
    })
    const all = (await call('GET', '/api/v1/main/notifications')).body
    expect(all.notifications).toEqual(expect.arrayContaining([note, warning, danger]))
    const warnings = (await call('GET', '/api/v1/main/notifications?type=warning')).body
    expect(ids(warnings)).toContain(warning.notification_id)
    expect(ids(warnings)).not.toContain(danger.notification_id)
    const unread = (await call('GET', '/api/v1/main/notifications?is_read=false')).body
    expect(ids(unread)).toContain(note.notification_id)
    const read = (await call('GET', '/api/v1/main/notifications?is_read=true')).body
    expect(ids(read)).not.toContain(note.notification_id)

    const both = [note.notification_id, warning.notification_id]
    const deleted = await call('POST', '/api/v1/main/notifications/bulk-delete', { body: { ids: both } })
    expect(deleted.body).toEqual({ status: 'success', deleted: 2 })
    expect(ids((await call('GET', '/api/v1/main/notifications')).body)).toContain(danger.notification_id)
    for (const id of both) expect((await call('GET', `/api/v1/main/notifications/${id}`)).status).toBe(404)
    const everything = await call('POST', '/api/v1/main/notifications/bulk-delete', { body: { all: true } })
    expect(everything.body.deleted).toBeGreaterThanOrEqual(1)
    expect((await call('GET', '/api/v1/main/notifications')).body.notifications).toEqual([])
  })

  test('a bulk delete without a criterion deletes nothing', async ({ world: { call } }) => {
    const kept = await make(call, 'success')
    for (const body of [{ ids: 'all' }, { ids: {} }, { all: 'maybe' }, { is_read: 5 }, []]) {
      const { status } = await call('POST', '/api/v1/main/notifications/bulk-delete', { body })
      expect([body, status]).toEqual([body, 400])
    }
    for (const body of [undefined, {}, { all: false }, { ids: [] }]) {
      const { status } = await call('POST', '/api/v1/main/notifications/bulk-delete', { body })
      expect([200, 400]).toContain(status)
    }
    expect((await call('GET', `/api/v1/main/notifications/${kept.notification_id}`)).status).toBe(200)
  })

  const bad: [field: string, body: object][] = [
    ['title', { title: { a: 1 } }],
    ['body', { body: ['x'] }],
    ['type', { type: 'nonsense' }],
    ['type', { type: 5 }]
  ]
  test.for(bad)(
    'an invalid %s is refused with the field: %j',
    async ([field, parts], { world: { call } }) => {
      const body = { title: 'Note', body: 'Words.', type: 'info', ...parts }
      const response = await call('POST', '/api/v1/main/notifications', { body })
      expect([response.status, wrongFields(response.body)]).toEqual([400, [field]])
    }
  )
})
