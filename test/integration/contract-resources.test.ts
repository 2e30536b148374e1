import { describe, expect } from 'vitest'

import { type Call, expectStatus, openCalls, wrongFields } from '../contract/calls.ts'
import { type ResourceCase, resourceCases } from '../contract/resource-cases.ts'
import { differences } from '../contract/shape.ts'
import type { Body } from '../contract/table.ts'
import { fill, openStations, pathOf, type Station } from '../contract/world.ts'
import { isolatedTest as base } from '../support/fixtures.ts'
import type { JsonBody } from '../support/program.ts'
import { sized } from '../support/tier.ts'

const test = base.extend('world', { scope: 'file' }, async ({ program }) => {
  const call = guardSecrets(openCalls(program))
  const [station, other] = await openStations(program, call)
  // The first stream of a station becomes its default, whatever its body contains.
  for (const { id } of [station, other]) {
    await call('POST', `/api/station/${id}/hls_streams`, { body: { name: '/default.mp3' } })
  }
  return { call, station, other }
})

/** Fails if a response contains a secret: each of them contains `secret-word`. */
function guardSecrets(call: Call): Call {
  return async (method, path, options) => {
    const response = await call(method, path, options)
    expect(JSON.stringify(response.body), `${method} ${path}`).not.toContain('secret-word')
    return response
  }
}

const named = (all: readonly ResourceCase[]) => all.map((each): [string, ResourceCase] => [each.name, each])
/** One resource of each collection. */
const collections = resourceCases.filter(
  (each, index) => resourceCases.findIndex(other => other.collection === each.collection) === index
)

let lastNumber = 1_000
const nextNumber = () => (lastNumber += 1)

async function create(
  call: Call,
  { collection }: ResourceCase,
  station: Station,
  body: Body
): Promise<JsonBody> {
  const made = await call('POST', pathOf(collection, station.id), { body })
  expectStatus(made, 200)
  return made.body
}

const singlePath = ({ single }: ResourceCase, station: Station, id: number) => pathOf(single, station.id, id)

async function countOf(call: Call, { collection }: ResourceCase, station: Station): Promise<number> {
  const { status, body } = await call('GET', pathOf(collection, station.id))
  expect([status, Array.isArray(body)]).toEqual([200, true])
  return body.length
}

/** The expected response: a hook has settings with defaults in addition to those sent, an item its id. */
function shown(body: Body): Body {
  const { config, schedule_items: items } = body
  return {
    ...body,
    ...(Array.isArray(config) ? { config: expect.arrayContaining(config) } : {}),
    ...(Array.isArray(items) ? { schedule_items: items.map(item => expect.objectContaining(item)) } : {})
  }
}

describe('a record', () => {
  test.for(named(resourceCases))('%s: a minimal body gets the defaults', async ([, resource], { world }) => {
    const { call, station } = world
    const n = nextNumber()
    const sent = fill(resource.minimal, n)
    const made = await create(call, resource, station, sent)
    expect(differences(made, resource.record)).toEqual([])
    expect(made).toMatchObject(shown({ ...sent, ...hidden(resource), ...fill(resource.defaults, n) }))
  })

  test.for(named(resourceCases))(
    '%s: null means unset',
    async ([, resource], { world: { call, station } }) => {
      const n = nextNumber()
      const sent = fill(resource.minimal, n)
      const unset = Object.fromEntries(Object.keys(resource.full).map(field => [field, null]))
      const made = await create(call, resource, station, { ...unset, ...sent })
      expect(made).toMatchObject(shown({ ...sent, ...hidden(resource), ...fill(resource.defaults, n) }))
    }
  )

  test.for(named(resourceCases))(
    '%s: is created, read, changed field by field, restored and deleted',
    async ([, resource], { world: { call, station, other } }) => {
      const n = nextNumber()
      const full = fill(resource.full, n)
      const made = await create(call, resource, station, { ...full, ...resource.ignored })
      expect(differences(made, resource.record)).toEqual([])
      expect(made).toMatchObject(shown({ ...full, ...fill(resource.shows, n) }))

      const path = singlePath(resource, station, made.id)
      const read = async () => {
        const { status, body } = await call('GET', path)
        expect([status, differences(body, resource.record)]).toEqual([200, []])
        return body
      }
      const put = async (body: Body) => {
        const response = await call('PUT', path, { body })
        expectStatus(response, 200)
        return response.headers.get('x-ignored-fields')
      }
      const original = await read()
      expect(original).toMatchObject(shown({ ...full, ...fill(resource.shows, n) }))
      const list = await call('GET', pathOf(resource.collection, station.shortName))
      expect(list.body).toContainEqual(original)

      for (const same of [original, {}, resource.ignored]) {
        const unknown = Object.keys(same).filter(field => !(field in original))
        expect(await put(same)).toBe(unknown.join(', ') || null)
        expect(await read()).toEqual(original)
      }
      expect(await put(full)).toBeNull()
      expect(await read()).toEqual({ ...original, ...shownItems(original) })
      let changed = await read()
      for (const [sent, shows = sent] of resource.changes) {
        await put(fill(sent, n))
        const after = await read()
        expect(after).toEqual({ ...changed, ...shown(fill(shows, n)) })
        changed = after
      }
      await put(changed)
      expect(await read()).toEqual(changed)

      await Promise.all(Object.entries(full).map(async ([field, value]) => put({ [field]: value })))
      expect(await read()).toEqual({ ...original, ...shownItems(original) })

      expectStatus(await call('DELETE', path), 200)
      for (const method of ['GET', 'DELETE']) expectStatus(await call(method, path), 404)
      expectStatus(await call('PUT', path, { body: full }), 404)
      expectStatus(await call('GET', pathOf(resource.single, other.id, made.id)), 404)
    }
  )
})

/** Secrets read empty. */
function hidden({ record }: ResourceCase): Body {
  if (typeof record !== 'object' || !('keys' in record)) return {}
  const secrets = Object.entries(record.keys).filter(
    ([, shape]) => typeof shape === 'object' && 'oneOf' in shape && shape.oneOf.join() === ''
  )
  return Object.fromEntries(secrets.map(([field]) => [field, '']))
}

/** Items without ids are new ones. */
function shownItems({ schedule_items: items }: { schedule_items?: { id: number }[] }): Body {
  if (items === undefined) return {}
  return { schedule_items: items.map(item => ({ ...item, id: expect.any(Number) })) }
}

describe('a value of a wrong type', () => {
  const cases = collections.flatMap(resource =>
    Object.entries(resource.wrong).map(([field, values]) => ({ resource, field, values }))
  )

  test.for(cases.map(each => [`${each.resource.name}.${each.field}`, each] as const))(
    'is refused with the field: %s',
    async ([, { field, resource, values }], { world: { call, station } }) => {
      const before = await countOf(call, resource, station)
      const outcomes: unknown[] = []
      for (const value of sized({ quick: values.filter((_, index) => index % 2 === 0), deep: values })) {
        const body = { ...fill(resource.minimal), [field]: value }
        const { status, body: response } = await call('POST', pathOf(resource.collection, station.id), {
          body
        })
        const names = wrongFields(response)
        if (status !== 400 || !names.includes(field)) outcomes.push({ value, status, names })
      }
      expect(outcomes).toEqual([])
      expect(await countOf(call, resource, station)).toBe(before)
    }
  )

  test.for(named(collections))('in an update leaves the %s unchanged', async ([, resource], { world }) => {
    const { call, station } = world
    const { id } = await create(call, resource, station, fill(resource.full))
    const path = singlePath(resource, station, id)
    const before = (await call('GET', path)).body
    const outcomes: unknown[] = []
    for (const [field, [value]] of Object.entries(resource.wrong)) {
      const body = { ...fill(resource.changes[0]?.[0] ?? {}), [field]: value }
      const { status, body: response } = await call('PUT', path, { body })
      const names = wrongFields(response)
      if (status !== 400 || !names.includes(field)) outcomes.push({ field, value, status, names })
    }
    expect(outcomes).toEqual([])
    expect((await call('GET', path)).body).toEqual(before)
  })

  test.for(named(collections))(
    'in every field of a %s: all are reported at once',
    async ([, resource], { world }) => {
      const { call, station } = world
      const body = Object.fromEntries(
        Object.entries(resource.wrong).map(([field, [value]]) => [field, value])
      )
      const { status, body: response } = await call('POST', pathOf(resource.collection, station.id), { body })
      expectStatus({ status, body: response }, 400)
      expect(wrongFields(response)).toEqual(expect.arrayContaining(Object.keys(resource.wrong)))
      expect(response.message).toBe(response.extra_data.errors[0].message)
    }
  )

  test.for(named(collections))('as a whole body of a %s is refused', async ([, resource], { world }) => {
    const { call, station } = world
    const before = await countOf(call, resource, station)
    for (const body of [
      '[]',
      '"text"',
      '5',
      'true',
      'null',
      '[{}]',
      '{',
      '{"name":}',
      "{'name':'x'}",
      'NaN',
      ''
    ]) {
      const { status } = await call('POST', pathOf(resource.collection, station.id), { body })
      expect([body, status]).toEqual([body, 400])
    }
    expect(await countOf(call, resource, station)).toBe(before)
  })
})

describe('a bad value', () => {
  const cases = resourceCases.flatMap(resource =>
    resource.refused.map(([field, codes, parts]) => ({ resource, field, codes, parts }))
  )
  const titled = cases.map(each => {
    const parts = JSON.stringify(each.parts)
    return [`${each.resource.name}.${each.field} (${each.codes}) ${parts.slice(0, 80)}`, each] as const
  })

  test.for(titled)('is refused: %s', async ([, { field, codes, parts, resource }], { world }) => {
    const { call, station } = world
    const body = { ...fill(resource.minimal), ...parts }
    const response = await call('POST', pathOf(resource.collection, station.id), { body })
    expectStatus(response, 400)
    const errors: { field: string; code: string }[] = response.body.extra_data.errors
    const about = errors.filter(error => error.field === field || error.field.startsWith(`${field}.`))
    expect(about, `refused was ${JSON.stringify(errors)}`).not.toEqual([])
    expect(codes.split(' ')).toContain(about[0]?.code)
  })

  test('of several fields: all are listed, and the first is the message', async ({
    world: { call, station }
  }) => {
    const body = { name: '', weight: 101, play_per_hour_minute: 60, type: 'nonsense', order: 5 }
    const response = await call('POST', `/api/station/${station.id}/playlists`, { body })
    expectStatus(response, 400)
    expect(wrongFields(response.body).toSorted()).toEqual(Object.keys(body).toSorted())
    expect(response.body.message).toBe(response.body.extra_data.errors[0].message)
  })
})

describe('a value that must be unique', () => {
  const taken: [name: string, field: string, body: Body][] = [
    ['HLS stream', 'name', { name: '/taken.mp3' }],
    ['SFTP user', 'username', { username: 'taken', password: 'secret-word' }],
    ['streamer', 'streamer_username', { streamer_username: 'taken' }],
    ['custom field', 'short_name', { name: 'Taken', short_name: 'taken' }],
    ['storage location (s3)', 'path', { ...s3Body(), path: 'taken' }]
  ]

  test.for(taken)(
    'is refused with 409 if it is in use: %s, %s',
    async ([name, field, body], { world: { call, station } }) => {
      const resource = resourceCases.find(each => each.name === name) ?? expect.fail(name)
      const first = await create(call, resource, station, body)
      const collection = pathOf(resource.collection, station.id)
      const again = await call('POST', collection, { body })
      expectStatus(again, 409)
      expect(again.body.extra_data.errors[0].code).toBe('duplicate')
      const second = await create(call, resource, station, fill({ ...body, [field]: 'free-{n}' }))
      const path = singlePath(resource, station, second.id)
      expectStatus(await call('PUT', path, { body: { [field]: body[field] } }), 409)
      expect((await call('GET', path)).body[field]).toBe(second[field])
      expectStatus(await call('DELETE', singlePath(resource, station, first.id)), 200)
      expectStatus(await call('PUT', path, { body: { [field]: body[field] } }), 200)
    }
  )

  test('the name of an SFTP user is unique in the installation, of a stream in its station', async ({
    world
  }) => {
    const { call, station, other } = world
    const user = { username: 'one-of-all', password: 'secret-word' }
    expectStatus(await call('POST', `/api/station/${station.id}/sftp-users`, { body: user }), 200)
    expectStatus(await call('POST', `/api/station/${other.id}/sftp-users`, { body: user }), 409)
    const stream = { name: '/one-of-station.mp3' }
    expectStatus(await call('POST', `/api/station/${station.id}/hls_streams`, { body: stream }), 200)
    expectStatus(await call('POST', `/api/station/${other.id}/hls_streams`, { body: stream }), 200)
  })

  test('short names of custom fields are compared without case, and derived if omitted', async ({
    world
  }) => {
    const { call } = world
    const make = async (body: Body) => call('POST', '/api/admin/custom_fields', { body })
    expectStatus(await make({ name: 'Tempo of Song!' }), 200)
    expect((await make({ name: 'Tempo of Song!' })).body.short_name).toBe('tempo_of_song_2')
    expectStatus(await make({ name: 'x', short_name: 'TEMPO_of_song' }), 409)
    expect((await make({ name: '1984' })).body.short_name).toBe('custom_field_1984')
  })

  test('is accepted in exactly one of twenty concurrent requests', async ({ world: { call } }) => {
    const body = { name: 'Race', short_name: 'race' }
    const responses = await Promise.all(
      Array.from({ length: 20 }, async () => call('POST', '/api/admin/custom_fields', { body }))
    )
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array<number>(19).fill(409)])
  })
})

function s3Body(): Body {
  return {
    type: 'backup',
    adapter: 's3',
    s3Bucket: 'b',
    s3CredentialKey: 'k',
    s3CredentialSecret: 'secret-word'
  }
}

describe('fields that are fixed at creation', () => {
  const fixed: [name: string, parts: Body][] = [
    ['web hook', { type: 'discord' }],
    ['storage location (local)', { type: 'backup' }],
    ['storage location (local)', { adapter: 'sftp' }]
  ]

  test.for(fixed)('cannot be changed: %s, %j', async ([name, parts], { world: { call, station } }) => {
    const resource = resourceCases.find(each => each.name === name) ?? expect.fail(name)
    const { id } = await create(call, resource, station, fill(resource.full))
    const path = singlePath(resource, station, id)
    const before = (await call('GET', path)).body
    const response = await call('PUT', path, { body: parts })
    expectStatus(response, 400)
    const errors: { code: string }[] = response.body.extra_data.errors
    expect(errors.map(({ code }) => code)).toContain('read_only')
    expect((await call('GET', path)).body).toEqual(before)
  })
})

describe('secrets', () => {
  test('an SFTP user keeps its password until it is cleared, and requires a password or a key', async ({
    world
  }) => {
    const { call, station } = world
    const path = `/api/station/${station.id}/sftp-users`
    expectStatus(await call('POST', path, { body: { username: 'no-way-in' } }), 400)
    const { body: user } = await call('POST', path, { body: { username: 'way-in', password: 'secret-word' } })
    const single = `/api/station/${station.id}/sftp-user/${user.id}`
    for (const body of [user, { password: '' }, { publicKeys: '' }, { publicKeys: '# none' }])
      expectStatus(await call('PUT', single, { body }), 200)
    const cleared = await call('PUT', single, { body: { password: null } })
    expectStatus(cleared, 400)
    expect(cleared.body.extra_data.errors[0].code).toBe('required')
  })

  test('a storage location keeps its secret until it is cleared, which its adapter does not allow', async ({
    world: { call }
  }) => {
    const { body } = await call('POST', '/api/admin/storage_locations', {
      body: { ...s3Body(), path: 'kept' }
    })
    const single = `/api/admin/storage_location/${body.id}`
    for (const parts of [body, { s3CredentialSecret: '' }, { s3Region: 'eu' }])
      expectStatus(await call('PUT', single, { body: parts }), 200)
    const cleared = await call('PUT', single, { body: { s3CredentialSecret: null } })
    expectStatus(cleared, 400)
    expect(wrongFields(cleared.body)).toEqual(['s3CredentialSecret'])
  })

  test('a hook keeps its required secret if a config omits it', async ({ world }) => {
    const { call, station } = world
    const path = `/api/station/${station.id}/webhooks`
    const config = { bot_token: 'secret-word', chat_id: '1', text: 'Now' }
    const sent = { type: 'telegram', name: 'Bot', is_enabled: false, config }
    const made = await call('POST', path, { body: sent })
    expectStatus(made, 200)
    const single = `/api/station/${station.id}/webhook/${made.body.id}`
    for (const kept of [made.body.config, { chat_id: '1', text: 'Next' }, { ...config, bot_token: '' }])
      expectStatus(await call('PUT', single, { body: { config: kept } }), 200)
    const cleared = await call('PUT', single, { body: { config: { ...config, bot_token: null } } })
    expectStatus(cleared, 400)
  })
})

describe('streams', () => {
  test('a station with streams has exactly one default', async ({ world: { call } }) => {
    const name = fill('defaults_{n}')
    const made = await call('POST', '/api/admin/stations', { body: { name, short_name: name } })
    expectStatus(made, 200)
    const path = `/api/station/${made.body.id}`
    const add = async (body: Body) => (await call('POST', `${path}/hls_streams`, { body })).body
    for (const { id } of (await call('GET', `${path}/hls_streams`)).body)
      expectStatus(await call('DELETE', `${path}/hls_stream/${id}`), 200)
    const defaults = async () => {
      const { body } = await call('GET', `${path}/hls_streams`)
      return body
        .filter((each: { is_default: boolean }) => each.is_default)
        .map((each: { id: number }) => each.id)
    }
    const one = await add({ name: '/one.mp3', is_default: false })
    expect(one.is_default).toBe(true)
    const hiddenOne = await add({ name: '/hidden.mp3', is_visible_on_public_pages: false })
    const two = await add({ name: '/two.mp3', is_default: true })
    expect(await defaults()).toEqual([two.id])
    expectStatus(await call('PUT', `${path}/hls_stream/${two.id}`, { body: { is_default: false } }), 200)
    expect(await defaults()).toEqual([one.id])
    await Promise.all(
      [one, two, hiddenOne].map(async ({ id }) =>
        call('PUT', `${path}/hls_stream/${id}`, { body: { is_default: true } })
      )
    )
    expect(await defaults()).toHaveLength(1)
    expectStatus(await call('PUT', `${path}/hls_stream/${one.id}`, { body: { is_default: true } }), 200)
    expectStatus(await call('DELETE', `${path}/hls_stream/${one.id}`), 200)
    expect(await defaults()).toEqual([two.id])
  })
})

describe('hooks', () => {
  const state = (body: { metadata: { key: string; value: unknown }[] }) =>
    body.metadata.find(({ key }) => key === 'state')?.value

  test('one without a config is a draft', async ({ world }) => {
    const { call, station } = world
    const made = await call('POST', `/api/station/${station.id}/webhooks`, {
      body: { type: 'generic', name: 'Draft' }
    })
    expectStatus(made, 200)
    expect(state(made.body)).toBe('draft')
    const path = `/api/station/${station.id}/webhook/${made.body.id}`
    const config = { webhook_url: 'https://hooks.invalid/' }
    expectStatus(await call('PUT', path, { body: { is_enabled: false, config } }), 200)
    expect(state((await call('GET', path)).body)).toBe('active')
    expectStatus(await call('PUT', path, { body: { config: [] } }), 200)
    expect(state((await call('GET', path)).body)).toBe('draft')
  })

  test('one of a retired type is still readable', async ({ world: { call, station } }) => {
    const body = { type: 'twitter', name: 'Old', config: { anything: 'goes' } }
    const made = await call('POST', `/api/station/${station.id}/webhooks`, { body })
    expectStatus(made, 200)
    expect(state(made.body)).toBe('retired')
  })

  test('a signing secret is generated if omitted, and returned once', async ({
    world: { call, station }
  }) => {
    const config = { webhook_url: 'https://hooks.invalid/' }
    const body = { type: 'generic', name: 'Signed', is_enabled: false, config }
    const made = await call('POST', `/api/station/${station.id}/webhooks`, { body })
    expectStatus(made, 200)
    const value = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/)
    expect(made.body.config).toContainEqual({ key: 'signing_secret', value })
    const read = await call('GET', `/api/station/${station.id}/webhook/${made.body.id}`)
    expect(JSON.stringify(read.body)).not.toContain('whsec_')
  })
})
