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
 * The whole name of a cookie. With https, browsers accept the prefix `__Host-` from this host only, so no other host of
 * the domain can set it.
 */
export const cookieName = (baseUrl: string, name: string): string =>
  baseUrl.startsWith('https:') ? `__Host-${name}` : name

/** Renders `Set-Cookie` for a cookie that scripts cannot read and other sites do not send. */
export function renderCookie(baseUrl: string, name: string, value: string, days: number): string {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(baseUrl, name)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${days * 86_400}${secure}`
}

const name = 'cuewire_session'

/** The name of the session cookie. */
export const sessionCookieName = (baseUrl: string): string => cookieName(baseUrl, name)

/** Renders `Set-Cookie` for a new session, or (null) for the end of one. */
export const renderSessionCookie = (baseUrl: string, token: string | null): string =>
  renderCookie(baseUrl, name, token ?? '', token === null ? 0 : sessionMaxDays)
