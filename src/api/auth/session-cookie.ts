import { parseToken, type ParsedToken } from './tokens.ts'

/** A session ends this long after its last request, and this long after the sign-in. */
export const sessionIdleDays = 7
export const sessionMaxDays = 30

/**
 * Marks a credential that came in the session cookie. Keys in headers and queries never have it, so that a
 * token of a session is valid in the cookie only.
 */
const prefix = 'session:'

/** The credential for the token of a session cookie. */
export const sessionCredential = (token: string): string => prefix + token

/** Whether a credential is a session. */
export const isSession = (credential: string): boolean => credential.startsWith(prefix)

/** Parses the credential of a session. Null for keys and malformed tokens. */
export function parseSession(credential: string): ParsedToken | null {
  return isSession(credential) ? parseToken(credential.slice(prefix.length)) : null
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

/** Returns the value of a cookie in a `Cookie` header; empty if there is none. */
export function readCookie(header: string, name: string): string {
  for (const part of header.split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return ''
}
