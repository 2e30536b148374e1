import { setTimeout as sleep } from 'node:timers/promises'

import { describe, expect } from 'vitest'

import {
  evilTexts,
  headerTricks,
  impossibleIds,
  oddAttacks,
  pathTricks,
  refusedAttacks
} from '../contract/attacks.ts'
import { openCalls } from '../contract/calls.ts'
import { resourceCases } from '../contract/resource-cases.ts'
import { addedRows, interfaceRows, type Row } from '../contract/table.ts'
import { fill, openStations, pathOf, recordParameter } from '../contract/world.ts'
import { isolatedTest as base } from '../support/fixtures.ts'
import { askPlainly } from '../support/plain-http.ts'
import { adminKey, type JsonBody, type RunningProgram } from '../support/program.ts'
import { type RawResponse, sendRaw } from '../support/raw-http.ts'
import { sized } from '../support/tier.ts'

/** The limit for a body is 15 seconds; the rest is for a busy machine. */
const endlessMs = 22_000

const test = base.extend('world', { scope: 'file' }, async ({ program }) => {
  const call = openCalls(program)
  const [station] = await openStations(program, call)
  return { call, station, tables: await tablesOf(program), endless: startEndless(program, station.id) }
})

const rows = [...interfaceRows, ...addedRows]
const writes = rows.filter(({ body }) => body !== undefined)
/** The quick tier uses a fifth of a list, a different one for each number, so that all items are used. */
const pickFifth = <T>(list: readonly T[], number: number): readonly T[] =>
  sized({ quick: list.filter((_, index) => (index + number) % 5 === 0), deep: list })

const named = (all: readonly Row[]) => all.map((row): [string, Row] => [`${row.method} ${row.path}`, row])
/** The id of no record. */
const unknownRecord = '9007199254740991'

const head = (method: string, path: string, lines: readonly string[] = []) =>
  [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `X-API-Key: ${adminKey}`, ...lines].join('\r\n')

/** Starts requests that never end, before all other tests, so that those run meanwhile. */
function startEndless(program: RunningProgram, stationId: number): Promise<RawResponse>[] {
  const type = 'Content-Type: application/json'
  const open = (...lines: string[]) =>
    `${head('PUT', `/api/station/${stationId}/listeners`, [type, ...lines])}\r\n\r\n`
  const silent = [
    '',
    'GET',
    '\r\n\r\n',
    '{"a":1}\r\n\r\n',
    'GET /api/time HTTP/1.1\r\nHost: x\r\nX-Half',
    'GET /api/time HTTP/1.1\r\nHost: x\r\nX-Request-Id: abc\rX-Evil: 1\r\n\r\n',
    open('Content-Length: 5000'),
    open('Transfer-Encoding: chunked')
  ]
  const dripping = [open('Content-Length: 5000'), `${open('Transfer-Encoding: chunked')}ffff\r\n`]
  const all = [
    ...silent.map(bytes => ({ bytes, drips: false })),
    ...Array.from({ length: 20 }, (_, index) => ({ bytes: dripping[index % 2] ?? '', drips: true }))
  ]
  return all.map(({ bytes, drips }) => {
    const response = sendRaw(program.baseUrl, bytes, { drips, deadlineMs: endlessMs })
    // It may reject before the test that awaits it starts.
    response.catch(() => {})
    return response
  })
}

async function tablesOf({ sql }: RunningProgram): Promise<string[]> {
  const found = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' order by table_name`
  return found.map(({ name }) => name)
}

/** Tables that change by themselves while a station plays, or with every write or deletion. */
const volatileTables = new Set(
  [
    [
      'audit_log',
      'broadcasts',
      'deleted_stations',
      'deleted_webhooks',
      'libraries',
      'library_changes',
      'listener_minutes',
      'notifications'
    ],
    ['open_facts', 'playout_commands', 'playouts', 'queue', 'song_history'],
    ['webhook_attempts', 'webhook_deliveries', 'webhook_events']
  ].flat()
)

/** The number of rows of each other table. */
async function countRows({ sql }: RunningProgram, tables: readonly string[]): Promise<JsonBody> {
  const counts = tables
    .filter(name => !volatileTables.has(name))
    .map(name => `'${name}', (select count(*) from ${name})`)
  const [found] = await sql.unsafe<{ counts: JsonBody }[]>(
    `select json_build_object(${counts.join()}) as counts`
  )
  return found?.counts
}

/** What an error must not reveal: SQL, classes, stack traces, files. */
const internals =
  /postgres|syntax error|relation "|constraint|violates|select .* from|insert into|node_modules|\.[jt]s\b|\bat .+:\d+:\d+|\w+Error\b|ECONN|ioredis|valibot/i

/** Returns the faults of a response to a hostile request. */
function faultsOf(status: number, text: string, tookMs: number): string[] {
  return [
    ...(status >= 500 ? [`status ${status}`] : []),
    ...(status >= 400 && internals.test(text) ? [`leaks: ${text.slice(0, 300)}`] : []),
    ...(text.includes(adminKey) ? ['contains the key'] : []),
    ...(tookMs > 5_000 ? [`took ${tookMs} ms`] : [])
  ]
}

interface Sent {
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly contentType?: string | undefined
}

/** Sends a body unchanged and checks the response for faults. After a 429 it waits and retries. */
async function send(program: RunningProgram, method: string, path: string, { body, contentType }: Sent) {
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = Date.now()
    const response = await askPlainly(program.baseUrl + path, {
      method,
      body,
      headers: { 'X-API-Key': adminKey, 'Content-Type': contentType ?? 'application/json' },
      signal: AbortSignal.timeout(10_000)
    })
    const text = response.body.toString()
    const { status } = response
    expect(faultsOf(status, text, Date.now() - startedAt), `${method} ${path}`).toEqual([])
    if (status !== 429 || attempt === 20) return { status, text, body: parsed(text) }
    await sleep(Number(response.headers['retry-after']) * 1000)
  }
}

/** Sends bytes unchanged. After a 429 it retries every second. */
async function sendWithRetries({ baseUrl }: RunningProgram, bytes: string) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await sendRaw(baseUrl, bytes)
    if (response.status !== 429 || attempt === 20) return response
    await sleep(1_000)
  }
}

function parsed(text: string): JsonBody {
  try {
    return JSON.parse(text)
  } catch {
    return { noJson: text }
  }
}

/** The server still responds quickly. */
async function expectHealthy(program: RunningProgram): Promise<void> {
  const startedAt = Date.now()
  const { status, body } = await program.ask('GET', '/api/health')
  expect([status, body.status]).toEqual([200, 'success'])
  expect(Date.now() - startedAt).toBeLessThan(2_000)
  expect(program.server.exitCode).toBeNull()
}

describe('a body that every write must refuse', () => {
  test.for(refusedAttacks.map((attack, index) => [attack.name, attack, index] as const))(
    '%s',
    async ([, { bytes, contentType, statuses }, index], { program, world: { station, tables } }) => {
      const before = await countRows(program, tables)
      const outcomes: string[] = []
      for (const { method, path } of pickFifth(writes, index)) {
        const sent = { body: bytes, contentType }
        const { status } = await send(program, method, pathOf(path, station.id, unknownRecord), sent)
        if (!statuses.includes(status)) outcomes.push(`${method} ${path} answered ${status}`)
      }
      expect(outcomes).toEqual([])
      expect(await countRows(program, tables)).toEqual(before)
      await expectHealthy(program)
    }
  )
})

describe('an unusual body does no harm', () => {
  test.for(oddAttacks.map((attack, index) => [attack.name, attack, index] as const))(
    '%s',
    async ([, { spoil, statuses }, index], { program, world: { station } }) => {
      const outcomes: string[] = []
      for (const { method, path, body } of pickFifth(writes, index)) {
        const spoiled = spoil(fill(body ?? {}))
        const { status, text } = await send(program, method, pathOf(path, station.id, unknownRecord), {
          body: spoiled
        })
        if (!statuses.includes(status)) outcomes.push(`${method} ${path} answered ${status}`)
        if (text.includes('polluted')) outcomes.push(`${method} ${path} contains the injected field: ${text}`)
      }
      expect(outcomes).toEqual([])
      await expectHealthy(program)
    }
  )

  test('__proto__ and constructor set no field of this or the next record', async ({
    program,
    world: { station }
  }) => {
    const path = `/api/station/${station.id}/playlists`
    const create = (body: string) => send(program, 'POST', path, { body })
    const refused = await create('{"name":"Proto","__proto__":{"is_enabled":false,"weight":9}}')
    expect([refused.status, refused.body.extra_data.errors[0].field]).toEqual([400, '__proto__'])
    for (const body of ['{"name":"Other","constructor":{"prototype":{"weight":9}}}', '{"name":"After"}']) {
      const made = await create(body)
      expect([made.status, made.body.is_enabled, made.body.weight]).toEqual([200, true, 3])
    }
  })
})

describe('text', () => {
  const cases = resourceCases.flatMap(resource =>
    Object.entries(resource.full)
      .filter(([, value]) => typeof value === 'string')
      .map(([field]) => ({ resource, field }))
  )

  test.for(cases.map((each, index) => [`${each.resource.name}.${each.field}`, each, index] as const))(
    'with SQL in it is stored unchanged or refused: %s',
    async ([, { resource, field }, index], { program, world }) => {
      const { call, station, tables } = world
      const collection = pathOf(resource.collection, station.id)
      const before = await countRows(program, tables)
      const outcomes: string[] = []
      for (const evil of pickFifth(evilTexts, index)) {
        const body = JSON.stringify({ ...fill(resource.full), [field]: evil })
        const { status, body: made } = await send(program, 'POST', collection, { body })
        const single = pathOf(resource.single, station.id, made.id)
        const shows = resource.shows[field] === '' ? [''] : [evil, `/${evil}`]
        const isStored = status === 200 && shows.includes(made[field])
        if (!isStored && status !== 400) outcomes.push(`${evil}: ${status} ${JSON.stringify(made[field])}`)
        const removed = status === 200 ? (await call('DELETE', single)).status : 200
        if (removed !== 200) outcomes.push(`${evil}: cannot be deleted: ${removed}`)
      }
      expect(outcomes).toEqual([])
      expect(await countRows(program, tables)).toEqual(before)
      expect(await tablesOf(program)).toEqual(tables)
    }
  )

  const withText = writes.filter(({ body }) =>
    Object.values(body ?? {}).some(value => typeof value === 'string')
  )
  const spoiled = ({ body = {} }: Row, json: string) => {
    const texts = Object.entries(fill(body)).filter(([, value]) => typeof value === 'string')
    return `{${texts.map(([key]) => `"${key}":${json}`).join()}}`
  }

  test.for(named(withText))(
    'with a NUL is refused: %s',
    async ([, row], { program, world: { station, tables } }) => {
      const before = await countRows(program, tables)
      const path = pathOf(row.path, station.id, unknownRecord)
      for (const json of [String.raw`"a\u0000b"`, String.raw`"\u0000"`]) {
        const { status } = await send(program, row.method, path, { body: spoiled(row, json) })
        expect(status).toBe(400)
      }
      expect(await countRows(program, tables)).toEqual(before)
    }
  )

  test.for(named(withText))(
    'with half a surrogate pair is refused or stored as valid text: %s',
    async ([, row], { program, world: { station } }) => {
      const path = pathOf(row.path, station.id, unknownRecord)
      for (const json of [String.raw`"\ud800"`, String.raw`"a\udc00b"`, String.raw`"\ud83d\ude00\ud83d"`]) {
        const { status, text } = await send(program, row.method, path, { body: spoiled(row, json) })
        expect([200, 400, 404]).toContain(status)
        expect(text).not.toMatch(/\\ud[89a-f]/i)
      }
      await expectHealthy(program)
    }
  )

  const nuls: [resource: string, body: object][] = [
    ['HLS stream', { name: '/x', frontend_config: [{ key: 'a', value: 'x\0y' }] }],
    ['HLS stream', { name: '/x', frontend_config: { 'a\0b': 'x' } }],
    ['web hook', { type: 'generic', config: { webhook_url: 'https://hooks.invalid/', 'a\0b': 'x' } }],
    ['web hook', { type: 'generic', triggers: ['song_changed\0'] }],
    ['playlist', { name: 'x', backend_options: 'interrupt\0' }],
    ['playlist', { name: 'x', schedule_items: [{ start_time: 1, end_time: 2, start_date: '\0' }] }]
  ]
  test.for(nuls)(
    'with a nested NUL is refused: %s %j',
    async ([name, body], { program, world: { station } }) => {
      const collection = resourceCases.find(each => each.name === name)?.collection ?? expect.fail(name)
      const sent = { body: JSON.stringify(body) }
      expect((await send(program, 'POST', pathOf(collection, station.id), sent)).status).toBe(400)
    }
  )
})

describe('impossible ids', () => {
  const addressed = rows.filter(({ method, path }) => recordParameter(path) !== undefined && method !== 'PUT')

  test.for(named(addressed))('%s: 404', async ([, row], { program, world: { station } }) => {
    for (const id of impossibleIds) {
      const response = await sendWithRetries(
        program,
        `${head(row.method, pathOf(row.path, station.id, id))}\r\n\r\n`
      )
      expect(faultsOf(response.status, response.body, response.tookMs)).toEqual([])
      expect([id.slice(0, 40), response.status]).toEqual([id.slice(0, 40), 404])
    }
  })

  test('of a station: 404', async ({ program }) => {
    for (const id of impossibleIds) {
      for (const path of [
        `/api/station/${id}/queue`,
        `/api/nowplaying/${id}`,
        `/api/station/${id}/playlists`
      ]) {
        const response = await sendRaw(program.baseUrl, `${head('GET', path)}\r\n\r\n`)
        expect([path.slice(0, 60), response.status]).toEqual([path.slice(0, 60), 404])
      }
    }
  })

  const bodies: [name: string, method: string, path: string, body: string, statuses: number[]][] = [
    [
      'a schedule item',
      'POST',
      '/api/station/{station_id}/playlists',
      '{"name":"x","schedule_items":[{"id":9223372036854775808,"start_time":1,"end_time":2}]}',
      [200, 400]
    ],
    [
      'a weight',
      'POST',
      '/api/station/{station_id}/playlists',
      '{"name":"x","weight":"99999999999999999999"}',
      [400]
    ],
    [
      'an infinite number',
      'POST',
      '/api/station/{station_id}/playlists',
      '{"name":"x","weight":1e400}',
      [400]
    ],
    ['a podcast', 'POST', '/api/station/{station_id}/playlists', '{"name":"x","podcasts":[1e300]}', [400]],
    [
      'the station of a key',
      'POST',
      '/api/v1/main/api-keys',
      '{"name":"x","permissions":[],"station_permissions":[{"station":9223372036854775808,"permissions":[]}]}',
      [400]
    ],
    [
      'the expiry of a key',
      'POST',
      '/api/v1/main/api-keys',
      '{"name":"x","permissions":[],"station_permissions":[],"expires_at":9223372036854775808}',
      [400]
    ],
    [
      'notifications',
      'POST',
      '/api/v1/main/notifications/bulk-delete',
      '{"ids":["9223372036854775808","nobody"]}',
      [200, 400]
    ],
    [
      'a mount',
      'PUT',
      '/api/station/{station_id}/listeners',
      '{"total":1,"mounts":[{"id":9223372036854775808,"total":1}]}',
      [400]
    ],
    ['a count', 'PUT', '/api/station/{station_id}/listeners', '{"total":1e308}', [400]]
  ]
  test.for(bodies)(
    'in a body: %s',
    async ([, method, path, body, statuses], { program, world: { station } }) => {
      const { status } = await send(program, method, pathOf(path, station.id), { body })
      expect(statuses).toContain(status)
    }
  )

  test.for(named(rows.filter(({ method, path }) => method === 'GET' && !recordParameter(path))))(
    'in a query: %s',
    async ([, row], { program, world: { station } }) => {
      const path = pathOf(row.path, station.id)
      const queries = [
        'page=9223372036854775807&per_page=500',
        'page=1e400',
        'page=9007199254740993&per_page=500',
        `per_page=${'9'.repeat(400)}`,
        'page=-9223372036854775809',
        `searchPhrase=${'%25_'.repeat(60)}`,
        'searchPhrase=%00',
        'searchPhrase=%ed%a0%80&sort=%00&type=%00&is_read=%00&start=%00&end=%00',
        "type='%20or%20'1'='1&is_read='&start='&end='",
        'sort=id%3Bdrop%20table%20playlists&sortOrder=desc;--',
        'start=9223372036854775807&end=-1',
        'start=99999-01-01&end=2026-13-45',
        'a[__proto__][polluted]=yes&__proto__=x&page[]=1',
        'a=1&'.repeat(1_000),
        '%zz=%&&&==&?'
      ]
      for (const [index, query] of queries.entries()) {
        // Each from another address, because searches have a rate limit.
        const lines = [`X-Forwarded-For: 198.51.100.${index + 1}`]
        const response = await sendRaw(program.baseUrl, `${head('GET', `${path}?${query}`, lines)}\r\n\r\n`)
        expect([query.slice(0, 60), ...faultsOf(response.status, response.body, response.tookMs)]).toEqual([
          query.slice(0, 60)
        ])
        expect([200, 400, 431]).toContain(response.status)
      }
    }
  )
})

describe('the request line and headers', () => {
  test.for(pathTricks)('%s does not reach a resource', async (trick, { program, world: { station } }) => {
    const path = trick.replaceAll('{id}', String(station.id))
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, body, tookMs } = await sendRaw(program.baseUrl, `${head(method, path)}\r\n\r\n`)
      expect(faultsOf(status, body, tookMs)).toEqual([])
      expect([404, 405]).toContain(status)
    }
    await expectHealthy(program)
  })

  test.for(headerTricks)(
    '%s gets a response or a closed connection, and does not inject a header',
    async ([, lines], { program }) => {
      const request = `GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines}\r\n\r\n`
      const response = await sendRaw(program.baseUrl, request)
      expect([0, 200, 400, 403, 431]).toContain(response.status)
      expect(response.head).not.toMatch(/^x-evil/im)
      expect(faultsOf(response.status, response.body, response.tookMs)).toEqual([])
      await expectHealthy(program)
    }
  )

  test.for(['/api/%0d%0aX-Evil:%201', '/api/nowplaying/a%0d%0aX-Evil:%201', '/api/time?a=%0d%0aX-Evil:%201'])(
    'a line break in the path does not inject a header: %s',
    async (path, { program }) => {
      const response = await sendRaw(program.baseUrl, `${head('GET', path)}\r\n\r\n`)
      expect([200, 404]).toContain(response.status)
      expect(response.head).not.toMatch(/^x-evil/im)
    }
  )

  test('a line break in a query does not appear in the links of a page', async ({
    program,
    world: { station }
  }) => {
    const path = `/api/station/${station.id}/playlists?per_page=1&x=%0d%0aX-Evil:%201&y=%3Cscript%3E`
    const { status, head: headers, body } = await sendRaw(program.baseUrl, `${head('GET', path)}\r\n\r\n`)
    expect(status).toBe(200)
    expect(headers).not.toMatch(/^x-evil/im)
    expect(body).not.toContain('<script>')
    expect(body).not.toContain(String.raw`\r\nX-Evil`)
  })

  const lengths: [name: string, lines: string[], body: string][] = [
    ['two lengths', ['Content-Length: 2', 'Content-Length: 20'], '{}'],
    [
      'a length and a chunked encoding',
      ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      '0\r\n\r\nGET /api/time HTTP/1.1\r\n\r\n'
    ],
    ['a negative length', ['Content-Length: -1'], '{}'],
    ['a length that is not a number', ['Content-Length: abc'], '{}'],
    ['a length past 64 bits', [`Content-Length: ${'9'.repeat(30)}`], '{}'],
    ['invalid chunks', ['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n'],
    ['a chunk past 64 bits', ['Transfer-Encoding: chunked'], `${'f'.repeat(30)}\r\n{}\r\n`]
  ]
  test.for(lengths)('%s: refused or closed', async ([, lines, body], { program, world: { station } }) => {
    const path = `/api/station/${station.id}/listeners`
    const request = head('PUT', path, ['Content-Type: application/json', ...lines])
    const { status } = await sendRaw(program.baseUrl, `${request}\r\n\r\n${body}`)
    expect([0, 400, 413, 501]).toContain(status)
    await expectHealthy(program)
  })

  test.for([
    '\0\0\0\0',
    'GET / HTTP/9.9',
    'XYZZY /api/time HTTP/1.1\r\nHost: x',
    'GET /api/time',
    '{"a":1} x'
  ])(
    'bytes that are not HTTP/1.1 are refused or the connection is closed: %j',
    async (bytes, { program }) => {
      const { status, body } = await sendRaw(program.baseUrl, `${bytes}\r\n\r\n`)
      expect([0, 400, 404, 405, 501, 505]).toContain(status)
      expect(body).not.toMatch(internals)
      await expectHealthy(program)
    }
  )
})

test('requests that never end time out, without delaying others', async ({ program, world }) => {
  for (const { status, head: headers, body } of await Promise.all(world.endless)) {
    expect([0, 400, 408]).toContain(status)
    expect(headers).not.toMatch(/^x-evil/im)
    expect(faultsOf(status, body, 0)).toEqual([])
  }
  await expectHealthy(program)
})

test('after all these tests every table exists and the station plays', async ({ program, world }) => {
  const { call, station, tables } = world
  expect(await tablesOf(program)).toEqual(tables)
  const { status, body } = await call('GET', `/api/nowplaying/${station.id}`, { key: '' })
  expect([status, body.is_online]).toEqual([200, true])
  await expectHealthy(program)
})
