import { spawn } from 'node:child_process'

import { describe, expect } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { wordsFor } from '../support/compiled-program.ts'
import { test as inProgram } from '../support/fixtures.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

const test = inProgram.extend('stationId', async ({ program }) => seedStation(program.sql))

const url = 'https://hooks.invalid/radio'
/** The prefix of all secrets in this file. */
const word = 'hunter2'
const keys = ['id', 'name', 'type', 'is_enabled', 'triggers', 'config', 'metadata']
const done = {
  success: true,
  message: 'Record updated successfully.',
  formatted_message: 'Record updated successfully.'
}

const full = {
  name: 'Receiver',
  type: 'generic',
  is_enabled: false,
  triggers: ['live_connect', 'listener_gained'],
  config: [
    { key: 'timeout', value: 5 },
    { key: 'webhook_url', value: url },
    { key: 'basic_auth_password', value: `${word} one` },
    { key: 'headers', value: `Authorization: ${word} two` },
    { key: 'rate_limit', value: 0 }
  ]
}

interface Named {
  readonly key: string
  readonly value: unknown
}
const valueOf = (list: readonly Named[], key: string) => list.find(each => each.key === key)?.value
const state = ({ metadata }: JsonBody) => valueOf(metadata, 'state')
const errorsOf = ({ body }: { body: JsonBody }) =>
  body.extra_data.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`)

/** A server with log level trace, and its log. */
async function startLoggingServer(databaseUrl: string, redisUrl: string) {
  const port = await findFreePort()
  const folder = await openTempFolder()
  const { PATH } = process.env
  const child = spawn(process.execPath, wordsFor('src/server.ts'), {
    env: {
      PATH,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      DATA_DIR: folder.path,
      PORT: String(port),
      ADMIN_API_KEY: adminKey,
      LOG_LEVEL: 'trace'
    }
  })
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const baseUrl = `http://127.0.0.1:${port}`
  await waitFor(async () => (await fetch(`${baseUrl}/api/status`)).ok, {
    deadlineMs: 20_000,
    what: 'the server'
  })
  return {
    log: () => log,
    ask: async (method: string, path: string, { body }: { body?: unknown } = {}) => {
      const response = await fetch(baseUrl + path, {
        method,
        headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await folder[Symbol.asyncDispose]()
    }
  }
}

/** Calls the API of a station, and asserts that no answer contains a secret that was sent. */
function hooksOf({ ask }: Pick<Program, 'ask'>, stationId: number) {
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await ask(method, `/api/station/${stationId}/${path}`, { body })
    expect(JSON.stringify(response.body)).not.toContain(word)
    return response
  }
  return {
    list: (query = '') => call('GET', `webhooks${query}`),
    post: (body: unknown) => call('POST', 'webhooks', body),
    make: async (body: unknown) => {
      const response = await call('POST', 'webhooks', body)
      expect([response.status, response.body]).toEqual([
        200,
        expect.objectContaining({ id: expect.any(Number) })
      ])
      return response.body
    },
    get: (id: number) => call('GET', `webhook/${id}`),
    put: (id: number, body: unknown) => call('PUT', `webhook/${id}`, body),
    remove: (id: number) => call('DELETE', `webhook/${id}`)
  }
}

const storedConfig = async ({ sql }: Program, id: number): Promise<Named[]> => {
  const [row] = await sql<{ config: Named[] }[]>`select config from webhooks where id = ${id}`
  return row?.config ?? []
}

test('a web hook is created, read, listed, changed and deleted', async ({ program, stationId }) => {
  const hooks = hooksOf(program, stationId)
  const made = await hooks.make({ ...full, id: 4711, metadata: [{ key: 'state', value: 'x' }] })
  const { body: read } = await hooks.get(made.id)
  expect(Object.keys(read)).toEqual(keys)
  expect(Object.keys(made)).toEqual(keys)
  const hidden = full.config.map(({ key, value }) => ({
    key,
    value: String(value).includes(word) ? '' : value
  }))
  expect(read).toEqual({
    ...full,
    id: made.id,
    config: [...hidden, { key: 'signing_secret', value: '' }],
    metadata: [
      { key: 'state', value: 'active' },
      { key: 'last_message_sent', value: 0 },
      { key: 'last_status', value: 0 },
      { key: 'consecutive_failures', value: 0 },
      { key: 'pending', value: 0 }
    ]
  })
  expect((await hooks.list()).body).toEqual([read])

  const changes = [
    [{ name: ' Other ' }, { name: 'Other' }],
    [{ is_enabled: 'true' }, { is_enabled: true }],
    // Nothing listens there, so nothing is delivered.
    [{ triggers: ['listener_gained', 'listener_gained', null, ''] }, { triggers: ['listener_gained'] }],
    [{ type: 'generic' }, {}],
    [
      { triggers: null, name: null },
      { triggers: [], name: '' }
    ]
  ] as const
  let expected = read
  for (const [sent, shows] of changes) {
    expect(await hooks.put(made.id, sent)).toMatchObject({ status: 200, body: done })
    expected = { ...expected, ...shows }
    expect((await hooks.get(made.id)).body).toEqual(expected)
  }

  const other = hooksOf(program, await seedStation(program.sql))
  for (const response of [
    await other.get(made.id),
    await other.put(made.id, { name: 'x' }),
    await other.remove(made.id)
  ])
    expect(response.status).toBe(404)
  expect((await hooks.remove(made.id)).status).toBe(200)
  for (const response of [
    await hooks.get(made.id),
    await hooks.put(made.id, full),
    await hooks.remove(made.id)
  ])
    expect(response.status).toBe(404)
})

test('sending back what was read changes nothing, not even sealed texts, and is not audited', async ({
  program,
  stationId
}) => {
  const hooks = hooksOf(program, stationId)
  const { id } = await hooks.make(full)
  const before = await storedConfig(program, id)
  const { body: read } = await hooks.get(id)
  expect((await hooks.put(id, read)).status).toBe(200)
  expect((await hooks.get(id)).body).toEqual(read)
  expect(await storedConfig(program, id)).toEqual(before)
  const audits = await program.sql`
    select method from audit_log where record = 'Webhook' and record_id = ${String(id)}`
  expect(audits).toEqual([{ method: 'POST' }])
})

describe('secrets', () => {
  test('are sealed in the table and stored nowhere else', async ({ program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const { id } = await hooks.make(full)
    await hooks.put(id, { config: { webhook_url: url, basic_auth_password: `${word} three` } })
    await hooks.put(id, {
      config: { webhook_url: 'http://127.0.0.1', basic_auth_password: `${word} four`, x: 1 }
    })
    const stored = await storedConfig(program, id)
    expect(stored.map(({ key }) => key)).toEqual([
      'webhook_url',
      'basic_auth_password',
      'headers',
      'signing_secret'
    ])
    expect(valueOf(stored, 'basic_auth_password')).toMatch(/^v1\.[A-Za-z0-9_-]{40,}$/)
    const [{ text } = { text: '' }] = await program.sql<{ text: string }[]>`
      select (select jsonb_agg(to_jsonb(w)) from webhooks w)::text ||
        (select jsonb_agg(to_jsonb(a)) from audit_log a)::text as text`
    expect(text).toContain('basic_auth_password')
    expect(text).not.toContain(word)
  })

  test('stay if sent empty or not at all, and are cleared by null', async ({ program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const { id } = await hooks.make(full)
    const password = async () => valueOf(await storedConfig(program, id), 'basic_auth_password')
    const sealed = await password()
    expect(sealed).toBeDefined()
    const kept = [{ timeout: 9 }, { basic_auth_password: '' }, { basic_auth_password: `${word} one` }]
    for (const part of kept) {
      expect((await hooks.put(id, { config: { webhook_url: url, ...part } })).status).toBe(200)
      expect(await password()).toBe(sealed)
    }
    expect((await hooks.put(id, { name: 'x' })).status).toBe(200)
    expect(await password()).toBe(sealed)
    const cleared = [
      { key: 'webhook_url', value: url },
      { key: 'basic_auth_password', value: null }
    ]
    expect((await hooks.put(id, { config: cleared })).status).toBe(200)
    expect(await password()).toBeUndefined()
    const { body } = await hooks.get(id)
    expect(valueOf(body.config, 'basic_auth_password')).toBeUndefined()
    expect(valueOf(body.config, 'headers')).toBe('')
  })

  test('that are required cannot be cleared', async ({ program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const config = { bot_token: word, chat_id: '1', text: 'Now' }
    const { id } = await hooks.make({ type: 'telegram', config })
    const refused = await hooks.put(id, { config: { ...config, bot_token: null } })
    expect([refused.status, errorsOf(refused)]).toEqual([400, ['config.bot_token required']])
    expect(await storedConfig(program, id)).toHaveLength(3)
  })

  test('in a refused body are not in its errors', async ({ program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const config = {
      webhook_url: `ftp://${word}:${word}@x/`,
      signing_secret: word,
      headers: word,
      timeout: word
    }
    const refused = await hooks.post({ type: 'generic', config })
    expect(refused.status).toBe(400)
    expect(errorsOf(refused).toSorted()).toEqual([
      'config.headers invalid_format',
      'config.signing_secret invalid_format',
      'config.timeout invalid_type',
      'config.webhook_url unsafe_url'
    ])
  })

  test('are not logged, not even if the database refuses the row', async ({ databaseUrl, redisUrl, sql }) => {
    await using server = await startLoggingServer(databaseUrl, redisUrl)
    const hooks = hooksOf(server, await seedStation(sql))
    const { id } = await hooks.make(full)
    await sql`alter table webhooks add constraint broken check (name <> 'Broken')`
    const config = { webhook_url: url, basic_auth_password: `${word} three`, headers: `A: ${word}` }
    expect((await hooks.put(id, { name: 'Broken', config })).status).toBe(500)
    expect((await hooks.post({ ...full, name: 'Broken' })).status).toBe(500)
    expect((await hooks.put(id, { config: { ...config, headers: word } })).status).toBe(400)
    const log = await waitFor(() => server.log().split('broken').length > 2 && server.log(), {
      deadlineMs: 5_000,
      what: 'two errors in the log'
    })
    expect(log).not.toContain(word)
  })

  test('of a Discord web hook include its URL', async ({ program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const made = await hooks.make({ type: 'discord', config: { webhook_url: `${url}/${word}` } })
    expect(made.config).toEqual([{ key: 'webhook_url', value: '' }])
    expect((await hooks.put(made.id, { config: { webhook_url: '', title: 'x' } })).status).toBe(200)
    expect((await hooks.get(made.id)).body.config).toEqual([
      { key: 'webhook_url', value: '' },
      { key: 'title', value: 'x' }
    ])
  })
})

describe('a signing secret', () => {
  const made = { key: 'signing_secret', value: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) }

  test('is generated and shown in the answer to the creation only', async ({ program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const { id, config } = await hooks.make(full)
    expect(config).toContainEqual(made)
    for (const { body } of [await hooks.get(id), await hooks.list()]) {
      expect(JSON.stringify(body)).toContain('signing_secret')
      expect(JSON.stringify(body)).not.toContain('whsec_')
    }
  })

  test('of a draft is generated as well, and stays when a config is added', async ({
    program,
    stationId
  }) => {
    const hooks = hooksOf(program, stationId)
    const draft = await hooks.make({ type: 'generic', name: 'Draft' })
    expect(draft.config).toEqual([made])
    const sealed = valueOf(await storedConfig(program, draft.id), 'signing_secret')
    expect((await hooks.get(draft.id)).body.config).toEqual([])
    expect((await hooks.put(draft.id, draft)).status).toBe(200)
    expect(state((await hooks.get(draft.id)).body)).toBe('draft')
    expect((await hooks.put(draft.id, { config: { webhook_url: url } })).status).toBe(200)
    expect(valueOf(await storedConfig(program, draft.id), 'signing_secret')).toBe(sealed)
  })

  test('that is sent is stored and not shown', async ({ program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const own = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const body = await hooks.make({ type: 'generic', config: { webhook_url: url, signing_secret: own } })
    expect(body.config).toContainEqual({ key: 'signing_secret', value: '' })
    expect(JSON.stringify(body)).not.toContain('whsec_')
  })
})

describe('the state', () => {
  test('of a web hook without config is draft, also if its config is removed', async ({
    program,
    stationId
  }) => {
    const hooks = hooksOf(program, stationId)
    for (const config of [undefined, null, [], {}, [null, {}, '']]) {
      const body = await hooks.make({ type: 'email', config })
      expect([state(body), body.config, body.is_enabled]).toEqual(['draft', [], true])
    }
    const { id } = await hooks.make(full)
    expect((await hooks.put(id, { config: [] })).status).toBe(200)
    const { body } = await hooks.get(id)
    expect([state(body), body.config]).toEqual(['draft', []])
    expect((await storedConfig(program, id)).map(({ key }) => key)).toEqual(['signing_secret'])
  })

  test('of a retired type is retired; any config is accepted', async ({ program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const config = [
      { key: 'api', value: 'http://127.0.0.1' },
      { key: 'token_secret', value: word },
      { key: 'x', value: true }
    ]
    const body = await hooks.make({ type: 'twitter', triggers: ['listener_lost'], config })
    expect(state(body)).toBe('retired')
    expect(body.config).toEqual(config.map(each => (each.value === word ? { ...each, value: '' } : each)))
    expect((await hooks.put(body.id, body)).status).toBe(200)
    expect((await hooks.get(body.id)).body).toEqual(body)
  })

  test('of a web hook that failures disabled is auto_disabled until it is enabled', async ({
    program,
    stationId
  }) => {
    const hooks = hooksOf(program, stationId)
    const { id } = await hooks.make({ ...full, is_enabled: true })
    await program.sql`
      update webhooks set is_enabled = false, is_auto_disabled = true, consecutive_failures = 100,
        last_status = 503, last_message_sent = 1900000000 where id = ${id}`
    const { body } = await hooks.get(id)
    expect(Object.fromEntries(body.metadata.map(({ key, value }: Named) => [key, value]))).toEqual({
      state: 'auto_disabled',
      last_message_sent: 1_900_000_000,
      last_status: 503,
      consecutive_failures: 100,
      pending: 0
    })
    expect((await hooks.put(id, { ...body, name: 'x' })).status).toBe(200)
    expect(state((await hooks.get(id)).body)).toBe('auto_disabled')
    expect((await hooks.put(id, { is_enabled: true })).status).toBe(200)
    const { metadata } = (await hooks.get(id)).body
    expect([valueOf(metadata, 'state'), valueOf(metadata, 'consecutive_failures')]).toEqual(['active', 0])
    await hooks.put(id, { is_enabled: false })
    expect(state((await hooks.get(id)).body)).toBe('active')
  })
})

describe('a body is refused', () => {
  const refused: [name: string, body: object, errors: string[]][] = [
    ['no type', {}, ['type required']],
    ['an unknown type', { type: 'fax' }, ['type not_in_enum']],
    ['an unknown trigger', { type: 'email', triggers: ['rain'] }, ['triggers.0 not_in_enum']],
    [
      'triggers of another type',
      { type: 'discord', triggers: ['song_changed', 'listener_lost'] },
      ['triggers.1 not_allowed_for_type']
    ],
    [
      'a trigger of a fixed type, and a bad config: all at once',
      { type: 'tunein', triggers: ['song_changed', 'live_connect'], config: { station_id: '', x: 1 } },
      [
        'triggers.1 not_allowed_for_type',
        'config.station_id blank',
        'config.x unknown_key',
        'config.partner_id required',
        'config.partner_key required'
      ]
    ],
    ['a long name', { type: 'email', name: 'x'.repeat(101) }, ['name too_long']],
    ['a config that is text', { type: 'email', config: 'x' }, ['config invalid_type']],
    ['a config of texts', { type: 'email', config: ['x'] }, ['config.0 invalid_type']],
    [
      'a nested value',
      { type: 'email', config: [{ key: 'to', value: ['x'] }] },
      ['config.0.value invalid_type']
    ],
    [
      'a name twice',
      { type: 'email', config: [1, 2].map(value => ({ key: 'to', value })) },
      ['config duplicate']
    ],
    [
      'a NUL',
      { type: 'twitter', config: { 'a\0': 'x', b: '\0' } },
      ['config.0.key', 'config.1.value'].map(field => `${field} invalid_format`)
    ]
  ]
  test.for(refused)('%s', async ([, body, errors], { program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const response = await hooks.post(body)
    expect([response.status, errorsOf(response)]).toEqual([400, errors])
    expect((await hooks.list()).body).toEqual([])
  })

  test('a change of its type', async ({ program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    const { id } = await hooks.make(full)
    const { body: before } = await hooks.get(id)
    const response = await hooks.put(id, { type: 'discord', name: 'x', triggers: ['listener_lost'] })
    expect([response.status, errorsOf(response)]).toEqual([400, ['type read_only']])
    expect((await hooks.get(id)).body).toEqual(before)
  })

  const urls: [type: string, key: string, rest: object][] = [
    ['generic', 'webhook_url', {}],
    ['discord', 'webhook_url', {}],
    ['telegram', 'api', { bot_token: 'x', chat_id: '1', text: 'x' }],
    ['groupme', 'api', { bot_id: 'x', text: 'x' }],
    ['mastodon', 'instance_url', { access_token: 'x' }],
    ['radioreg', 'webhookurl', { apikey: 'x' }],
    ['matomo_analytics', 'matomo_url', { site_id: 1 }]
  ]
  test.for(urls)('a URL into a private network: %s %s', async ([type, key, rest], { program, stationId }) => {
    const hooks = hooksOf(program, stationId)
    // The last one is a name that resolves there.
    for (const target of ['http://2130706433/', 'http://[::ffff:10.0.0.1]/', 'http://localhost:8080/']) {
      const response = await hooks.post({ type, config: { ...rest, [key]: target } })
      expect([target, response.status, errorsOf(response)]).toEqual([
        target,
        400,
        [`config.${key} unsafe_url`]
      ])
    }
    const { id } = await hooks.make({ type, config: { ...rest, [key]: 'https://1.1.1.1/' } })
    const response = await hooks.put(id, { config: { ...rest, [key]: 'http://169.254.169.254/' } })
    expect([response.status, errorsOf(response)]).toEqual([400, [`config.${key} unsafe_url`]])
    expect((await hooks.get(id)).body.config.length).toBeGreaterThan(0)
  })
})

test('a stored URL may stay, although it would be refused now', async ({ program, stationId }) => {
  const hooks = hooksOf(program, stationId)
  const { id } = await hooks.make(full)
  await program.sql`
    update webhooks set config = replace(config::text, ${url}, 'http://127.0.0.1/')::jsonb where id = ${id}`
  const { body } = await hooks.get(id)
  expect(valueOf(body.config, 'webhook_url')).toBe('http://127.0.0.1/')
  expect((await hooks.put(id, { ...body, name: 'Other' })).status).toBe(200)
  expect((await hooks.put(id, { config: { webhook_url: 'http://127.0.0.2/' } })).status).toBe(400)
})

test('addresses of remote playlists and relays are checked as well', async ({ program, stationId }) => {
  const station = `/api/station/${stationId}`
  const bad = 'http://169.254.169.254/live'
  const remote = { name: 'Remote', source: 'remote_url', remote_url: bad }
  const { body: kept } = await program.ask('POST', `${station}/playlists`, {
    body: { ...remote, source: 'songs' }
  })
  expect(kept.remote_url).toBe(bad)
  const refused = [
    ['remote_url', await program.ask('POST', `${station}/playlists`, { body: remote })],
    [
      'remote_url',
      await program.ask('PUT', `${station}/playlist/${kept.id}`, { body: { source: 'remote_url' } })
    ],
    [
      'relay_url',
      await program.ask('POST', `${station}/hls_streams`, { body: { name: '/x', relay_url: bad } })
    ]
  ] as const
  for (const [field, response] of refused)
    expect([response.status, errorsOf(response)]).toEqual([400, [`${field} unsafe_url`]])
})

test('types with one trigger accept only that trigger, or none', async ({ program, stationId }) => {
  const hooks = hooksOf(program, stationId)
  for (const triggers of [[], ['song_changed']]) {
    const body = await hooks.make({ type: 'google_analytics_v4', triggers })
    expect(body.triggers).toEqual(triggers)
  }
})

test('concurrent changes of different fields, and of one config, both take effect', async ({
  program,
  stationId
}) => {
  const hooks = hooksOf(program, stationId)
  const { id } = await hooks.make(full)
  for (let round = 1; round <= 10; round++) {
    const timeout = round
    const responses = await Promise.all([
      hooks.put(id, { name: `Name ${round}` }),
      hooks.put(id, { config: { webhook_url: url, timeout } }),
      hooks.put(id, { triggers: round % 2 ? ['song_changed'] : [] }),
      hooks.put(id, { is_enabled: round % 2 === 0 })
    ])
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { body } = await hooks.get(id)
    expect([body.name, valueOf(body.config, 'timeout'), body.triggers.length, body.is_enabled]).toEqual([
      `Name ${round}`,
      timeout,
      round % 2,
      round % 2 === 0
    ])
    expect(valueOf(await storedConfig(program, id), 'basic_auth_password')).toMatch(/^v1\./)
  }
})

test('lists are searched, sorted and paged', async ({ program, stationId }) => {
  const hooks = hooksOf(program, stationId)
  for (const [name, type] of [
    ['b_x', 'email'],
    ['A', 'tunein'],
    ['c', 'discord'],
    ['bXx', 'generic']
  ])
    await hooks.make({ name, type })
  const names = async (query: string) => {
    const { body } = await hooks.list(query)
    return (body.rows ?? body).map(({ name }: { name: string }) => name)
  }
  expect(await names('?searchPhrase=B_X')).toEqual(['b_x'])
  expect(await names('?sort=type')).toEqual(['c', 'b_x', 'bXx', 'A'])
  expect(await names('?sort=id&sortOrder=DESC&per_page=2')).toEqual(['bXx', 'c'])
  expect((await names('')).toSorted()).toEqual(['A', 'bXx', 'b_x', 'c'])
  expect((await hooks.list('?sort=config')).status).toBe(400)
})

test('a key without the permission is refused', async ({ program, stationId }) => {
  await hooksOf(program, stationId).make(full)
  const weak = 'bbbbbbbbbbbbbbbb:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
  await program.sql`
    insert into api_keys (name, identifier, verifier, permissions)
    values ('weak', 'bbbbbbbbbbbbbbbb', sha256('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'), '["view station management"]')
    on conflict do nothing`
  const path = `/api/station/${stationId}/webhooks`
  for (const [key, type] of [
    ['', 'NotLoggedInException'],
    [weak, 'PermissionDeniedException']
  ] as const) {
    const { status, body } = await program.ask('GET', path, { key })
    expect([status, body.type]).toEqual([403, type])
  }
})

test('the OpenAPI document describes web hooks and the settings of each type', async ({ program }) => {
  const { body } = await program.ask('GET', '/api/openapi.json', { key: '' })
  expect(Object.keys(body.components.schemas.Webhook.properties)).toEqual(keys)
  const about = body.components.schemas.Webhook.properties.config.description
  expect(about).toContain('telegram: bot_token* (write-only), chat_id*, api [https://api.telegram.org]')
})
