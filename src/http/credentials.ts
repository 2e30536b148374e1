import type { HttpRequest } from 'uWebSockets.js'

import { ApiError } from '../platform/runtime/errors.ts'
import { readApiKey } from './headers.ts'

/**
 * Marks a credential that came in the session cookie. Keys in headers and queries never have it, so that a
 * token of a session is valid in the cookie only.
 */
export const sessionPrefix = 'session:'

/** The credential for the token of a session cookie. */
const sessionCredential = (token: string): string => sessionPrefix + token

/** Whether a credential is a session. */
export const isSession = (credential: string): boolean => credential.startsWith(sessionPrefix)

interface CredentialOptions {
  /** The key in the query; empty where none is allowed. */
  readonly keyInQuery: string
  /** The name of the session cookie; empty: without sessions. */
  readonly sessionCookie: string
  /** Whether the request only reads. */
  readonly isSafe: boolean
  /** Whether the route requires a key or session. */
  readonly isKeyed: boolean
}

/**
 * The key in the query of a request, for clients that cannot set headers: an API key in `api_key`, or in `token` a
 * listen token or an API key.
 */
export const readQueryKey = (query: URLSearchParams): string =>
  query.get('api_key') || query.get('token') || ''

/**
 * Reads the key of a request or, without a key, the session of its cookie; empty without either. A session
 * counts only in requests of this server's own pages, and in requests that change something only with the
 * header `X-Requested-With`, which no form or link of another page can send. Throws 403 if it is missing.
 */
export function readCredential(
  req: HttpRequest,
  { keyInQuery, sessionCookie, isSafe, isKeyed }: CredentialOptions
): string {
  const key = readApiKey(req) || keyInQuery
  // A session in place of a key would be valid without the checks below.
  if (key !== '') return isSession(key) ? 'invalid' : key
  const cookies = sessionCookie === '' ? '' : req.getHeader('cookie')
  const token = cookies === '' ? '' : readCookie(cookies, sessionCookie)
  if (token === '' || !isSameOrigin(req)) return ''
  if (isSafe || req.getHeader('x-requested-with') !== '') return sessionCredential(token)
  if (isKeyed) throw new ApiError('forbidden', 'Requests with a session need the header X-Requested-With.')
  return ''
}

/** Throws 403 unless a request has the header `X-Requested-With` and comes from a page of this server. */
export function assertSameOrigin(req: HttpRequest): void {
  if (req.getHeader('x-requested-with') !== '' && isSameOrigin(req)) return
  throw new ApiError(
    'forbidden',
    'Only pages of this server may send this request, with the header X-Requested-With.'
  )
}

/**
 * Whether a request comes from a page of this server, from an address that a user entered, or from a program.
 * Browsers send `Sec-Fetch-Site` only to secure origins and to this machine; others send `Origin`.
 */
function isSameOrigin(req: HttpRequest): boolean {
  const site = req.getHeader('sec-fetch-site')
  if (site !== '') return site === 'same-origin' || site === 'none'
  const origin = req.getHeader('origin')
  // Behind a proxy with https, the scheme differs.
  return origin === '' || origin.replace(/^https?:\/\//, '') === req.getHeader('host')
}

/** Whether a request says that it comes from a page of this server. */
export const isFromOwnPage = (req: HttpRequest): boolean => req.getHeader('x-requested-with') === 'cuewire'

/** Returns the value of a cookie in a `Cookie` header; empty if there is none. */
export function readCookie(header: string, name: string): string {
  for (const part of header.split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return ''
}
