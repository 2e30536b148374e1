import type { Reply } from '../../http/route.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { withoutLostCharacters } from '../../platform/text/foreign-text.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { type DeviceUser, findKnownDeviceId, renderKnownDeviceCookie } from '../auth/known-devices.ts'
import { renderSessionCookie, sessionIdleDays, sessionMaxDays } from '../auth/session-cookie.ts'
import { generateToken, parseToken } from '../auth/tokens.ts'
import { actionRoute } from '../core/actions.ts'
import { parsePathId } from '../core/parse.ts'
import { actionReply, type ApiRequest, apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, boolean, exactObject, int64, schemaRef, string, unixSeconds } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

export const accountTag = 'Account'
/** A user has at most this many sessions; a new one ends the least recently used one. */
const maxSessions = 50
const maxAgentLength = 300

/** The user of a request. Throws 404 for a key that belongs to no user. */
export function getRequestUser({ caller }: ApiRequest): {
  readonly id: number
  readonly sessionId: number | null
} {
  const user = caller?.key?.user
  if (!user) throw new ApiError('not-found', 'This API key belongs to no user.')
  return user
}

/** The user who has signed in. Throws 403 for an API key, which must not manage the sign-in of its user. */
export function getSignedInUser(request: ApiRequest): { readonly id: number; readonly sessionId: number } {
  const { id, sessionId } = getRequestUser(request)
  if (sessionId === null) throw new ApiError('forbidden', 'Sign in to do this: an API key is not enough.')
  return { id, sessionId }
}

/** Signs a user in. Returns the token for the cookie. */
export async function startSignInSession(
  tx: Tx,
  userId: number,
  { address, userAgent }: Pick<ApiRequest, 'address' | 'userAgent'>
): Promise<string> {
  const token = generateToken()
  const parsed = parseToken(token)
  if (!parsed) throw new Error('malformed token')
  await tx`
    delete from sessions where user_id = ${userId} and id in (
      select id from sessions where user_id = ${userId} order by last_used_at desc offset ${maxSessions - 1})`
  await tx`
    insert into sessions (user_id, identifier, verifier, expires_at, address, user_agent)
    values (${userId}, ${parsed.identifier}, ${parsed.verifier}, now() + make_interval(days => ${sessionMaxDays}),
      ${address}, ${withoutLostCharacters(userAgent.replace(/\p{Cc}/gu, '')).slice(0, maxAgentLength)})`
  await tx`update users set last_sign_in_at = now() where id = ${userId}`
  return token
}

/** Ends the sessions of a user, except for one. */
export async function endSignInSessions(tx: Sql | Tx, userId: number, exceptId: number | null = null) {
  await tx`delete from sessions where user_id = ${userId} and id is distinct from ${exceptId}`
}

/** The response to a sign-in. */
export const signedInSchema = exactObject({ user: exactObject({ id: int64, email: string, name: string }) })

type CookieServices = Pick<ApiServices, 'config' | 'secrets'>

/** Identifies the browser of a request in which the user has signed in before; null for any other one. */
export function findRequestDevice(
  { headers }: Pick<ApiRequest, 'headers'>,
  { config, secrets }: CookieServices,
  user: DeviceUser
): string | null {
  const id = findKnownDeviceId(secrets, config.BASE_URL, headers['cookie'] ?? '', user, Date.now())
  return id === null ? null : `device ${id}`
}

/**
 * Responds with the signed-in user, the cookie of the session, and that of the browser. The route needs the header
 * `cookie`.
 */
export async function renderSignedInReply(
  tx: Tx,
  { headers }: Pick<ApiRequest, 'headers'>,
  { config, secrets }: CookieServices,
  userId: number,
  token: string
): Promise<Reply> {
  const { BASE_URL: baseUrl } = config
  const [row] = await tx<{ id: number; email: string; name: string; hash: string | null }[]>`
    select id, email, name, password_hash as hash from users where id = ${userId}`
  if (!row) throw new ApiError('not-found')
  const { hash: passwordHash, ...user } = row
  const device = { id: userId, passwordHash }
  return {
    ...jsonReply({ user }),
    headers: { 'Cache-Control': 'no-store' },
    cookies: [
      renderSessionCookie(baseUrl, token),
      renderKnownDeviceCookie(secrets, baseUrl, headers['cookie'] ?? '', device, Date.now())
    ]
  }
}

/** Responds to the end of the session of the request. */
const signedOutReply = (baseUrl: string): Reply => ({
  ...actionReply('Signed out.'),
  headers: { 'Cache-Control': 'no-store' },
  cookies: [renderSessionCookie(baseUrl, null)]
})

const list = apiRoute('GET', '/api/frontend/account/sessions', 'any key', {
  id: 'listSessions',
  tag: accountTag,
  summary: 'Where the user is signed in',
  response: arrayOf(
    exactObject({
      id: int64,
      created_at: unixSeconds,
      last_used_at: unixSeconds,
      expires_at: unixSeconds,
      address: string,
      user_agent: string,
      is_current: boolean
    })
  ),
  async handle(request, { reads: sql }) {
    const { id, sessionId } = getRequestUser(request)
    const rows = await sql`
      select id, floor(extract(epoch from created_at))::bigint as created_at,
        floor(extract(epoch from last_used_at))::bigint as last_used_at,
        floor(extract(epoch from least(expires_at, last_used_at + make_interval(days => ${sessionIdleDays}))))::bigint
          as expires_at, address, user_agent, id is not distinct from ${sessionId}::bigint as is_current
      from sessions
      where user_id = ${id} and expires_at > now() and last_used_at > now() - make_interval(days => ${sessionIdleDays})
      order by sessions.last_used_at desc limit ${maxSessions}`
    return jsonReply(rows)
  }
})

const signOut = apiRoute('DELETE', '/api/frontend/account/session', 'any key', {
  id: 'signOut',
  tag: accountTag,
  summary: 'Sign out: end the session of the request',
  response: schemaRef('ActionResult'),
  async handle(request, { sql, keys, config }) {
    const { sessionId } = getSignedInUser(request)
    await sql`delete from sessions where id = ${sessionId}`
    keys.forget(({ user }) => user?.sessionId === sessionId)
    return signedOutReply(config.BASE_URL)
  }
})

const signOutEverywhere = actionRoute('DELETE', '/api/frontend/account/sessions', 'any key', {
  id: 'signOutEverywhere',
  tag: accountTag,
  summary: 'Sign out everywhere: end all sessions of the user',
  prepare(request, { keys, config }) {
    const { id } = getSignedInUser(request)
    return async tx => {
      await endSignInSessions(tx, id)
      return {
        audit: [{ record: 'Session', id: '*' }],
        reply() {
          keys.forget(({ user }) => user?.id === id)
          return signedOutReply(config.BASE_URL)
        }
      }
    }
  }
})

const end = actionRoute('DELETE', '/api/frontend/account/session/:id', 'any key', {
  id: 'endSession',
  tag: accountTag,
  summary: 'End a session of the user',
  prepare(request, { keys }) {
    const user = getSignedInUser(request)
    const id = parsePathId(request.params['id'])
    return async tx => {
      const [ended] = await tx<{ name: string }[]>`
        delete from sessions where id = ${id} and user_id = ${user.id} returning user_agent as name`
      if (!ended) throw new ApiError('not-found')
      return {
        audit: [{ record: 'Session', id, name: ended.name }],
        reply() {
          keys.forget(key => key.user?.sessionId === id)
          return actionReply('Session ended.')
        }
      }
    }
  }
})

export const signInSessionRoutes = [list, signOut, signOutEverywhere, end]
