import { setTimeout as sleep } from 'node:timers/promises'

import type { Json } from './document.ts'
import type { Received } from './judge.ts'

export interface SendOptions {
  readonly query?: Readonly<Record<string, string | number>> | undefined
  /** JSON, or a form. */
  readonly body?: Json
  readonly key?: string | undefined
  /** The cookie of a session, in place of the key. */
  readonly cookie?: string | undefined
  /** Whether redirects are followed, as players follow those of pictures and files. */
  readonly follows?: boolean
}

export type Send = (method: string, path: string, options?: SendOptions) => Promise<Received>

const responseMs = 30_000
const attempts = 20

/**
 * Sends requests below `/api` of a server with a key. After 429, and after 202 and 503 with `Retry-After`, it
 * waits and repeats the request.
 */
export function openClient(baseUrl: string, apiKey: string): Send {
  return async (method, path, { query = {}, body, key = apiKey, cookie, follows = false } = {}) => {
    const url = new URL(`${baseUrl}/api${path}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
    const isForm = body instanceof FormData
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(url, {
        method,
        redirect: follows ? 'follow' : 'manual',
        signal: AbortSignal.timeout(responseMs),
        headers: {
          Accept: 'application/json',
          ...(cookie === undefined
            ? { 'X-API-Key': key }
            : { Cookie: cookie, 'X-Requested-With': 'coverage' }),
          ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' })
        },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) })
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      const retryAfter = Number(response.headers.get('retry-after') ?? 0)
      if (attempt < attempts && retryAfter > 0 && [202, 429, 503].includes(response.status)) {
        await sleep(Math.min(retryAfter, 10) * 1_000)
        continue
      }
      const type = response.headers.get('content-type') ?? ''
      return { status: response.status, type, bytes: bytes.length, json: parseJson(type, bytes) }
    }
  }
}

/** Signs in. Returns the cookie of the session; undefined if that is refused. */
export async function signIn(baseUrl: string, email: string, password: string): Promise<string | undefined> {
  const response = await fetch(`${baseUrl}/api/frontend/account/session`, {
    method: 'POST',
    signal: AbortSignal.timeout(responseMs),
    headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'coverage' },
    body: JSON.stringify({ email, password })
  })
  return response.headers.getSetCookie()[0]?.split(';')[0]
}

function parseJson(type: string, bytes: Buffer): Json {
  if (!type.includes('json')) return undefined
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
