import { describe, expect, onTestFinished } from 'vitest'

import { generateApiKey, openKeyChecker, storeApiKey } from '../../src/api/auth/key-checker.ts'
import { openAuthorizer } from '../../src/api/core/admission.ts'
import { hashPlayoutKey } from '../../src/api/playout/playout-caller.ts'
import { TooManyRequests } from '../../src/platform/runtime/errors.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import { openCuttableProxy } from '../support/cuttable-proxy.ts'
import { test } from '../support/fixtures.ts'
import { type Program, type RunningServer, startServer } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { sized } from '../support/tier.ts'
import { changeUnpublished } from '../support/unpublished.ts'
import { waitFor } from '../support/wait.ts'

const keys = '/api/v1/main/api-keys'
/** The tolerance for a second on a busy machine. */
const lateMs = sized({ quick: 10_000, deep: 1_500 })

type Asked = Pick<Program | RunningServer, 'ask'>

interface Made {
  readonly key: string
  readonly id: number
  readonly identifier: string
}

/** Creates a key with these permissions, for one station or everywhere. */
async function makeKey(program: Asked, permissions: string[], station?: number): Promise<Made> {
  const granted =
    station === undefined ? { permissions } : { station_permissions: [{ station, permissions }] }
  const { status, body } = await program.ask('POST', keys, { body: { name: 'made', ...granted } })
  if (status !== 200) throw new Error(`no key was made: ${JSON.stringify(body)}`)
  return { key: body.key, ...body.api_key }
}

interface Group {
  readonly name: string
  /** The permission to read, `any` for any valid key; null if nothing can be read. */
  readonly read: string | null
  readonly write: string | null
  /** Calls as `METHOD path`; records 0 and bodies without a field change nothing. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

const ofStation: readonly Group[] = [
  {
    name: 'playlists',
    read: 'view station management',
    write: 'manage station media',
    reads: ['GET playlists', 'GET playlist/0'],
    writes: ['POST playlists', 'PUT playlist/0', 'DELETE playlist/0']
  },
  {
    name: 'HLS streams',
    read: 'view station management',
    write: 'manage station mounts',
    reads: ['GET hls_streams', 'GET hls_stream/0'],
    writes: ['POST hls_streams', 'PUT hls_stream/0', 'DELETE hls_stream/0']
  },
  {
    name: 'the queue',
    read: 'view station management',
    write: 'manage station broadcasting',
    reads: ['GET queue', 'GET queue/0'],
    writes: ['DELETE queue/0', 'POST backend/skip', 'PUT listeners']
  }
]

const ofInstallation: readonly Group[] = [
  {
    name: 'custom fields',
    read: 'view administration',
    write: 'administer custom fields',
    reads: ['GET /api/admin/custom_fields', 'GET /api/admin/custom_field/0'],
    writes: [
      'POST /api/admin/custom_fields',
      'PUT /api/admin/custom_field/0',
      'DELETE /api/admin/custom_field/0'
    ]
  },
  {
    name: 'API keys',
    read: 'administer api keys',
    write: 'administer api keys',
    reads: [`GET ${keys}`],
    writes: [`POST ${keys}`, `POST ${keys}/revoke/0`]
  },
  {
    name: 'the audit log',
    read: 'view system logs',
    write: null,
    reads: ['GET /api/admin/auditlog'],
    writes: []
  },
  {
    name: 'news',
    read: 'any',
    write: 'administer settings',
    reads: ['GET /api/v1/main/news', 'GET /api/v1/main/news/none'],
    writes: ['POST /api/v1/main/news', 'PUT /api/v1/main/news/none', 'DELETE /api/v1/main/news/none']
  },
  {
    name: 'notifications',
    read: 'view administration',
    write: 'administer settings',
    reads: [
      'GET /api/v1/main/notifications',
      'GET /api/v1/main/notifications/none',
      'GET /api/v1/main/notifications/stats'
    ],
    writes: [
      'POST /api/v1/main/notifications',
      'PUT /api/v1/main/notifications/none',
      'DELETE /api/v1/main/notifications/none',
      'POST /api/v1/main/notifications/bulk-delete'
    ]
  },
  {
    name: 'health',
    read: 'any',
    write: null,
    reads: ['GET /api/health'],
    writes: []
  },
  {
    name: 'counts',
    read: 'view administration',
    write: null,
    reads: ['GET /api/stats', 'GET /api/queues'],
    writes: []
  }
]

/** Permissions of the table for a station, and those for the installation. */
const permissionsOf = (groups: readonly Group[]) =>
  new Set(
    groups
      .flatMap(({ read, write }) => [read, write])
      .filter(permission => permission !== null && permission !== 'any')
  )
const stationPermissions = [...permissionsOf(ofStation)]
const installationPermissions = [...permissionsOf(ofInstallation)]

/** Calls that are refused because of a missing permission; throws if one is refused for another reason. */
async function refusedOf(program: Program, key: string, calls: readonly string[]): Promise<string[]> {
  const refused: string[] = []
  for (const call of calls) {
    const [method = '', path = ''] = call.split(' ')
    const body = method === 'POST' || method === 'PUT' ? { body: {} } : {}
    const response = await program.ask(method, path, { key, ...body })
    if (response.status === 403 && response.body.type !== 'PermissionDeniedException')
      throw new Error(`${call}: ${response.body.type}`)
    if (response.status === 403) refused.push(call)
    else expect([200, 400, 404, 409]).toContain(response.status)
  }
  return refused
}

/** The same calls below a station. */
const below = (station: number, calls: readonly string[]) =>
  calls.map(call => call.replace(' ', ` /api/station/${station}/`))

const everything = (groups: readonly Group[]) => ({
  reads: groups.flatMap(({ reads }) => reads),
  writes: groups.flatMap(({ writes }) => writes)
})

describe('a permission allows its routes and no others', () => {
  const includes = (held: string, wanted: string | null, isRead: boolean) =>
    held === wanted ||
    (isRead && wanted === 'any') ||
    (wanted === 'view station management' &&
      /^(manage station (media|mounts|broadcasting)|delete station media)$/.test(held)) ||
    (wanted === 'view administration' && /^administer (custom fields|settings|storage locations)$/.test(held))

  /** The calls of these groups that are refused with the permission. */
  const closed = (held: string, groups: readonly Group[]) =>
    groups.flatMap(({ read, write, reads, writes }) => [
      ...(includes(held, read, true) ? [] : reads),
      ...(includes(held, write, false) ? [] : writes)
    ])
  const calls = (groups: readonly Group[]) => groups.flatMap(({ reads, writes }) => [...reads, ...writes])

  test.for(stationPermissions.map(permission => [String(permission)] as const))(
    '%s at a station',
    async ([permission], { program }) => {
      const [mine, other] = [await seedStation(program.sql), await seedStation(program.sql)]
      const { key } = await makeKey(program, [permission], mine)
      expect(await refusedOf(program, key, below(mine, calls(ofStation)))).toEqual(
        below(mine, closed(permission, ofStation))
      )
      const elsewhere = below(other, calls(ofStation))
      expect(await refusedOf(program, key, elsewhere)).toEqual(elsewhere)
      expect(await refusedOf(program, key, calls(ofInstallation))).toEqual(closed(permission, ofInstallation))
    }
  )

  test.for(stationPermissions.map(permission => [String(permission)] as const))(
    '%s at all stations',
    async ([permission], { program }) => {
      const station = await seedStation(program.sql)
      const { key } = await makeKey(program, [permission])
      expect(await refusedOf(program, key, below(station, calls(ofStation)))).toEqual(
        below(station, closed(permission, ofStation))
      )
      expect(await refusedOf(program, key, calls(ofInstallation))).toEqual(closed(permission, ofInstallation))
    }
  )

  test.for(installationPermissions.map(permission => [String(permission)] as const))(
    '%s',
    async ([permission], { program }) => {
      const station = await seedStation(program.sql)
      const { key } = await makeKey(program, [permission])
      expect(await refusedOf(program, key, calls(ofInstallation))).toEqual(closed(permission, ofInstallation))
      const atStation = below(station, calls(ofStation))
      expect(await refusedOf(program, key, atStation)).toEqual(atStation)
    }
  )

  test('no permission', async ({ program }) => {
    const { key } = await makeKey(program, [])
    expect(await refusedOf(program, key, calls(ofInstallation))).toEqual(closed('', ofInstallation))
  })

  test('all permissions for one station', async ({ program }) => {
    const [mine, other] = [await seedStation(program.sql), await seedStation(program.sql)]
    const { key } = await makeKey(program, ['administer all'], mine)
    expect(await refusedOf(program, key, below(mine, calls(ofStation)))).toEqual([])
    const elsewhere = below(other, calls(ofStation))
    expect(await refusedOf(program, key, elsewhere)).toEqual(elsewhere)
    expect(await refusedOf(program, key, calls(ofInstallation))).toEqual(closed('', ofInstallation))
  })

  test('all permissions for all stations', async ({ program }) => {
    const station = await seedStation(program.sql)
    const { key } = await makeKey(program, ['administer stations'])
    expect(await refusedOf(program, key, below(station, calls(ofStation)))).toEqual([])
    expect(await refusedOf(program, key, calls(ofInstallation))).toEqual(closed('', ofInstallation))
  })

  test('view all reads everything and writes nothing', async ({ program }) => {
    const station = await seedStation(program.sql)
    const { key } = await makeKey(program, ['view all'])
    const there = everything(ofStation)
    const rest = everything(ofInstallation)
    expect(await refusedOf(program, key, [...below(station, there.reads), ...rest.reads])).toEqual([])
    const writes = [...below(station, there.writes), ...rest.writes]
    expect(await refusedOf(program, key, writes)).toEqual(writes)
    const [other, ofOne] = [await seedStation(program.sql), await makeKey(program, ['view all'], station)]
    expect(await refusedOf(program, ofOne.key, below(station, there.reads))).toEqual([])
    const closedThere = [...below(station, there.writes), ...below(other, there.reads)]
    expect(await refusedOf(program, ofOne.key, closedThere)).toEqual(closedThere)
  })
})

test('a key of one private station can see that one and no other', async ({ program }) => {
  const [mine, other] = [await seedStation(program.sql), await seedStation(program.sql)]
  await changeUnpublished(
    program.sql,
    tx => tx`update stations set is_public = false, revision = revision + 1,
    station_revision = revision + 1 where id in ${program.sql([mine, other])}`
  )
  const { key } = await makeKey(program, ['view station reports'], mine)
  const idsOf = async (path: string) => {
    const { body } = await program.ask('GET', path, { key })
    return body.map((each: { id?: number; station?: { id: number } }) => each.station?.id ?? each.id)
  }
  await waitFor(
    async () =>
      (await idsOf('/api/stations')).includes(mine) &&
      (await program.ask('GET', `/api/nowplaying/${other}`, { key: '' })).status === 404,
    { deadlineMs: 10_000, what: 'the stations to be there, and hidden' }
  )
  const selection = `/api/nowplaying?stations=${other},${mine}`
  for (const path of ['/api/stations', '/api/nowplaying', selection]) {
    expect(await idsOf(path)).toContain(mine)
    await waitFor(async () => !(await idsOf(path)).includes(other), {
      deadlineMs: 5_000,
      what: 'the other station to be hidden'
    })
  }
  for (const path of ['/api/nowplaying/', '/api/station/']) {
    expect((await program.ask('GET', path + mine, { key })).status).toBe(200)
    expect((await program.ask('GET', path + other, { key })).status).toBe(404)
  }
  expect((await program.ask('GET', `/api/station/${other}/queue`, { key })).status).toBe(404)
})

test('a key works until the second it expires in', async ({ program }) => {
  const expiresAt = Math.floor(Date.now() / 1000) + 2
  const body = { name: 'short', expires_at: expiresAt }
  const { key } = (await program.ask('POST', keys, { body })).body
  expect((await program.ask('GET', '/api/health', { key })).status).toBe(200)
  const refused = await waitFor(
    async () => {
      const response = await program.ask('GET', '/api/health', { key })
      return response.status === 403 && response
    },
    { deadlineMs: 10_000, what: 'the key to expire' }
  )
  expect(refused.body.type).toBe('NotLoggedInException')
  expect(Date.now()).toBeGreaterThanOrEqual(expiresAt * 1000)
  expect(Date.now()).toBeLessThan(expiresAt * 1000 + lateMs)
})

test('the last use of a key is recorded', async ({ program }) => {
  const { key, id } = await makeKey(program, [])
  await program.ask('GET', '/api/health', { key })
  const used = await waitFor(
    async () => {
      const { body } = await program.ask('GET', keys)
      return body.api_keys.find((each: { id: number }) => each.id === id).last_used_at
    },
    { deadlineMs: 10_000, what: 'the time of the last use' }
  )
  expect(Math.abs(used - Date.now() / 1000)).toBeLessThan(10)
})

test('a key is accepted in either header', async ({ program }) => {
  const { key } = await makeKey(program, [])
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${program.baseUrl}/api/health`, { headers })).status
  expect(await status({ 'X-API-Key': key })).toBe(200)
  expect(await status({ Authorization: `Bearer ${key}` })).toBe(200)
  expect(await status({ Authorization: key })).toBe(403)
  expect((await program.ask('GET', `/api/health?api_key=${key}`, { key: '' })).status).toBe(403)
})

/** Sends wrong keys until the address is limited. */
async function flood(program: Asked) {
  for (let index = 0; index < 1_000; index++) {
    const key = index.toString(16).padStart(16, '0') + ':' + '0'.repeat(32)
    const response = await program.ask('GET', '/api/health', { key })
    if (response.status === 429) return response
    expect(response.status).toBe(403)
  }
  throw new Error('the rate limit did not apply to 1,000 wrong keys')
}

test('two servers on the same stores', async ({ databaseUrl, redisUrl }) => {
  await using folder = await openTempFolder()
  using one = await startServer(databaseUrl, redisUrl, folder.path)
  using other = await startServer(databaseUrl, redisUrl, folder.path)
  const works = async (program: Asked, key: string) => {
    const { status } = await program.ask('GET', '/api/health', { key })
    return status === 200
  }

  // Revoked on one server, a key is invalid there at once and elsewhere within a second.
  const first = await makeKey(one, [])
  expect([await works(one, first.key), await works(other, first.key)]).toEqual([true, true])
  await one.ask('POST', `${keys}/revoke/${first.identifier}`)
  const revokedAtMs = Date.now()
  expect(await works(one, first.key)).toBe(false)
  await waitFor(async () => !(await works(other, first.key)), {
    deadlineMs: lateMs,
    what: 'the revocation to work'
  })
  expect(Date.now() - revokedAtMs).toBeLessThan(lateMs)

  // After too many wrong keys, only cached keys are checked.
  const known = await makeKey(one, [])
  expect(await works(other, known.key)).toBe(true)
  const limited = await flood(other)
  expect(limited.body).toMatchObject({ code: 429, type: 'RateLimitExceededException', success: false })
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(await works(other, known.key)).toBe(true)
})

/** Authorizes a method of a route that any key may call. */
function openGate(sql: Sql) {
  const empty = { body: Buffer.from('[]'), etag: 'W/"none"', position: null }
  const live = {
    get: () => undefined,
    find: () => undefined,
    all: () => [],
    document: () => undefined,
    publicList: () => empty,
    list: () => empty,
    onChange: () => () => {},
    catchUp: async () => {},
    health: () => ({ isCurrent: true, stations: 0 })
  }
  const authorize = openAuthorizer({ keys: openKeyChecker(sql), live, sql })
  const asked = {
    path: '/',
    params: {},
    query: new URLSearchParams(),
    body: undefined,
    isOwnPage: false,
    host: '',
    userAgent: '',
    caller: null,
    dialect: 'documented' as const,
    stream: null,
    headers: {},
    isOpen: () => true,
    onSettled: () => {}
  }
  return async (
    apiKey: string,
    address: string,
    {
      method = 'GET',
      access = 'any key',
      station = ''
    }: { method?: 'GET' | 'POST'; access?: 'any key' | 'playout key'; station?: string } = {}
  ) => {
    const route = { method, path: '/', access, handle: () => ({}) } as const
    return authorize(
      { ...asked, method, apiKey, address, params: station === '' ? {} : { station_id: station } },
      route
    )
  }
}

test('writes are limited by key, reads and other keys are not', async ({ sql }) => {
  const [busy, calm] = [generateApiKey(), generateApiKey()]
  for (const key of [busy, calm]) await storeApiKey(sql, key, { name: 'writer', permissions: [] })
  const ask = openGate(sql)
  const address = '192.0.2.1'
  const refusals: unknown[] = []
  let accepted = 0
  for (; accepted < 2_000 && refusals.length === 0; accepted++)
    await ask(busy, address, { method: 'POST' }).catch((error: unknown) => refusals.push(error))
  expect(refusals).toMatchObject([{ status: 429, retryAfterSeconds: 1 }])
  expect(accepted).toBeGreaterThan(500)
  await ask(busy, address)
  await ask(calm, address, { method: 'POST' })
  await waitFor(async () => ask(busy, address, { method: 'POST' }), {
    deadlineMs: 10_000,
    what: 'room for a write'
  })
})

test('a flood of wrong keys does not keep a revoked key valid', async ({ sql }) => {
  const key = generateApiKey()
  await storeApiKey(sql, key, { name: 'leaked', permissions: [] })
  const ask = openGate(sql)
  const exhaust = async (address: string) => {
    for (let left = 1_000; left > 0; left--) {
      const error: unknown = await ask('wrong', address).catch((reason: unknown) => reason)
      if (error instanceof TooManyRequests) return
    }
    throw new Error('the rate limit did not apply to 1,000 wrong keys')
  }
  await ask(key, '192.0.2.1')
  await exhaust('192.0.2.1')
  await ask(key, '192.0.2.1')
  await expect(ask(generateApiKey(), '192.0.2.1')).rejects.toThrow(TooManyRequests)
  await expect(ask(generateApiKey(), '192.0.2.2')).rejects.toMatchObject({ kind: 'not-logged-in' })
  await sql`update api_keys set revoked_at = now()`
  await waitFor(
    async () => {
      await exhaust('192.0.2.1')
      return ask(key, '192.0.2.1').then(
        () => false,
        () => true
      )
    },
    { deadlineMs: 10_000, what: 'the revocation to work in the flood' }
  )
})

test.for(['any key', 'playout key'] as const)(
  'addresses of one /64 share the limit of wrong keys (%s)',
  async (access, { sql }) => {
    const ask = openGate(sql)
    const refusalFrom = async (address: string): Promise<unknown> =>
      ask('wrong', address, { access }).catch((reason: unknown) => reason)
    for (let n = 0; n < 150; n++) await refusalFrom(`2001:db8:0:1:${n.toString(16)}::1`)
    expect(await refusalFrom('2001:db8:0:1:ffff::1')).toBeInstanceOf(TooManyRequests)
    expect(await refusalFrom('2001:db8:0:2::1')).toMatchObject({ status: 403 })
  }
)

test('a playout with the correct key is authorized despite wrong keys from its address', async ({ sql }) => {
  const id = await seedStation(sql)
  await sql`update stations set playout_key = ${hashPlayoutKey('right')} where id = ${id}`
  const ask = openGate(sql)
  const address = '192.0.2.77'
  const of = { access: 'playout key', station: String(id) } as const
  await ask('right', address, of)
  for (let n = 0; n < 150; n++) await ask('wrong', address, of).catch(() => {})
  await expect(ask('wrong', address, of)).rejects.toBeInstanceOf(TooManyRequests)
  await ask('right', address, of)
  await sql`update stations set playout_key = ${hashPlayoutKey('other')} where id = ${id}`
  await expect(ask('right', address, of)).rejects.toMatchObject({ status: 403 })
  await expect(ask('right', address, of)).rejects.toBeInstanceOf(TooManyRequests)
})

test('a key can read its effective permissions', async ({ program }) => {
  const id = await seedStation(program.sql)
  const own = { station: id, permissions: ['manage station broadcasting'] }
  const { body: made } = await program.ask('POST', keys, {
    body: { name: 'Reader', permissions: ['view all'], station_permissions: [own] }
  })
  const response = await program.ask('GET', `${keys}/current`, { key: made.key })
  expect(response).toMatchObject({
    status: 200,
    body: { status: 'success', api_key: { id: made.api_key.id } }
  })
  const { read, write, stations } = response.body.effective_permissions
  expect(read).toEqual(expect.arrayContaining(['view station management', 'manage station web hooks']))
  expect(write).toEqual(['view all'])
  const [at] = stations
  expect(stations).toHaveLength(1)
  expect(at).toMatchObject({ station: id, short_name: expect.any(String) })
  expect(at.write).toContain('manage station broadcasting')
  expect(at.write).not.toContain('manage station media')
  expect((await program.ask('GET', `${keys}/current`, { key: '' })).status).toBe(403)
})

test('a valid key is not charged as a wrong one while Postgres is away', async ({ databaseUrl, sql }) => {
  await using proxy = await openCuttableProxy(databaseUrl)
  const pool = openSql(proxy.url, { max: 2, name: 'keys' })
  onTestFinished(() => pool.end({ timeout: 1 }))
  const found = openKeyChecker(pool)
  const key = generateApiKey()
  await storeApiKey(sql, key, { name: 'clients', permissions: [], dialect: 'azuracast' })
  const address = '198.18.44.1'
  proxy.refuse(true)
  proxy.cut()
  const away = await Promise.all(Array.from({ length: 150 }, () => found.findDialect(key, address)))
  expect(new Set(away)).toEqual(new Set([null]))
  const asked = Array.from({ length: 150 }, () => found.findFrom(key, address))
  const refused = await Promise.allSettled(asked)
  expect(refused.filter(({ status }) => status === 'rejected')).toHaveLength(150)
  proxy.refuse(false)
  await waitFor(async () => (await found.findDialect(key, address)) === 'azuracast', {
    deadlineMs: 20_000,
    what: 'the dialect of the key'
  })
  expect(await found.findFrom(key, address)).toMatchObject({ name: 'clients' })
})
