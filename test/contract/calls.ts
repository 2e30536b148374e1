import { setTimeout as sleep } from 'node:timers/promises'

import { expect } from 'vitest'

import { type JsonBody, adminKey, type Program } from '../support/program.ts'
import { errorBody } from './records.ts'
import { differences } from './shape.ts'

interface CallOptions {
  readonly body?: unknown
  /** The API key, by default one with all permissions; empty for none. */
  readonly key?: string
}

export interface Called {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonBody
}

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Called>

/**
 * Sends a request to the running program. Fails unless the response has CORS headers, a request id, JSON and
 * the exact error body, and is not a 500. After a 429 it waits for Retry-After and repeats the request.
 */
export function openCalls(program: Program): Call {
  return async (method, path, { body, key = adminKey } = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await program.ask(method, path, body === undefined ? { key } : { body, key })
      expect(commonFaults(method, path, response), `${method} ${path} answered ${response.status}`).toEqual(
        []
      )
      if (response.status !== 429 || attempt === 20) return response
      await sleep(Number(response.headers.get('retry-after')) * 1000)
    }
  }
}

/** Fails with the response. */
export function expectStatus({ status, body }: Pick<Called, 'status' | 'body'>, wanted: number): void {
  expect(status, `answered ${JSON.stringify(body)}`).toBe(wanted)
}

/** The distinct top-level fields of an error. */
export function wrongFields(body: JsonBody): string[] {
  const errors: { field: string }[] = body.extra_data?.errors ?? []
  return [...new Set(errors.map(({ field }) => field.split('.')[0] ?? ''))]
}

/** Describes missing properties that every response with JSON must have. */
export function commonFaults(method: string, path: string, { status, headers, body }: Called): string[] {
  const found = [
    ...headerIs(headers, 'access-control-allow-origin', /^\*$/),
    ...headerIs(headers, 'access-control-expose-headers', /X-Total-Count, X-Request-Id, Link, Retry-After/),
    ...headerIs(headers, 'x-request-id', /^[A-Za-z0-9._-]{1,64}$/)
  ]
  if (status === 500) found.push('500: our fault')
  if (status === 429) found.push(...headerIs(headers, 'retry-after', /^[1-9]\d{0,2}$/))
  if (status === 405) found.push(...headerIs(headers, 'allow', /^[A-Z]+(, [A-Z]+)*$/))
  const isBare = method === 'HEAD' || status === 204 || status === 304
  if (isBare) return body === '' ? found : [...found, `a body where none may be: ${String(body)}`]
  found.push(...headerIs(headers, 'content-type', /^application\/json/))
  if (status >= 400) found.push(...differences(body, errorBody(status, path.startsWith('/api/v1/main'))))
  return found
}

function headerIs(headers: Headers, name: string, wanted: RegExp): string[] {
  const value = headers.get(name)
  return wanted.test(value ?? '') ? [] : [`header ${name}: ${value ?? 'missing'}, not like ${wanted}`]
}
