import { randomInt, randomUUID } from 'node:crypto'

import { askPlainly } from './plain-http.ts'
import { adminKey, type JsonBody } from './program.ts'

/** A server to sign in to. */
interface Server {
  readonly baseUrl: string
}

interface CallOptions {
  readonly body?: unknown
  readonly key?: string
  /** The session cookie, as `signIn` returns it. */
  readonly cookie?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: string
}

/** An address of its own, since attempts to sign in are limited by address. */
export const anyAddress = () => `198.19.${randomInt(256)}.${randomInt(256)}`

/** Sends a request as the dashboard does. */
export async function call(
  { baseUrl }: Server,
  method: string,
  path: string,
  { body, key = '', cookie = '', headers = {}, from = anyAddress() }: CallOptions = {}
): Promise<{ status: number; body: JsonBody; cookie: string; setCookie: string; device: string }> {
  const response = await askPlainly(baseUrl + path, {
    method,
    headers: {
      'X-Requested-With': 'cuewire',
      'X-Forwarded-For': from,
      ...(key === '' ? {} : { 'X-API-Key': key }),
      ...(cookie === '' ? {} : { Cookie: cookie }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers
    },
    body: body === undefined ? undefined : JSON.stringify(body)
  })
  const setCookie = response.headers['set-cookie']?.[0] ?? ''
  const device = response.headers['set-cookie']?.[1]?.split(';')[0] ?? ''
  const text = response.body.toString()
  return {
    status: response.status,
    body: JSON.parse(text),
    cookie: setCookie.split(';')[0] ?? '',
    setCookie,
    device
  }
}

export const anyEmail = () => `${randomUUID()}@example.com`
export const password = 'correct horse battery'

const account = '/api/frontend/account'

/** Finds the id of a role. */
export async function roleId(server: Server, name: string): Promise<number> {
  const { body } = await call(server, 'GET', '/api/admin/roles', { key: adminKey })
  return body.find((role: JsonBody) => role.name === name).id
}

interface NewPerson {
  readonly role?: string
  readonly roles?: readonly number[]
  readonly stations?: readonly number[]
}

/** Creates a user with a password. */
export async function createUser(server: Server, person: NewPerson = {}) {
  const { role = 'Read-only', stations = [] } = person
  const email = anyEmail()
  const roles = person.roles ?? [await roleId(server, role)]
  const user = { email, name: 'Anna', new_password: password, roles, stations }
  const { status, body } = await call(server, 'POST', '/api/admin/users', { key: adminKey, body: user })
  if (status !== 200) throw new Error(JSON.stringify(body))
  const id: number = body.id
  return { id, email }
}

/** Signs in with a password. Returns the cookie. */
export async function signIn(server: Server, email: string, secret = password): Promise<string> {
  const response = await call(server, 'POST', `${account}/session`, { body: { email, password: secret } })
  if (response.status !== 200) throw new Error(JSON.stringify(response.body))
  return response.cookie
}

/** Creates a user who has signed in. */
export async function signedIn(server: Server, person: NewPerson = {}) {
  const user = await createUser(server, person)
  return { ...user, cookie: await signIn(server, user.email) }
}
