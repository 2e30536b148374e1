import { describe, expect } from 'vitest'

import { type Call, expectStatus, openCalls } from '../contract/calls.ts'
import { envelope } from '../contract/records.ts'
import { differences } from '../contract/shape.ts'
import { openStations, pathOf } from '../contract/world.ts'
import { withoutCustomFields } from '../support/custom-fields.ts'
import { test as base } from '../support/fixtures.ts'
import type { JsonBody } from '../support/program.ts'

interface List {
  readonly path: string
  /** The field with the search word, in three records and a similar fourth one. */
  readonly word: string
  /** Three bodies in the order of creation, then the similar one. */
  readonly made: readonly Record<string, unknown>[]
  readonly sortKeys: readonly string[]
  readonly sortedBy: string
}

const lists: readonly List[] = [
  {
    path: '/api/station/{station_id}/playlists',
    word: 'name',
    made: [
      { name: 'needle_c', weight: 2, type: 'once_per_hour' },
      { name: 'needle_a', weight: 9, type: 'custom' },
      { name: 'needle_b', weight: 5, type: 'default' },
      { name: 'needlexd' }
    ],
    sortKeys: ['id', 'name', 'weight', 'type'],
    sortedBy: 'name'
  },
  {
    path: '/api/station/{station_id}/hls_streams',
    word: 'name',
    made: [
      { name: '/needle_c', display_name: 'n3', enable_autodj: false },
      { name: '/needle_a', display_name: 'n2', enable_autodj: true },
      { name: '/needle_b', display_name: 'n1', enable_autodj: false },
      { name: '/needlexd', display_name: 'n4' }
    ],
    sortKeys: ['id', 'name', 'display_name', 'enable_autodj'],
    sortedBy: 'id'
  },
  {
    path: '/api/station/{station_id}/remotes',
    word: 'name',
    made: [
      { name: 'needle_c', url: 'http://relay.invalid/1' },
      { name: 'needle_a', url: 'http://relay.invalid/3' },
      { name: 'needle_b', url: 'http://relay.invalid/2' },
      { name: 'needlexd', url: 'http://relay.invalid/4' }
    ],
    sortKeys: ['id', 'name', 'url'],
    sortedBy: 'name'
  },
  {
    path: '/api/station/{station_id}/sftp-users',
    word: 'username',
    made: ['needle_c', 'needle_a', 'needle_b', 'needlexd'].map(username => ({
      username,
      password: 'correct'
    })),
    sortKeys: ['id', 'username'],
    sortedBy: 'username'
  },
  {
    path: '/api/station/{station_id}/streamers',
    word: 'streamer_username',
    made: [
      { streamer_username: 'needle_c', display_name: 'n1' },
      { streamer_username: 'needle_a', display_name: 'n3' },
      { streamer_username: 'needle_b', display_name: 'n2' },
      { streamer_username: 'needlexd', display_name: 'n4' }
    ],
    sortKeys: ['id', 'streamer_username', 'display_name'],
    sortedBy: 'streamer_username'
  },
  {
    path: '/api/station/{station_id}/webhooks',
    word: 'name',
    made: [
      { name: 'needle_c', type: 'email' },
      { name: 'needle_a', type: 'generic' },
      { name: 'needle_b', type: 'discord' },
      { name: 'needlexd', type: 'generic' }
    ],
    sortKeys: ['id', 'name', 'type'],
    sortedBy: 'name'
  },
  {
    path: '/api/admin/custom_fields',
    word: 'name',
    made: [
      { name: 'needle_c', short_name: 'f1' },
      { name: 'needle_a', short_name: 'f3' },
      { name: 'needle_b', short_name: 'f2' },
      { name: 'needlexd', short_name: 'f4' }
    ],
    sortKeys: ['id', 'name', 'short_name'],
    sortedBy: 'name'
  },
  {
    path: '/api/admin/storage_locations',
    word: 'path',
    made: [
      { path: '/srv/needle_c', type: 'station_media', adapter: 'local' },
      { path: '/srv/needle_a', type: 'backup', adapter: 'local' },
      { path: '/srv/needle_b', type: 'station_podcasts', adapter: 'local' },
      { path: '/srv/needlexd', type: 'backup', adapter: 'local' }
    ],
    sortKeys: ['id', 'type', 'path'],
    sortedBy: 'id'
  }
]

const test = base.extend('world', { scope: 'file' }, async ({ program }) => {
  const call = openCalls(program)
  const [station] = await openStations(program, call)
  return { call, station }
})

/** Requests a list with a query; creates its records first if needed. */
const full = test.extend('ask', { scope: 'file' }, async ({ world: { call, station } }) => {
  const filled = new Set<string>()
  return async ({ path, made }: List, query: string) => {
    const at = pathOf(path, station.id)
    for (const body of filled.has(path) ? [] : made) expectStatus(await call('POST', at, { body }), 200)
    filled.add(path)
    return call('GET', `${at}?${query}`)
  }
})

const named = lists.map((list): [string, List] => [list.path, list])
const found = 'searchPhrase=NEEDLE_'

/** Rows without what other tests change: the space on a disk, and the custom fields of songs. */
const still = (rows: readonly JsonBody[]) =>
  withoutCustomFields(rows.map(({ storageAvailable: _room, storageAvailableBytes: _bytes, ...row }) => row))

/** Checks one page: its keys, its rows, its numbers, and that each link leads to its page. */
async function expectPage(
  call: Call,
  at: string,
  query: string,
  wanted: { page: number; per_page: number; total: number; rows: JsonBody[] }
): Promise<JsonBody> {
  const { status, body, headers } = await call('GET', `${at}?${query}`)
  expectStatus({ status, body }, 200)
  expect(differences(body, envelope('object'))).toEqual([])
  const pages = Math.ceil(wanted.total / wanted.per_page)
  expect({ ...body, rows: still(body.rows) }).toEqual({
    ...wanted,
    rows: still(wanted.rows),
    total_pages: pages,
    links: expect.anything()
  })
  expect(headers.get('x-total-count')).toBe(String(wanted.total))
  return body
}

/** Path and query of a link, which may be absolute. */
function targetOf(link: string): string {
  const { pathname, search } = new URL(link, 'http://any')
  return pathname + search
}

describe.for(named)('%s', ([, list]) => {
  full('is a bare array of everything, counted, in its own order', async ({ ask }) => {
    const { status, body, headers } = await ask(list, '')
    expectStatus({ status, body }, 200)
    expect(headers.get('x-total-count')).toBe(String(body.length))
    const words = body.map((each: JsonBody) => each[list.word])
    expect(words).toEqual(expect.arrayContaining(list.made.map(each => each[list.word])))
    const searched = await ask(list, found)
    expectOrder(searched.body, list.sortedBy, 'ASC')
  })

  full('searches without case, and % and _ mean themselves', async ({ ask }) => {
    const { body, headers } = await ask(list, found)
    const words = body.map((each: JsonBody) => each[list.word])
    expect(new Set(words)).toEqual(new Set(list.made.slice(0, 3).map(each => each[list.word])))
    expect(words).toHaveLength(3)
    expect(headers.get('x-total-count')).toBe('3')
    for (const nothing of ['%25', 'needle%25', 'n_edle', '%5C', "'%20or%201=1%20--"]) {
      const response = await ask(list, `searchPhrase=${nothing}`)
      expect([nothing, response.body.length]).toEqual([nothing, 0])
      expect(response.headers.get('x-total-count')).toBe('0')
    }
    expectStatus(await ask(list, `searchPhrase=${'x'.repeat(200)}`), 200)
    expectStatus(await ask(list, `searchPhrase=${'x'.repeat(201)}`), 400)
  })

  full.for(list.sortKeys)('sorts by %s', async (key, { ask }) => {
    for (const order of ['', '&sortOrder=ASC', '&sortOrder=asc']) {
      expectOrder((await ask(list, `${found}&sort=${key}${order}`)).body, key, 'ASC')
    }
    for (const order of ['DESC', 'desc', 'Desc']) {
      expectOrder((await ask(list, `${found}&sort=${key}&sortOrder=${order}`)).body, key, 'DESC')
    }
  })

  full('refuses an unknown sort key with the known ones, and bad numbers', async ({ ask }) => {
    for (const bad of ['nonsense', 'constructor', '__proto__', 'name;drop', 'id,name', 'station_id']) {
      const { status, body } = await ask(list, `sort=${bad}`)
      expect([bad, status]).toEqual([bad, 400])
      for (const key of list.sortKeys) expect(body.message).toContain(key)
    }
    for (const bad of ['sortOrder=sideways', 'per_page=abc', 'page=abc', 'page=1.5', 'rowCount=1e1']) {
      expect([bad, (await ask(list, bad)).status]).toEqual([bad, 400])
    }
  })

  full('comes in pages', async ({ ask, world: { call, station } }) => {
    const at = pathOf(list.path, station.id)
    const { body: rows } = await ask(list, `${found}&sort=id`)
    const query = `${found}&sort=id`
    const first = await expectPage(call, at, `${query}&per_page=2`, {
      page: 1,
      per_page: 2,
      total: 3,
      rows: rows.slice(0, 2)
    })
    const { links } = first
    expect(targetOf(links.previous)).toBe(targetOf(links.first))
    expect(targetOf(links.next)).toBe(targetOf(links.last))
    const next = await call('GET', targetOf(links.next))
    expect(still(next.body.rows)).toEqual(still(rows.slice(2)))
    expect(targetOf(next.body.links.previous)).toBe(targetOf(links.first))
    expect(targetOf(next.body.links.next)).toBe(targetOf(links.last))
    expect((await call('GET', targetOf(links.first))).body.links).toEqual(links)

    const second = { page: 2, per_page: 2, total: 3, rows: rows.slice(2) }
    await expectPage(call, at, `${query}&rowCount=2&current=2`, second)
    await expectPage(call, at, `${query}&per_page=2&current=2&nonsense=1`, second)
    const whole = { page: 1, per_page: 25, total: 3, rows }
    for (const alone of ['page=1', 'current=1']) await expectPage(call, at, `${query}&${alone}`, whole)
    await expectPage(call, at, `${query}&page=3&per_page=2`, { page: 3, per_page: 2, total: 3, rows: [] })
    await expectPage(call, at, `${query}&page=1000000&per_page=2`, {
      page: 1_000_000,
      per_page: 2,
      total: 3,
      rows: []
    })
    for (const all of ['per_page=0', 'per_page=-1', 'rowCount=-1']) {
      await expectPage(call, at, `${query}&${all}`, { page: 1, per_page: 3, total: 3, rows })
    }
  })

  full('ignores what it does not know', async ({ ask }) => {
    const { body } = await ask(list, `${found}&_=1234&internal=true&constructor=1`)
    expect(body).toHaveLength(3)
  })
})

/** The rows must be ordered by a key; ties by id. */
function expectOrder(rows: JsonBody[], key: string, order: 'ASC' | 'DESC'): void {
  const sign = order === 'ASC' ? 1 : -1
  const compare = (a: JsonBody, b: JsonBody) => {
    if (a[key] === b[key]) return 0
    return a[key] < b[key] ? -sign : sign
  }
  const values = (all: JsonBody[]) => all.map(each => each[key])
  expect(rows).toHaveLength(3)
  expect(values(rows)).toEqual(values(rows.toSorted(compare)))
}

test('storage locations are filtered by type, and searched by bucket too', async ({ world: { call } }) => {
  const body = { type: 'station_recordings', adapter: 's3', s3CredentialKey: 'k', s3CredentialSecret: 's' }
  const sent = { ...body, path: 'deep', s3Bucket: 'haystack' }
  expectStatus(await call('POST', '/api/admin/storage_locations', { body: sent }), 200)
  const byType = await call('GET', '/api/admin/storage_locations?type=station_recordings')
  // Other tests may have left locations of this type.
  expect(byType.body.map((each: JsonBody) => each.path)).toContain('deep')
  expect(new Set(byType.body.map((each: JsonBody) => each.type))).toEqual(new Set(['station_recordings']))
  const byBucket = await call('GET', '/api/admin/storage_locations?searchPhrase=HAYST')
  expect(byBucket.body.map((each: JsonBody) => each.path)).toEqual(['deep'])
  expectStatus(await call('GET', '/api/admin/storage_locations?type=nonsense'), 400)
})

test('streams are searched by their display name too', async ({ world: { call, station } }) => {
  const path = `/api/station/${station.id}/hls_streams`
  const made = await call('POST', path, { body: { name: '/shown.mp3', display_name: 'Evening Harbour' } })
  expectStatus(made, 200)
  const { body } = await call('GET', `${path}?searchPhrase=evening%20h`)
  expect(body).toEqual([made.body])
})

test('the queue is listed in play order, searched and paged, but not sorted', async ({ world }) => {
  const { call, station } = world
  const path = `/api/station/${station.id}/queue`
  const { body: all, headers } = await call('GET', path)
  expect(headers.get('x-total-count')).toBe(String(all.length))
  expect(all.length).toBeGreaterThanOrEqual(3)
  const times = all.map((each: JsonBody) => each.played_at)
  expect(times).toEqual(times.toSorted((a: number, b: number) => a - b))
  await expectPage(call, path, 'per_page=2', {
    page: 1,
    per_page: 2,
    total: all.length,
    rows: all.slice(0, 2)
  })
  await expectPage(call, path, 'per_page=2&page=2', {
    page: 2,
    per_page: 2,
    total: all.length,
    rows: all.slice(2, 4)
  })
  await expectPage(call, path, 'per_page=2&page=99', { page: 99, per_page: 2, total: all.length, rows: [] })
  const { title } = all[0].song
  const byTitle = await call('GET', `${path}?searchPhrase=${encodeURIComponent(title.toUpperCase())}`)
  expect(still(byTitle.body)).toEqual(still(all.filter((each: JsonBody) => each.song.text.includes(title))))
  expect(byTitle.headers.get('x-total-count')).toBe(String(byTitle.body.length))
  expect((await call('GET', `${path}?searchPhrase=%25`)).body).toEqual([])
  expectStatus(await call('GET', `${path}?sort=text`), 400)
})

test('the history is listed newest first, searched and paged', async ({ world: { call, station } }) => {
  for (let skips = 0; skips < 3; skips += 1)
    expectStatus(await call('POST', `/api/station/${station.id}/backend/skip`), 200)
  const path = `/api/station/${station.id}/history`
  const { body: all, headers } = await call('GET', path)
  expect(headers.get('x-total-count')).toBe(String(all.length))
  expect(all.length).toBeGreaterThanOrEqual(3)
  const times = all.map((each: JsonBody) => each.played_at)
  expect(times).toEqual(times.toSorted((a: number, b: number) => b - a))
  await expectPage(call, path, 'per_page=2', {
    page: 1,
    per_page: 2,
    total: all.length,
    rows: all.slice(0, 2)
  })
  await expectPage(call, path, 'page=99', { page: 99, per_page: 25, total: all.length, rows: [] })
  const { title } = all[0].song
  const byTitle = await call('GET', `${path}?searchPhrase=${encodeURIComponent(title)}`)
  expect(still(byTitle.body)).toEqual(still(all.filter((each: JsonBody) => each.song.text.includes(title))))
  const now = Math.floor(Date.now() / 1000)
  const ofTheHour = await call('GET', `${path}?start=${now - 3600}&end=${now + 3600}`)
  expect(still(ofTheHour.body)).toEqual(still(all))
  expect((await call('GET', `${path}?start=${now - 7200}&end=${now - 3600}`)).body).toEqual([])
  expect((await call('GET', `${path}?start=2001-01-01&end=2001-01-31`)).body).toEqual([])
  for (const bad of ['start=yesterday', 'end=2026-02-30', 'sort=title'])
    expect([bad, (await call('GET', `${path}?${bad}`)).status]).toEqual([bad, 400])
})

test('files are listed by path, searched, sorted and paged', async ({ world: { call, station } }) => {
  const path = `/api/station/${station.id}/files`
  const { body: all, headers } = await call('GET', path)
  expect(headers.get('x-total-count')).toBe('10')
  const titles = (rows: JsonBody[]) => rows.map(each => each.title)
  expect(new Set(titles(all))).toEqual(
    new Set(Array.from({ length: 10 }, (_, index) => `Title ${index + 1}`))
  )
  const two = await call('GET', `${path}?searchPhrase=TITLE%201&sort=id`)
  expect(titles(two.body)).toEqual(['Title 1', 'Title 10'])
  for (const key of ['id', 'path', 'title', 'artist', 'album', 'genre']) {
    const sorted = await call('GET', `${path}?searchPhrase=TITLE%201&sort=${key}&sortOrder=DESC`)
    expect([key, sorted.status, sorted.body.length]).toEqual([key, 200, 2])
  }
  const down = await call('GET', `${path}?searchPhrase=TITLE%201&sort=title&sortOrder=DESC`)
  expect(titles(down.body)).toEqual(['Title 10', 'Title 1'])
  await expectPage(call, path, 'per_page=4&page=3', { page: 3, per_page: 4, total: 10, rows: all.slice(8) })
  await expectPage(call, path, 'per_page=4&page=4', { page: 4, per_page: 4, total: 10, rows: [] })
  expectStatus(await call('GET', `${path}?sort=nonsense`), 400)
})
