import { randomInt } from 'node:crypto'

import { describe, expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import {
  anyAddress,
  anyEmail,
  call,
  createUser,
  password,
  roleId,
  signedIn,
  signIn
} from '../support/people.ts'
import { adminKey, type JsonBody, startServer } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep, sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const account = '/api/frontend/account'
/** The tolerance for a second on a busy machine. */
const lateMs = sized({ quick: 10_000, deep: 1_500 })

describe('sessions', () => {
  test('a session cookie is HttpOnly, SameSite=Strict and has the permissions of the roles', async ({
    program
  }) => {
    const { email, id } = await createUser(program)
    const response = await call(program, 'POST', `${account}/session`, { body: { email, password } })
    expect(response.setCookie).toMatch(
      /^cuewire_session=[0-9a-f]{16}\.[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/
    )
    expect(response.body).toEqual({ user: { id, email, name: 'Anna' } })
    const { cookie } = response
    const me = await call(program, 'GET', `${account}/me`, { cookie })
    expect(me.body).toMatchObject({
      id,
      email,
      is_me: true,
      roles: [{ name: 'Read-only' }],
      has_password: true
    })
    expect((await call(program, 'GET', '/api/admin/users', { cookie })).status).toBe(200)
    const { status, body } = await call(program, 'POST', '/api/admin/users', { cookie, body: {} })
    expect([status, body.type]).toEqual([403, 'PermissionDeniedException'])
  })

  test('only a hash of the token is stored', async ({ program }) => {
    const { cookie } = await signedIn(program)
    const [, token = ''] = cookie.split('=')
    const rows = await program.sql`select s::text as text from sessions s`
    expect(JSON.stringify(rows)).not.toContain(token.split('.')[1])
  })

  test('a session ends when it is signed out, everywhere, or by another session', async ({ program }) => {
    const { email, cookie } = await signedIn(program)
    const others = [await signIn(program, email), await signIn(program, email)]
    const works = async (each: string) =>
      (await call(program, 'GET', `${account}/me`, { cookie: each })).status === 200
    const { body } = await call(program, 'GET', `${account}/sessions`, { cookie })
    expect(body.length).toBe(3)
    expect(body.filter((each: JsonBody) => each.is_current).length).toBe(1)
    const other = body.find((each: JsonBody) => !each.is_current)
    await call(program, 'DELETE', `${account}/session/${other.id}`, { cookie })
    expect((await Promise.all(others.map(works))).filter(Boolean).length).toBe(1)
    const out = await call(program, 'DELETE', `${account}/session`, { cookie })
    expect(out.setCookie).toMatch(/^cuewire_session=; .*Max-Age=0/)
    expect(await works(cookie)).toBe(false)
    const again = await signIn(program, email)
    await call(program, 'DELETE', `${account}/sessions`, { cookie: again })
    expect(await Promise.all([again, ...others].map(works))).toEqual([false, false, false])
  })

  test('a session of another user cannot be ended', async ({ program }) => {
    const [one, other] = [await signedIn(program), await signedIn(program)]
    const { body } = await call(program, 'GET', `${account}/sessions`, { cookie: other.cookie })
    const { status } = await call(program, 'DELETE', `${account}/session/${body[0].id}`, {
      cookie: one.cookie
    })
    expect(status).toBe(404)
  })

  test.for(['expires_at', 'last_used_at'] as const)('a session expires: %s', async (column, { program }) => {
    const { id, cookie } = await signedIn(program)
    await program.sql`update sessions set ${program.sql({ [column]: new Date(Date.now() - 7.1 * 86_400_000) })}
      where user_id = ${id}`
    await waitFor(async () => (await call(program, 'GET', `${account}/me`, { cookie })).status === 403, {
      deadlineMs: lateMs,
      what: 'the session to expire'
    })
  })

  test('a key wins over the cookie, and a token is not a key', async ({ program }) => {
    const { cookie } = await signedIn(program)
    const [, token = ''] = cookie.split('=')
    for (const key of [token, `session:${token}`, 'wrong']) {
      expect((await call(program, 'GET', `${account}/me`, { key, cookie })).status).toBe(403)
      const { status } = await call(program, 'GET', `/api/health?api_key=${encodeURIComponent(key)}`)
      expect(status).toBe(403)
    }
    expect((await call(program, 'GET', `${account}/me`, { key: adminKey, cookie })).status).toBe(404)
  })

  test('a private station is visible with a session, and its page contains no token', async ({ program }) => {
    const [station, other] = [await seedStation(program.sql), await seedStation(program.sql)]
    await program.sql`update stations set is_public = false where id in ${program.sql([station, other])}`
    const { cookie } = await signedIn(program, { role: 'DJ', stations: [station] })
    const path = `/api/station/${station}/queue`
    await waitFor(async () => (await call(program, 'GET', path, { cookie })).status === 200, {
      deadlineMs: lateMs,
      what: 'the station'
    })
    expect((await call(program, 'GET', `/api/station/${other}/queue`, { cookie })).status).toBe(404)
    expect((await call(program, 'PUT', `/api/admin/station/${station}`, { cookie, body: {} })).status).toBe(
      403
    )
  })
})

describe('requests of other pages', () => {
  const foreign = [
    { 'X-Requested-With': '' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.example.com' },
    { Origin: 'null' }
  ]

  test.for(foreign)('change nothing: %o', async (headers, { program }) => {
    const { email, cookie } = await signedIn(program, { role: 'Administrator' })
    const body = { name: 'Mallory' }
    expect((await call(program, 'PUT', `${account}/me`, { cookie, headers, body })).status).toBe(403)
    const { body: me } = await call(program, 'GET', `${account}/me`, { cookie })
    expect(me.name).toBe('Anna')
    const login = await call(program, 'POST', `${account}/session`, { headers, body: { email, password } })
    expect([login.status, login.setCookie]).toEqual([403, ''])
  })

  test.for(foreign.slice(1))('read nothing: %o', async (headers, { program }) => {
    const { cookie } = await signedIn(program)
    expect((await call(program, 'GET', `${account}/me`, { cookie, headers })).status).toBe(403)
  })

  test('are not allowed to send credentials', async ({ program }) => {
    for (const path of [`${account}/me`, `${account}/session`]) {
      const { headers } = await fetch(program.baseUrl + path, {
        method: 'OPTIONS',
        headers: { Origin: 'https://evil.example.com' }
      })
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
  })
})

describe('signing in', () => {
  test('the response does not reveal whether an account exists', async ({ program }) => {
    const { email } = await createUser(program)
    const ask = (address: string, secret: string) =>
      call(program, 'POST', `${account}/session`, { body: { email: address, password: secret } })
    const wrong = await ask(email, 'wrong')
    expect(wrong.status).toBe(400)
    expect(wrong.body).toEqual((await ask(anyEmail(), 'wrong')).body)
  })

  test.for([true, false])(
    'wrong passwords lock an account for the address that sent them (exists: %s)',
    async (exists, { program }) => {
      const email = exists ? (await createUser(program)).email : anyEmail()
      const from = anyAddress()
      const attempt = (secret: string, address = from) =>
        call(program, 'POST', `${account}/session`, { body: { email, password: secret }, from: address })
      const statuses: number[] = []
      for (let index = 0; index < 12; index++) statuses.push((await attempt('wrong')).status)
      expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 400))
      expect(statuses.at(-1)).toBe(429)
      const locked = await attempt(password)
      expect([locked.status, locked.setCookie]).toEqual([429, ''])
      expect((await attempt(password, anyAddress())).status).toBe(exists ? 200 : 400)
    }
  )

  test('spellings that Postgres reads as the same address count together', async ({ program }) => {
    const email = `i${anyEmail()}`
    const [row] = await program.sql<{ same: boolean }[]>`
      select lower(${email.replace('i', '\u0130')}) = lower(${email}) as same`
    const from = anyAddress()
    const attempt = (spelling: string) =>
      call(program, 'POST', `${account}/session`, { body: { email: spelling, password: 'wrong' }, from })
    for (let index = 0; index < 10; index++) expect((await attempt(email)).status).toBe(400)
    expect((await attempt(email.toUpperCase())).status).toBe(429)
    expect((await attempt(email.replace('i', '\u0130'))).status).toBe(row?.same ? 429 : 400)
  })

  test('an IPv6 network of 64 bits counts as one address', async ({ program }) => {
    const { email } = await createUser(program)
    const network = `2001:db8:${randomInt(65_536).toString(16)}:${randomInt(65_536).toString(16)}`
    const attempt = (secret: string, from: string) =>
      call(program, 'POST', `${account}/session`, { body: { email, password: secret }, from })
    const statuses = []
    for (let index = 1; index <= 11; index++)
      statuses.push((await attempt('wrong', `${network}::${index}`)).status)
    expect(statuses.at(-1)).toBe(429)
    expect((await attempt(password, anyAddress())).status).toBe(200)
  })

  test.runIf(isDeep)(
    'wrong passwords from many addresses delay the right one and do not lock it out',
    async ({ program }) => {
      const { email } = await createUser(program)
      const attempt = (secret: string) =>
        call(program, 'POST', `${account}/session`, { body: { email, password: secret } })
      const startedMs = performance.now()
      const wrong = await Promise.all(Array.from({ length: 24 }, () => attempt('wrong')))
      expect(wrong.map(({ status }) => status)).toEqual(Array.from({ length: 24 }, () => 400))
      // Four of them waited for their turn, two seconds each.
      expect(performance.now() - startedMs).toBeGreaterThan(6_000)
      const guesses = Array.from({ length: 6 }, () => attempt('wrong'))
      const right = await attempt(password)
      expect(right.status).toBe(200)
      await Promise.all(guesses)
    }
  )

  test('a browser that has signed in before does not wait', async ({ program }) => {
    const { email } = await createUser(program)
    const attempt = (secret: string, cookie = '') =>
      call(program, 'POST', `${account}/session`, { body: { email, password: secret }, cookie })
    const first = await attempt(password)
    expect(first.device).toMatch(/^cuewire_device=[\w-]{70}$/)
    await Promise.all(Array.from({ length: 21 }, () => attempt('wrong')))
    const startedMs = performance.now()
    expect((await attempt(password, first.device)).status).toBe(200)
    expect(performance.now() - startedMs).toBeLessThan(1_500)
  })

  test('attempts are limited by address', async ({ program }) => {
    const from = anyAddress()
    const attempt = () =>
      call(program, 'POST', `${account}/session`, { body: { email: anyEmail(), password: 'wrong' }, from })
    const statuses = []
    for (let index = 0; index < 25; index++) statuses.push((await attempt()).status)
    expect(statuses).toContain(429)
  })

  test('an email address is found in any case, and used once', async ({ program }) => {
    const { email } = await createUser(program)
    expect(await signIn(program, email.toUpperCase())).toMatch(/^cuewire_session=/)
    const body = { email: email.toUpperCase(), new_password: password }
    expect((await call(program, 'POST', '/api/admin/users', { key: adminKey, body })).status).toBe(409)
  })
})

describe('invitations', () => {
  const invite = async (program: { baseUrl: string }, options: object = {}, key = adminKey, cookie = '') => {
    const roles = [await roleId(program, 'DJ')]
    const { body } = await call(program, 'POST', '/api/admin/invitations', {
      key,
      cookie,
      body: { roles, ...options }
    })
    const token: string = body.link?.split('#/join/')[1] ?? ''
    return { token, invitation: body.invitation }
  }
  const join = (program: { baseUrl: string }, token: string, body: object = {}) =>
    call(program, 'POST', `${account}/join`, { body: { token, email: anyEmail(), password, ...body } })

  test('an invited person chooses a password and has access', async ({ program }) => {
    const station = await seedStation(program.sql)
    const { token, invitation } = await invite(program, { name: 'Ben', stations: [station] })
    const shown = await call(program, 'POST', `${account}/invitation`, { body: { token } })
    expect(shown.body).toMatchObject({ name: 'Ben', roles: ['DJ'] })
    const { status, cookie } = await join(program, token, { name: 'Ben' })
    expect(status).toBe(200)
    const me = await call(program, 'GET', `${account}/me`, { cookie })
    expect(me.body).toMatchObject({ name: 'Ben', roles: [{ name: 'DJ' }], stations: [station] })
    const { body } = await call(program, 'GET', '/api/admin/invitations', { key: adminKey })
    expect(body.find((each: JsonBody) => each.id === invitation.id).accepted_at).toBeGreaterThan(0)
    expect(JSON.stringify(body)).not.toContain(token)
  })

  test('an invitation that was used, revoked, has expired or was guessed is refused', async ({ program }) => {
    const used = await invite(program)
    expect((await join(program, used.token)).status).toBe(200)
    const revoked = await invite(program)
    await call(program, 'DELETE', `/api/admin/invitation/${revoked.invitation.id}`, { key: adminKey })
    const expired = await invite(program)
    await program.sql`update invitations set expires_at = now() where id = ${expired.invitation.id}`
    const { token } = await invite(program)
    const guessed = `${token.slice(0, 17)}${'0'.repeat(64)}`
    for (const each of [used.token, revoked.token, expired.token, guessed, 'x']) {
      expect((await join(program, each)).status).toBe(404)
      expect((await call(program, 'POST', `${account}/invitation`, { body: { token: each } })).status).toBe(
        404
      )
    }
  })

  test('an invitation gives no more than its maker may give when it is accepted', async ({ program }) => {
    const administrator = await roleId(program, 'Administrator')
    const dj = await roleId(program, 'DJ')
    const { cookie, id } = await signedIn(program, { role: 'Administrator' })
    const { token, invitation } = await invite(program, {}, '', cookie)
    expect(invitation).toMatchObject({ roles: [{ name: 'DJ' }], exceeds_inviter: false })
    const made = await call(program, 'POST', '/api/v1/main/api-keys', {
      key: adminKey,
      body: { name: anyEmail(), permissions: ['administer all'] }
    })
    const byKey = await invite(program, {}, made.body.key)
    const isListedAsValid = async () => {
      const { body } = await call(program, 'GET', '/api/admin/invitations', { key: adminKey })
      return body.find((each: JsonBody) => each.id === invitation.id).exceeds_inviter === false
    }
    const change = (body: object) => call(program, 'PUT', `/api/admin/user/${id}`, { key: adminKey, body })
    const expectRefused = async (each: string) => {
      for (const path of ['invitation', 'join', 'join/passkey']) {
        const body = { token: each, email: anyEmail(), password }
        const response = await call(program, 'POST', `${account}/${path}`, { body })
        expect([path, response.status, response.body.message]).toEqual([
          path,
          404,
          expect.stringContaining('may not give these permissions any more')
        ])
      }
    }
    await change({ roles: [dj] })
    await expectRefused(token)
    expect(await isListedAsValid()).toBe(false)
    await change({ roles: [administrator] })
    expect(await isListedAsValid()).toBe(true)
    expect((await call(program, 'POST', `${account}/invitation`, { body: { token } })).status).toBe(200)
    await call(program, 'DELETE', `/api/admin/user/${id}`, { key: adminKey })
    await expectRefused(token)
    expect(await isListedAsValid()).toBe(false)
    await call(program, 'POST', `/api/v1/main/api-keys/revoke/${made.body.key.split(':')[0]}`, {
      key: adminKey
    })
    await expectRefused(byKey.token)
  })

  test('of concurrent uses one succeeds', async ({ program }) => {
    const { token } = await invite(program)
    const statuses = await Promise.all(Array.from({ length: 4 }, () => join(program, token)))
    expect(statuses.filter(({ status }) => status === 200).length).toBe(1)
    expect(statuses.filter(({ status }) => status === 404).length).toBe(3)
  })

  test('a short password and a taken address leave the invitation open', async ({ program }) => {
    const { email } = await createUser(program)
    const { token } = await invite(program)
    const short = await join(program, token, { password: 'short' })
    expect(short.body.extra_data.errors).toMatchObject([{ field: 'password' }])
    const missing = await join(program, token, { password: '' })
    expect(missing.body.extra_data.errors).toMatchObject([{ field: 'password', code: 'required' }])
    expect((await join(program, token, { email })).status).toBe(409)
    // Before the browser creates a passkey, which would remain on the device.
    const offers = [{ email }, { password: 'short' }, { name: 1 }, {}].map(async body => {
      const response = await call(program, 'POST', `${account}/join/passkey`, {
        body: { token, email: anyEmail(), ...body }
      })
      return [response.status, response.body.extra_data?.errors[0].field]
    })
    expect(await Promise.all(offers)).toEqual([
      [409, 'email'],
      [400, 'password'],
      [400, 'name'],
      [200, undefined]
    ])
    expect((await join(program, token)).status).toBe(200)
  })
})

describe('nobody grants more than they have', () => {
  test('a manager of people without all permissions', async ({ program }) => {
    const role = await call(program, 'POST', '/api/admin/roles', {
      key: adminKey,
      body: { name: anyEmail(), permissions: { global: ['administer settings', 'view station reports'] } }
    })
    const { cookie, id } = await signedIn(program, { roles: [role.body.id] })
    const administrator = await roleId(program, 'Administrator')
    const { id: adminId } = await createUser(program, { role: 'Administrator' })
    const { id: viewer } = await createUser(program, { roles: [role.body.id] })
    const refused: [string, string, object][] = [
      ['POST', '/api/admin/users', { email: anyEmail(), new_password: password, roles: [administrator] }],
      ['POST', '/api/admin/invitations', { roles: [administrator] }],
      ['PUT', `/api/admin/user/${id}`, { roles: [administrator] }],
      ['PUT', `/api/admin/user/${adminId}`, { new_password: 'a new password' }],
      ['DELETE', `/api/admin/user/${adminId}`, {}],
      ['POST', '/api/admin/roles', { name: anyEmail(), permissions: { global: ['manage station media'] } }],
      ['PUT', `/api/admin/role/${role.body.id}`, { permissions: { global: ['administer all'] } }]
    ]
    for (const [method, path, body] of refused)
      expect([path, (await call(program, method, path, { cookie, body })).status]).toEqual([path, 403])
    const allowed = { roles: [role.body.id] }
    expect((await call(program, 'PUT', `/api/admin/user/${viewer}`, { cookie, body: allowed })).status).toBe(
      200
    )
  })

  test('an administrator of one station manages nobody', async ({ program }) => {
    const station = await seedStation(program.sql)
    const { cookie } = await signedIn(program, { role: 'Administrator', stations: [station] })
    for (const path of ['/api/admin/users', '/api/admin/roles', '/api/admin/invitations'])
      expect((await call(program, 'GET', path, { cookie })).status).toBe(403)
    expect((await call(program, 'GET', `/api/station/${station}/queue`, { cookie })).status).toBe(200)
  })

  test('a limit to a deleted station remains', async ({ program }) => {
    const [station, other] = [await seedStation(program.sql), await seedStation(program.sql)]
    const { id } = await createUser(program, { role: 'DJ', stations: [station] })
    await program.sql`delete from stations where id = ${station}`
    const change = (stations: number[]) =>
      call(program, 'PUT', `/api/admin/user/${id}`, { key: adminKey, body: { stations } })
    expect((await change([station, other])).status).toBe(200)
    expect((await change([station, 999_999])).status).toBe(400)
  })

  test('the roles of the program cannot be changed', async ({ program }) => {
    const id = await roleId(program, 'DJ')
    for (const method of ['PUT', 'DELETE'])
      expect((await call(program, method, `/api/admin/role/${id}`, { key: adminKey, body: {} })).status).toBe(
        409
      )
  })
})

test('roles and users have errors at their fields', async ({ program }) => {
  const fieldsOf = async (path: string, body: object) => {
    const response = await call(program, 'POST', path, { key: adminKey, body })
    expect(response.status).toBe(400)
    return response.body.extra_data.errors.map((each: JsonBody) => each.field)
  }
  expect(await fieldsOf('/api/admin/users', { email: 'x', new_password: 'short' })).toEqual([
    'email',
    'new_password'
  ])
  expect(
    await fieldsOf('/api/admin/users', { email: anyEmail(), roles: [1, 999_999], stations: [999_999] })
  ).toEqual(['roles.1', 'stations.0'])
  expect(await fieldsOf('/api/admin/invitations', {})).toEqual(['roles'])
  const permissions = { global: ['fly'], station: [{ id: 999_999, permissions: ['view all'] }] }
  expect(await fieldsOf('/api/admin/roles', { name: 'x', permissions })).toEqual(['permissions.global.0'])
  expect(
    await fieldsOf('/api/admin/roles', { name: 'x', permissions: { ...permissions, global: [] } })
  ).toEqual(['permissions.station.0.id'])
})

test('a password change ends the other sessions and needs the current one', async ({ program }) => {
  const { email, cookie } = await signedIn(program)
  const other = await signIn(program, email)
  const change = (current: string) =>
    call(program, 'PUT', `${account}/password`, {
      cookie,
      body: { current_password: current, new_password: 'a new password' }
    })
  expect((await change('wrong')).body.extra_data.errors).toMatchObject([{ field: 'current_password' }])
  expect((await change(password)).status).toBe(200)
  expect((await call(program, 'GET', `${account}/me`, { cookie })).status).toBe(200)
  expect((await call(program, 'GET', `${account}/me`, { cookie: other })).status).toBe(403)
  await signIn(program, email, 'a new password')
})

test('changes are in the audit log with the name of the user', async ({ program }) => {
  const { email, cookie } = await signedIn(program, { role: 'Administrator' })
  await call(program, 'PUT', `${account}/me`, { cookie, body: { name: 'Carla' } })
  const { key } = (await call(program, 'POST', `${account}/api-keys`, { cookie, body: { name: 'script' } }))
    .body
  await call(program, 'POST', '/api/v1/main/news', { key, body: { title: 'x' } })
  const { body } = await call(program, 'GET', '/api/admin/auditlog?rowCount=50', { key: adminKey })
  const entries = body.rows.map((each: JsonBody) => `${each.key.name} ${each.record}`)
  expect(entries).toEqual(
    expect.arrayContaining([`${email} User`, `${email} ApiKey`, `script (${email}) Article`])
  )
})

test('the last administrator remains', async ({ databaseUrl, redisUrl }) => {
  await using folder = await openTempFolder()
  using server = await startServer(databaseUrl, redisUrl, folder.path)
  const { id, cookie } = await signedIn(server, { role: 'Administrator' })
  const dj = await roleId(server, 'DJ')
  const path = `/api/admin/user/${id}`
  expect((await call(server, 'DELETE', path, { cookie })).status).toBe(409)
  expect((await call(server, 'PUT', path, { cookie, body: { roles: [dj] } })).status).toBe(409)
  const { id: other } = await createUser(server, { role: 'Administrator' })
  expect((await call(server, 'PUT', path, { cookie, body: { roles: [dj] } })).status).toBe(200)
  expect((await call(server, 'DELETE', `/api/admin/user/${other}`, { key: adminKey })).status).toBe(409)
})

test('a change of a role acts on sessions and own keys at once, on two servers', async ({
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  using one = await startServer(databaseUrl, redisUrl, folder.path)
  using other = await startServer(databaseUrl, redisUrl, folder.path)
  const made = await call(one, 'POST', '/api/admin/roles', {
    key: adminKey,
    body: { name: 'Auditor', permissions: { global: ['view system logs'] } }
  })
  const { id, cookie } = await signedIn(one, { roles: [made.body.id] })
  const { key } = (await call(one, 'POST', `${account}/api-keys`, { cookie, body: { name: 'k' } })).body
  const mayRead = (server: { baseUrl: string }) =>
    Promise.all(
      [{ cookie }, { key }].map(
        async by => (await call(server, 'GET', '/api/admin/auditlog?rowCount=1', by)).status === 200
      )
    )
  expect([await mayRead(one), await mayRead(other)].flat()).toEqual([true, true, true, true])
  const changed = await call(one, 'PUT', `/api/admin/role/${made.body.id}`, {
    key: adminKey,
    body: { permissions: { global: ['view administration'] } }
  })
  expect(changed.status).toBe(200)
  expect(await mayRead(one)).toEqual([false, false])
  await waitFor(async () => !(await mayRead(other)).includes(true), {
    deadlineMs: lateMs,
    what: 'the change on the other server'
  })
  await call(one, 'DELETE', `/api/admin/user/${id}`, { key: adminKey })
  const gone = async () =>
    [{ cookie }, { key }].map(async by => (await call(other, 'GET', '/api/health', by)).status === 403)
  await waitFor(async () => (await Promise.all(await gone())).every(Boolean), {
    deadlineMs: lateMs,
    what: 'the user to be gone'
  })
})
