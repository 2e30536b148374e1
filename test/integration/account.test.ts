import { describe, expect } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import { raiseSilenceAlerts } from '../../src/engine/silence-alerts.ts'
import { openStationRoundRobin } from '../../src/engine/station-round-robin.ts'
import { raiseAlert, resolveAlert } from '../../src/stores/db/notifications.ts'
import { removeOldAudit, removeOldNotifications } from '../../src/stores/db/retention.ts'
import { raiseFailureAlerts } from '../../src/webhooks/deliveries/failure-alerts.ts'
import { isolatedTest as test } from '../support/fixtures.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { addRemotePlaylist } from '../support/remote-playlist.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const path = '/api/v1/main'
const namesOf = (record: object) => Object.keys(record).toSorted()
const fieldsOf = ({ body }: JsonBody) =>
  body.extra_data.errors.map((each: { field: string; code: string }) => `${each.field} ${each.code}`)

/** A key with exactly these permissions. */
async function keyWith(program: Program, permissions: string[]): Promise<string> {
  const body = { name: permissions.join(', ') || 'nothing', permissions }
  return (await program.ask('POST', `${path}/api-keys`, { body })).body.key
}

/** The audit entries of a record. */
async function auditOf(program: Program, record: string, id: string | number) {
  const query = new URLSearchParams({ record, record_id: String(id) })
  return (await program.ask('GET', `/api/admin/auditlog?${query.toString()}`)).body
}

describe('API keys', () => {
  const keys = `${path}/api-keys`
  const record =
    'created_at expires_at id identifier last_used_at name permissions revoked_at station_permissions'

  test('are returned once, listed without their secret, and audited by the names of fields', async ({
    program
  }) => {
    const stationId = await seedStation(program.sql)
    const [station] = await program.sql<{ name: string }[]>`
      select short_name as name from stations where id = ${stationId}`
    const expiresAt = Math.floor(Date.now() / 1000) + 3_600
    const made = await program.ask('POST', keys, {
      body: {
        name: '  Website ',
        permissions: ['view administration', 'view administration'],
        station_permissions: [{ station: station?.name, permissions: ['view station reports'] }, {}],
        expires_at: expiresAt,
        id: 7,
        revoked_at: 1
      }
    })
    expect(made.status).toBe(200)
    expect(namesOf(made.body)).toEqual(['api_key', 'key', 'status'])
    const { key, api_key: shown } = made.body
    expect(key).toMatch(/^[0-9a-f]{16}:[0-9a-f]{32}$/)
    expect(namesOf(shown)).toEqual(record.split(' '))
    expect(shown).toMatchObject({
      name: 'Website',
      identifier: key.slice(0, 16),
      permissions: ['view administration'],
      station_permissions: [{ station: stationId, permissions: ['view station reports'] }],
      expires_at: expiresAt,
      last_used_at: 0,
      revoked_at: 0
    })
    expect(Math.abs(shown.created_at - Date.now() / 1000)).toBeLessThan(5)
    const listed = await program.ask('GET', keys)
    expect(namesOf(listed.body)).toEqual(['api_keys', 'status'])
    expect(listed.body.api_keys).toContainEqual(shown)
    expect(JSON.stringify(listed.body)).not.toContain(key.slice(17))
    expect(await auditOf(program, 'ApiKey', shown.id)).toMatchObject([
      { fields: ['name', 'permissions', 'station_permissions', 'expires_at'], method: 'POST', path: keys }
    ])
  })

  test('are paged, searched and sorted', async ({ program }) => {
    for (const name of ['Zulu 100%', 'Alpha 100%']) await program.ask('POST', keys, { body: { name } })
    const search = `searchPhrase=${encodeURIComponent('100%')}&sort=name`
    const { body, headers } = await program.ask('GET', `${keys}?${search}&per_page=1&page=2`)
    expect(headers.get('x-total-count')).toBe('2')
    expect(body).toMatchObject({ status: 'success', page: 2, per_page: 1, total: 2, total_pages: 2 })
    expect(body.api_keys.map((each: { name: string }) => each.name)).toEqual(['Zulu 100%'])
    expect(new URL(body.links.first).searchParams.get('page')).toBe('1')
    const wrong = await program.ask('GET', `${keys}?sort=secret&page=0`)
    expect([wrong.status, wrong.body.status]).toEqual([400, 'error'])
  })

  const bad: [name: string, body: object, problems: string[]][] = [
    ['no name', {}, ['name required']],
    ['a blank name', { name: ' ' }, ['name blank']],
    ['unknown permissions', { name: 'x', permissions: ['be the boss'] }, ['permissions.0 not_in_enum']],
    ['permissions as text', { name: 'x', permissions: 'administer all' }, ['permissions invalid_type']],
    [
      'an installation permission on a station',
      { name: 'x', station_permissions: [{ station: 1, permissions: ['administer settings'] }] },
      ['station_permissions.0.permissions.0 not_in_enum']
    ],
    [
      'a station without a name',
      { name: 'x', station_permissions: [{ permissions: [] }] },
      ['station_permissions.0.station required']
    ],
    [
      'unknown stations',
      { name: 'x', station_permissions: ['nobody', 4711, '007', 'a\0b'].map(station => ({ station })) },
      [0, 1, 2, 3].map(index => `station_permissions.${index}.station not_found`)
    ],
    ['an expiry in the past', { name: 'x', expires_at: 1_600_000_000 }, ['expires_at out_of_range']],
    ['an expiry out of range', { name: 'x', expires_at: 1e15 }, ['expires_at out_of_range']],
    ['an expiry as text', { name: 'x', expires_at: 'tomorrow' }, ['expires_at invalid_type']]
  ]
  test.for(bad)('with %s are refused by the field', async ([, body, problems], { program }) => {
    const response = await program.ask('POST', keys, { body })
    expect([response.status, response.body.status]).toEqual([400, 'error'])
    expect(fieldsOf(response)).toEqual(problems)
  })

  test('with a duplicate station are refused', async ({ program }) => {
    const station = await seedStation(program.sql)
    const twice = [{ station }, { station: String(station) }]
    const response = await program.ask('POST', keys, { body: { name: 'x', station_permissions: twice } })
    expect(fieldsOf(response)).toEqual(['station_permissions.1.station duplicate'])
  })

  test('cannot have permissions that the creating key lacks', async ({ program }) => {
    const [mine, other] = [await seedStation(program.sql), await seedStation(program.sql)]
    const { body } = await program.ask('POST', keys, {
      body: {
        name: 'maker',
        permissions: ['administer api keys', 'view all'],
        station_permissions: [{ station: mine, permissions: ['administer all'] }]
      }
    })
    const make = async (permissions: string[], station?: number) => {
      const asked =
        station === undefined ? { permissions } : { station_permissions: [{ station, permissions }] }
      return (await program.ask('POST', keys, { body: { name: 'made', ...asked }, key: body.key })).status
    }
    expect(await make(['administer api keys', 'view all', 'view station reports'])).toBe(200)
    expect(await make(['administer all', 'manage station media'], mine)).toBe(200)
    expect(await make(['view all'], other)).toBe(200)
    for (const permission of ['administer all', 'administer settings', 'administer stations'])
      expect([permission, await make([permission])]).toEqual([permission, 403])
    expect(await make(['manage station media'])).toBe(403)
    expect(await make(['manage station media'], other)).toBe(403)
    expect(await make(['administer all'], other)).toBe(403)
  })

  test.for(['identifier', 'whole key', 'id'])(
    'end when they are revoked by their %s, once',
    async (way, { program }) => {
      const { key, api_key: made } = (await program.ask('POST', keys, { body: { name: way } })).body
      expect((await program.ask('GET', '/api/health', { key })).status).toBe(200)
      const names: Record<string, string> = {
        identifier: made.identifier,
        'whole key': encodeURIComponent(key),
        id: String(made.id)
      }
      const revoke = `${keys}/revoke/${names[way]}`
      const { status, body } = await program.ask('POST', revoke)
      expect([status, namesOf(body)]).toEqual([200, ['api_key', 'status']])
      expect(body.api_key.revoked_at).toBeGreaterThan(0)
      expect((await program.ask('GET', '/api/health', { key })).status).toBe(403)
      expect((await program.ask('POST', revoke)).body.api_key.revoked_at).toBe(body.api_key.revoked_at)
      const entries = await auditOf(program, 'ApiKey', made.id)
      expect(entries.map((each: { fields: string[] }) => each.fields)).toEqual([['revoked_at'], ['name']])
      expect(JSON.stringify(entries)).not.toContain(key.slice(17))
    }
  )

  test('that are unknown cannot be revoked', async ({ program }) => {
    const { key } = (await program.ask('POST', keys, { body: { name: 'whole' } })).body
    const unknown = [
      '0',
      '999999',
      'ffffffffffffffff',
      'nothing',
      'a%00b',
      `${key.slice(0, 17)}${'0'.repeat(32)}`
    ]
    for (const name of unknown) {
      const { status, body } = await program.ask('POST', `${keys}/revoke/${name}`)
      expect([name, status, body.status]).toEqual([name, 404, 'error'])
    }
  })

  test('are not revoked by weaker keys, and expiring keys do not count as administrators', async ({
    program
  }) => {
    const weak = await keyWith(program, ['administer api keys'])
    const make = async (body: object) =>
      (await program.ask('POST', keys, { body: { name: 'x', ...body } })).body
    const strong = await make({ permissions: ['administer settings'] })
    const ending = `${keys}/revoke/${strong.api_key.identifier}`
    expect((await program.ask('POST', ending, { key: weak })).status).toBe(403)
    expect((await program.ask('POST', ending)).status).toBe(200)

    await program.sql`update api_keys set expires_at = now() where permissions ? 'administer all'
      and identifier <> '0123456789abcdef'`
    const expiresAt = Math.floor(Date.now() / 1000) + 3_600
    const passing = await make({ permissions: ['administer all'], expires_at: expiresAt })
    const last = await program.ask('POST', `${keys}/revoke/0123456789abcdef`, { key: passing.key })
    expect([last.status, fieldsOf(last)]).toEqual([409, ['key in_use']])
    await program.sql`update api_keys set expires_at = now() where id = ${passing.api_key.id}`
  })

  test('with all permissions are never all revoked', async ({ program }) => {
    // Of the keys of other tests only two count; an expiring one does not.
    await program.sql`update api_keys set expires_at = now() where permissions ? 'administer all'
      and identifier <> '0123456789abcdef'`
    const make = async (body: object) =>
      (await program.ask('POST', keys, { body: { permissions: ['administer all'], ...body } })).body
    const { api_key: made } = await make({ name: 'second' })
    const inAnHour = Math.floor(Date.now() / 1000) + 3_600
    const { key } = await make({ name: 'passing', expires_at: inAnHour })
    const revoke = (identifier: string) => program.ask('POST', `${keys}/revoke/${identifier}`, { key })
    const both = await Promise.all([revoke('0123456789abcdef'), revoke(made.identifier)])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    const refused = both.find(({ status }) => status === 409)
    expect(fieldsOf(refused)).toEqual(['key in_use'])
    expect(refused?.body.message).toContain('last key with all permissions')
    await program.sql`update api_keys set revoked_at = null where identifier = '0123456789abcdef'`
    await waitFor(async () => (await program.ask('GET', '/api/health')).status === 200, {
      deadlineMs: 3_000,
      what: 'the key with all permissions to work again'
    })
    await program.sql`update api_keys set expires_at = now() where id = ${made.id}`
    expect((await program.ask('POST', `${keys}/revoke/${made.identifier}`)).status).toBe(200)
  })
})

describe('news', () => {
  const news = `${path}/news`
  const record = 'article_id body created_at is_published title type updated_at'

  test('are created from a title, found by search, partly changed and deleted', async ({ program }) => {
    const body = { title: 'Größere  Antenne!', article_id: 'mine', created_at: 5 }
    const made = await program.ask('POST', news, { body })
    expect([made.status, namesOf(made.body)]).toEqual([200, ['article', 'status']])
    const { article } = made.body
    expect(namesOf(article)).toEqual(record.split(' '))
    expect(article).toMatchObject({
      article_id: 'gro-ere-antenne',
      title: 'Größere  Antenne!',
      body: '',
      type: 'info',
      is_published: true
    })
    const again = await program.ask('POST', news, { body: { title: 'Gro ere Antenne' } })
    expect(again.body.article.article_id).toBe('gro-ere-antenne-2')
    const one = `${news}/${article.article_id}`
    expect((await program.ask('GET', one)).body).toEqual(made.body)
    await program.sql`update news set updated_at = updated_at - interval '1 hour'`
    const changed = await program.ask('PUT', one, { body: { type: 'warning', body: 'Line\nline' } })
    expect(changed.body.article).toMatchObject({ title: article.title, type: 'warning', body: 'Line\nline' })
    expect(changed.body.article.updated_at).toBeGreaterThanOrEqual(article.updated_at)
    const same = await program.ask('PUT', one, { body: changed.body.article })
    expect(same.body).toEqual(changed.body)
    expect((await program.ask('DELETE', one)).body).toEqual({ status: 'success' })
    for (const method of ['GET', 'DELETE']) expect((await program.ask(method, one)).status).toBe(404)
    const entries = await auditOf(program, 'Article', article.article_id)
    expect(entries.map((each: { fields: string[] }) => each.fields.toSorted())).toEqual([
      [],
      ['body', 'type'],
      ['title']
    ])
    expect(entries[2]).toMatchObject({
      record_name: article.title,
      changes: { title: { to: article.title } }
    })
  })

  test('with a title without letters get an id', async ({ program }) => {
    const { body } = await program.ask('POST', news, { body: { title: '新しいアンテナ' } })
    expect(body.article.article_id).toMatch(/^[0-9a-f]{16}$/)
  })

  test('are created under the id in the path, with a title', async ({ program }) => {
    const one = `${news}/Launch_1.0`
    const refused = await program.ask('PUT', one, { body: { body: 'Soon.' } })
    expect([refused.status, fieldsOf(refused)]).toEqual([400, ['title required']])
    expect((await program.ask('GET', one)).status).toBe(404)
    const writes = Array.from({ length: 5 }, (_, index) =>
      program.ask('PUT', one, { body: { title: `Launch ${index}` } })
    )
    for (const { status } of await Promise.all(writes)) expect(status).toBe(200)
    const { body } = await program.ask('GET', `${news}?searchPhrase=launch`)
    expect(body.articles).toHaveLength(1)
    for (const id of ['a%20b', 'a%2fb', 'a'.repeat(65), '%00', 'ä']) {
      expect([id, (await program.ask('PUT', `${news}/${id}`, { body: { title: 'x' } })).status]).toEqual([
        id,
        404
      ])
    }
  })

  test('that are unpublished are visible only to keys that may publish', async ({ program }) => {
    await program.ask('PUT', `${news}/draft-1`, { body: { title: 'Hush', is_published: false } })
    await program.ask('PUT', `${news}/open-1`, { body: { title: 'Hush no more' } })
    const reader = await keyWith(program, [])
    const publisher = await keyWith(program, ['administer settings'])
    const titles = async (key: string, query = '') => {
      const { body } = await program.ask('GET', `${news}?searchPhrase=HUSH${query}`, { key })
      return body.articles.map((each: { article_id: string }) => each.article_id)
    }
    expect(await titles(reader)).toEqual(['open-1'])
    expect(await titles(reader, '&is_published=false')).toEqual([])
    expect(await titles(publisher)).toEqual(['open-1', 'draft-1'])
    expect(await titles(publisher, '&is_published=false')).toEqual(['draft-1'])
    expect((await program.ask('GET', `${news}/draft-1`, { key: reader })).status).toBe(404)
    expect((await program.ask('GET', `${news}/draft-1`, { key: publisher })).status).toBe(200)
    for (const [method, at] of [
      ['POST', news],
      ['PUT', `${news}/open-1`],
      ['DELETE', `${news}/open-1`]
    ] as const)
      expect((await program.ask(method, at, { key: reader, body: { title: 'Mine' } })).status).toBe(403)
  })

  test('are listed newest first, by type and by pages', async ({ program }) => {
    for (const [index, type] of ['danger', 'success', 'danger'].entries()) {
      const id = `listed-${index}`
      await program.ask('PUT', `${news}/${id}`, { body: { title: 'Listed', body: '50% off', type } })
      await program.sql`update news set created_at = now() - ${3 - index} * interval '1 day' where article_id = ${id}`
    }
    const ids = async (query: string) => {
      const { body } = await program.ask('GET', `${news}?searchPhrase=0%25${query}`)
      return body.articles.map((each: { article_id: string }) => each.article_id)
    }
    expect(await ids('')).toEqual(['listed-2', 'listed-1', 'listed-0'])
    expect(await ids('&type=danger')).toEqual(['listed-2', 'listed-0'])
    expect(await ids('&per_page=2&page=2')).toEqual(['listed-0'])
    expect((await program.ask('GET', `${news}?type=loud`)).status).toBe(400)
  })

  const bad: [name: string, body: object, problem: string][] = [
    ['a long title', { title: 'x'.repeat(201) }, 'title too_long'],
    ['a long body', { title: 'x', body: 'x'.repeat(20_001) }, 'body too_long'],
    ['a body that Postgres cannot keep', { title: 'x', body: 'a\0b' }, 'body invalid_format'],
    ['an unknown type', { title: 'x', type: 'loud' }, 'type not_in_enum'],
    ['a flag that is none', { title: 'x', is_published: 'maybe' }, 'is_published invalid_type'],
    ['no title', { title: null }, 'title required']
  ]
  test.for(bad)('with %s are refused', async ([, body, problem], { program }) => {
    for (const [method, at] of [
      ['POST', news],
      ['PUT', `${news}/refused`]
    ] as const)
      expect(fieldsOf(await program.ask(method, at, { body }))).toEqual([problem])
    expect((await program.ask('GET', `${news}/refused`)).status).toBe(404)
  })
})

describe('notifications', () => {
  const notifications = `${path}/notifications`
  const record = 'body created_at is_read notification_id read_at source title type'
  const make = async (program: Program, parts: object = {}) => {
    const { body } = await program.ask('POST', notifications, { body: { title: 'Note', ...parts } })
    return body.notification
  }
  const idsOf = ({ body }: JsonBody) =>
    body.notifications.map((each: { notification_id: string }) => each.notification_id)

  test('are created, read, marked and deleted', async ({ program }) => {
    const body = { title: 'Maintenance', body: 'At noon.', type: 'warning', source: 'me', is_read: true }
    const made = await program.ask('POST', notifications, { body })
    expect([made.status, namesOf(made.body)]).toEqual([200, ['notification', 'status']])
    const { notification } = made.body
    expect(namesOf(notification)).toEqual(record.split(' '))
    expect(notification).toMatchObject({
      title: 'Maintenance',
      body: 'At noon.',
      type: 'warning',
      source: 'operator',
      is_read: false,
      read_at: 0
    })
    const one = `${notifications}/${notification.notification_id}`
    expect((await program.ask('GET', one)).body).toEqual(made.body)
    const read = await program.ask('PUT', one, { body: { is_read: true } })
    expect(read.body.notification.is_read).toBe(true)
    expect(Math.abs(read.body.notification.read_at - Date.now() / 1000)).toBeLessThan(5)
    expect((await program.ask('PUT', one, { body: { is_read: 'true' } })).body).toEqual(read.body)
    expect((await program.ask('PUT', one, { body: { is_read: false } })).body).toEqual(made.body)
    for (const wrong of [{}, { is_read: null }, { is_read: 'perhaps' }])
      expect((await program.ask('PUT', one, { body: wrong })).status).toBe(400)
    expect((await program.ask('DELETE', one)).body).toEqual({ status: 'success' })
    expect((await program.ask('GET', one)).status).toBe(404)
    for (const method of ['PUT', 'DELETE'])
      expect((await program.ask(method, one, { body: { is_read: true } })).status).toBe(404)
    const entries = await auditOf(program, 'Notification', notification.notification_id)
    expect(entries.map((each: { method: string }) => each.method)).toEqual(['DELETE', 'PUT', 'PUT', 'POST'])
  })

  test('with an unknown id return 404', async ({ program }) => {
    for (const id of ['1', 'nothing', '%00', '00000000-0000-0000-0000-000000000000', `%20${'a'.repeat(35)}`])
      expect([id, (await program.ask('GET', `${notifications}/${id}`)).status]).toEqual([id, 404])
  })

  test('are listed newest first, filtered, counted and deleted in bulk', async ({ program }) => {
    await program.ask('POST', `${notifications}/bulk-delete`, { body: { all: true } })
    const [first, second, third] = [
      await make(program, { title: 'First 100%' }),
      await make(program, { type: 'danger', body: 'second' }),
      await make(program, { type: 'danger' })
    ].map(each => each.notification_id)
    await program.ask('PUT', `${notifications}/${third}`, { body: { is_read: true } })
    await raiseAlert(program.sql, {
      key: 'test:1',
      title: 'Raised',
      body: '',
      type: 'success',
      source: 'storage'
    })
    const listed = async (query: string) => idsOf(await program.ask('GET', `${notifications}${query}`))
    expect((await listed('')).slice(1)).toEqual([third, second, first])
    expect(await listed('?type=danger')).toEqual([third, second])
    expect(await listed('?type=danger&is_read=false')).toEqual([second])
    expect(await listed('?is_read=true')).toEqual([third])
    expect(await listed('?source=storage')).toHaveLength(1)
    expect(await listed('?searchPhrase=0%25')).toEqual([first])
    expect(await listed('?searchPhrase=SECOND')).toEqual([second])
    expect(await listed('?source=operator&per_page=1&page=3')).toEqual([first])
    expect((await program.ask('GET', `${notifications}?is_read=perhaps`)).status).toBe(400)
    const stats = await program.ask('GET', `${notifications}/stats`)
    expect(stats.body).toEqual({
      status: 'success',
      total: 4,
      unread: 3,
      by_type: { info: 1, success: 1, warning: 0, danger: 2 }
    })
    const bulk = async (body: unknown) => program.ask('POST', `${notifications}/bulk-delete`, { body })
    const unknown = '00000000-0000-0000-0000-000000000000'
    expect((await bulk({ ids: [first, unknown] })).body).toEqual({ status: 'success', deleted: 1 })
    expect((await bulk({ ids: [] })).body.deleted).toBe(0)
    expect((await bulk({ read: true })).body.deleted).toBe(1)
    expect((await bulk({ is_read: false })).body.deleted).toBe(2)
    expect(await listed('')).toEqual([])
    const entries = await auditOf(program, 'Notification', '*')
    expect(entries.slice(0, 3).map((each: { fields: string[] }) => each.fields)).toEqual([
      ['is_read'],
      ['read'],
      ['ids']
    ])
  })

  const bad: unknown[] = [
    {},
    [],
    'all',
    { all: false },
    { all: null },
    { all: true, is_read: true },
    { is_read: true, read: true },
    { ids: ['a'], all: true },
    { ids: 'all' },
    { ids: [5] },
    { ids: {} },
    { is_read: 'perhaps' },
    { everything: true }
  ]
  test.for(bad.map(body => [JSON.stringify(body)] as const))(
    'are not deleted in bulk by %s',
    async ([body], { program }) => {
      const { notification_id: id } = await make(program)
      expect((await program.ask('POST', `${notifications}/bulk-delete`, { body })).status).toBe(400)
      expect((await program.ask('GET', `${notifications}/${id}`)).status).toBe(200)
    }
  )

  test('are read by those who view the administration and written by those who administer settings', async ({
    program
  }) => {
    const { notification_id: id } = await make(program)
    const reader = await keyWith(program, ['view administration'])
    for (const at of ['', '/stats', `/${id}`])
      expect((await program.ask('GET', notifications + at, { key: reader })).status).toBe(200)
    for (const [method, at] of [
      ['POST', ''],
      ['POST', '/bulk-delete'],
      ['PUT', `/${id}`],
      ['DELETE', `/${id}`]
    ] as const)
      expect((await program.ask(method, notifications + at, { key: reader })).status).toBe(403)
  })
})

describe('alerts', () => {
  const alert = {
    key: 'hook:7',
    title: 'x'.repeat(300),
    body: '',
    type: 'warning',
    source: 'webhooks'
  } as const

  test('are raised once by any process, until they are resolved', async ({ sql }) => {
    const raised = await Promise.all(Array.from({ length: 5 }, () => raiseAlert(sql, alert)))
    expect(raised.filter(Boolean)).toHaveLength(1)
    const [row] = await sql<{ title: string }[]>`select title from notifications`
    expect(row?.title).toHaveLength(200)
    await sql`delete from notifications`
    expect(await raiseAlert(sql, alert)).toBe(false)
    await resolveAlert(sql, 'hook:8')
    expect(await raiseAlert(sql, alert)).toBe(false)
    await resolveAlert(sql, alert.key)
    expect(await raiseAlert(sql, alert)).toBe(true)
  })

  test('an alert that is resolved says so in its notification', async ({ sql }) => {
    await raiseAlert(sql, {
      key: 'x',
      title: 'A problem',
      body: 'It is bad.',
      type: 'danger',
      source: 'playout'
    })
    expect(await resolveAlert(sql, 'x')).toBe(true)
    expect(await resolveAlert(sql, 'x')).toBe(false)
    const [row] = await sql<{ type: string; body: string }[]>`select type, body from notifications`
    expect(row?.type).toBe('success')
    expect(row?.body).toMatch(/^It is bad\. Resolved at \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/)
  })

  test('a silent station raises one alert, and another one after it has played', async ({ sql }) => {
    const id = await seedStation(sql)
    const nowMs = Date.now()
    const raise = (atMs: number) => raiseSilenceAlerts(sql, atMs, 60_000)
    const play = (startedAtMs: number, endedAtMs: number | null) => sql`
      insert into song_history (station_id, song_id, started_at_ms, ended_at_ms)
      values (${id}, md5('x'), ${startedAtMs}, ${endedAtMs})`
    const minute = 60_000
    expect(await raise(nowMs)).toBe(0)
    await play(nowMs, nowMs + minute)
    expect(await raise(nowMs + minute + 15_000)).toBe(0)
    expect(await raise(nowMs + minute + 15_001)).toBe(1)
    expect(await raise(nowMs + 3 * minute)).toBe(0)
    expect(await sql`select title, type, source from notifications`).toEqual([
      { title: 'A station went silent: Station 1', type: 'danger', source: 'playout' }
    ])

    await play(nowMs + 4 * minute, null)
    expect(await raise(nowMs + 9 * minute)).toBe(0)
    await sql`update song_history set ended_at_ms = ${nowMs + 10 * minute} where ended_at_ms is null`
    expect(await raise(nowMs + 10 * minute)).toBe(0)
    expect(await raise(nowMs + 12 * minute)).toBe(1)
    expect(await sql`select from notifications`).toHaveLength(2)
  })

  test('a station that goes silent is found before its turn', async ({ sql }) => {
    const rotation = openStationRoundRobin()
    const nowMs = Date.now()
    const raise = () => raiseSilenceAlerts(sql, nowMs, 60_000, rotation)
    await sql`
      insert into stations (name, short_name) select 'Station ' || n, 'station_' || n from generate_series(1, 2000) n`
    expect(await raise()).toBe(0)
    const id = await seedStation(sql)
    await sql`
      insert into song_history (station_id, song_id, started_at_ms, ended_at_ms)
      values (${id}, md5('x'), 0, ${nowMs - 15_001})`
    expect([await raise(), await raise()]).toEqual([1, 0])
  })

  test('a playout that no longer calls raises one alert, which is resolved when it calls again', async ({
    sql
  }) => {
    const id = await seedStation(sql)
    await sql`update stations set backend = 'liquidsoap' where id = ${id}`
    await sql`insert into song_history (station_id, song_id, started_at_ms) values (${id}, md5('x'), 0)`
    const seen = (atMs: number) => sql`
      insert into playouts (station_id, seen_at_ms, takes_commands) values (${id}, ${atMs}, true)
      on conflict (station_id) do update set seen_at_ms = excluded.seen_at_ms`
    await seen(100_000)
    expect(await raiseSilenceAlerts(sql, 118_000, 60_000)).toBe(0)
    // Playouts call again soon after the start of this process.
    expect(await raiseSilenceAlerts(sql, 200_000, 29_000)).toBe(0)
    expect(await raiseSilenceAlerts(sql, 118_001, 60_000)).toBe(1)
    expect(await raiseSilenceAlerts(sql, 130_000, 60_000)).toBe(0)
    await seen(131_000)
    expect(await raiseSilenceAlerts(sql, 132_000, 60_000)).toBe(0)
    expect(await sql`select from open_facts`).toHaveLength(0)
    expect(await sql`select title, type from notifications`).toEqual([
      { title: 'A playout does not respond: Station 1', type: 'success' }
    ])
  })

  test('a disabled station and one without a backend raise no alert of silence', async ({ sql }) => {
    const [off, steered] = [await seedStation(sql), await seedStation(sql)]
    await sql`insert into song_history (station_id, song_id, started_at_ms, ended_at_ms)
      select unnest(${[off, steered]}::bigint[]), md5('x'), 0, 1`
    await sql`update stations set is_enabled = false where id = ${off}`
    await sql`update stations set backend = 'none' where id = ${steered}`
    const raise = () => raiseSilenceAlerts(sql, Date.now(), 60_000)
    expect(await raise()).toBe(0)
    await sql`update stations set is_enabled = true, backend = 'clock'`
    expect(await raise()).toBe(2)
    await sql`delete from stations where id = ${off}`
    await sql`update stations set is_enabled = false`
    expect(await raise()).toBe(0)
    expect(await sql`select from open_facts`).toHaveLength(0)
  })

  test('a web hook that keeps failing raises one alert, which is resolved when it delivers', async ({
    sql
  }) => {
    const stationId = await seedStation(sql)
    const set = (failures: number, isEnabled = true) => sql`
      update webhooks set consecutive_failures = ${failures}, is_enabled = ${isEnabled},
        failing_since_ms = ${failures === 0 ? null : 60_000}, last_status = 503`
    await sql`insert into webhooks (station_id, name, type) values (${stationId}, 'Bot', 'generic')`
    await set(1)
    expect(await raiseFailureAlerts(sql)).toBe(0)
    await set(2)
    expect([await raiseFailureAlerts(sql), await raiseFailureAlerts(sql)]).toEqual([1, 0])
    expect(await sql`select title, type, body from notifications`).toEqual([
      {
        title: 'A web hook fails: Bot, Station 1',
        type: 'warning',
        body: expect.stringContaining('since 1970-01-01 00:01 UTC. It last responded with status 503.')
      }
    ])
    await set(0)
    expect(await raiseFailureAlerts(sql)).toBe(0)
    expect(await sql`select from open_facts`).toHaveLength(0)
    await set(3)
    expect(await raiseFailureAlerts(sql)).toBe(1)
    await set(3, false)
    expect(await raiseFailureAlerts(sql)).toBe(0)
    expect(await sql`select from open_facts`).toHaveLength(0)
  })

  test('the workers raise an alert for a silent station', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    await program.sql`update stations set name = 'Quiet FM' where id = ${id}`
    await program.sql`insert into song_history (station_id, song_id, started_at_ms, ended_at_ms)
      values (${id}, md5('x'), 0, 1)`
    const found = await waitFor(
      async () => {
        const { body } = await program.ask('GET', `${path}/notifications?searchPhrase=Quiet%20FM`)
        return body.notifications[0]
      },
      { deadlineMs: 20_000, what: 'the notification' }
    )
    expect(found).toMatchObject({ type: 'danger', source: 'playout', is_read: false })
  })
})

test('old notifications and audit entries are deleted, newer ones remain', async ({ sql }) => {
  const nowMs = Date.now()
  await sql`insert into notifications (title, created_at)
    values ('old', now() - interval '91 days'), ('new', now() - interval '89 days')`
  await sql`insert into audit_log (key_name, method, path, record, record_id, at)
    values ('old', '', '', '', '', now() - interval '366 days'), ('new', '', '', '', '', now() - interval '364 days')`
  expect(await removeOldNotifications(sql, nowMs)).toBe(1)
  expect(await removeOldAudit(sql, nowMs, parseConfig({}))).toBe(1)
  expect(await sql`select title from notifications`).toEqual([{ title: 'new' }])
  expect(await sql`select key_name from audit_log`).toEqual([{ key_name: 'new' }])
})

describe('the audit log', () => {
  const log = '/api/admin/auditlog'

  test('lists changes newest first, by every filter', async ({ program }) => {
    const id = await seedStation(program.sql)
    const [station] = await program.sql<{ name: string; title: string }[]>`
      select short_name as name, name as title from stations where id = ${id}`
    const editor = await program.ask('POST', `${path}/api-keys`, {
      body: { name: 'Editor', station_permissions: [{ station: id, permissions: ['administer all'] }] }
    })
    const { key, api_key: editorKey } = editor.body
    const made = await program.ask('POST', `/api/station/${id}/playlists`, { body: { name: 'Nights' }, key })
    const one = `/api/station/${id}/playlist/${made.body.id}`
    await program.ask('PUT', one, { body: { weight: 7, name: 'Nights' }, key })
    const entries = (await program.ask('GET', `${log}?record=Playlist&record_id=${made.body.id}`)).body
    expect(entries).toEqual([
      {
        id: expect.any(Number),
        at: expect.any(Number),
        key: { id: editorKey.id, name: 'Editor' },
        method: 'PUT',
        path: one,
        record: 'Playlist',
        record_id: String(made.body.id),
        record_name: 'Nights',
        station_id: id,
        station_name: station?.title,
        fields: ['weight'],
        changes: { weight: { from: 3, to: 7 } }
      },
      expect.objectContaining({ method: 'POST', fields: ['name'], changes: { name: { to: 'Nights' } } })
    ])
    const [{ at }] = entries
    const count = async (query: string) => {
      const response = await program.ask('GET', `${log}?${query}`)
      expect(response.headers.get('x-total-count')).toBe(String(response.body.length))
      return response.body.length
    }
    expect(await count(`key=Editor&station=${id}`)).toBe(2)
    expect(await count(`key=${editorKey.id}&station=${station?.name}`)).toBe(2)
    expect(await count(`key=Editor&station=${id + 1_000}`)).toBe(0)
    expect(await count(`key=Nobody`)).toBe(0)
    expect(await count(`key=Editor&since=${at - 60}&until=${at}`)).toBe(2)
    expect(await count(`key=Editor&since=${at + 60}`)).toBe(0)
    expect(await count(`key=Editor&until=${at - 60}`)).toBe(0)
    const page = await program.ask('GET', `${log}?key=Editor&per_page=1&page=2`)
    expect(page.body).toMatchObject({ total: 2, rows: [{ method: 'POST' }] })
    for (const filter of ['key=Editor', `station=${id}`, `record=Playlist&record_id=${made.body.id}`, '']) {
      const next = await program.ask('GET', `${log}?${filter}&before=${entries[0].id}&per_page=1`)
      expect([filter, next.body.rows[0].id < entries[0].id]).toEqual([filter, true])
      if (filter !== '') expect(next.body).toMatchObject({ total: 1, rows: [{ id: entries[1].id }] })
    }
    expect(await count(`key=Editor&before=${entries[1].id}`)).toBe(0)
    expect(await count(`key=Editor&before=${entries[0].id}&until=${at - 60}`)).toBe(0)
  })

  test('refuses invalid filters, and keys without the permission', async ({ program }) => {
    for (const query of ['since=yesterday', 'until=1.5', 'station=nobody', 'page=0', 'before=999999999'])
      expect([query, (await program.ask('GET', `${log}?${query}`)).status]).toEqual([query, 400])
    const reader = await keyWith(program, ['view administration'])
    expect((await program.ask('GET', log, { key: reader })).status).toBe(403)
    const auditor = await keyWith(program, ['view system logs'])
    expect((await program.ask('GET', log, { key: auditor })).status).toBe(200)
  })
})

test('stats count all records', async ({ program }) => {
  const key = await keyWith(program, ['view administration'])
  const before = (await program.ask('GET', '/api/stats', { key })).body
  expect(namesOf(before)).toEqual(
    (
      'history_24h listeners media online playlists queue sftp_users stations status storage_locations uptime ' +
      'version webhooks'
    ).split(' ')
  )
  const id = await seedStation(program.sql, { tracks: 7 })
  await program.sql`insert into song_history (station_id, song_id, started_at_ms, ended_at_ms)
    select ${id}, md5('x'), ${Date.now() - 86_500_000}, ${Date.now() - 86_400_000} from generate_series(1, 1000)`
  const remoteId = await addRemotePlaylist(program.sql, id, 'http://127.0.0.1:9/list.m3u')
  await program.sql`insert into media (station_id, unique_id, path, song_id, remote_playlist_id)
    values (${id}, 'entry', 'https://radio.example.com/1.mp3', md5('x'), ${remoteId})`
  await program.ask('PUT', `/api/station/${id}/listeners`, { body: { total: 30, unique: 20 } })
  const after = await waitFor(
    async () => {
      const { body } = await program.ask('GET', '/api/stats', { key })
      const isPlaying = body.online > before.online && body.history_24h > before.history_24h
      return isPlaying && body.media > before.media && body.listeners.unique >= 20 && body
    },
    { deadlineMs: 20_000, what: 'the station to count' }
  )
  expect(after).toMatchObject({
    status: 'success',
    stations: before.stations + 1,
    playlists: before.playlists + 2,
    // Without the entry of the remote playlist.
    media: before.media + 7,
    version: expect.stringMatching(/^\d+\.\d+\.\d+/)
  })
  // The three of the own station; those of other stations vary.
  expect(after.queue).toBeGreaterThanOrEqual(3)
  // The thousand older plays are not counted.
  expect(after.history_24h).toBeLessThan(1_000)
  expect(after.listeners.total).toBe(before.listeners.total + 30)
  expect(after.uptime).toBeGreaterThanOrEqual(before.uptime)
})
