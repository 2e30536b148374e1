import { isSession, sessionPrefix } from '../../http/credentials.ts'
import { parseToken, type ParsedToken } from './tokens.ts'

/** A session ends this long after its last request, and this long after the sign-in. */
export const sessionIdleDays = 7
export const sessionMaxDays = 30

/** Parses the credential of a session. Null for keys and malformed tokens. */
export function parseSessionToken(credential: string): ParsedToken | null {
  return isSession(credential) ? parseToken(credential.slice(sessionPrefix.length)) : null
}

/**
 * The name of the session cookie. With https, browsers accept the prefix `__Host-` from this host only, so no
 * other host of the domain can set it.
 */
export function sessionCookieName(baseUrl: string): string {
  return baseUrl.startsWith('https:') ? '__Host-cuewire_session' : 'cuewire_session'
}

/** Renders `Set-Cookie` for a new session, or (null) for the end of one. */
export function renderSessionCookie(baseUrl: string, token: string | null): string {
  const maxAge = token === null ? 0 : sessionMaxDays * 86_400
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
  const name = sessionCookieName(baseUrl)
  return `${name}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`
}
