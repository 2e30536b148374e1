import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import type { JsonBody } from '../support/program.ts'
import { waitFor } from '../support/wait.ts'

// HTTP behavior of the streams, and acceptance check 17 for the endpoints without push.

const forgotten = { deadlineMs: 10_000, what: 'the key to be forgotten' }

describe('HTTP behavior of the streams', () => {
  const streamHeaders = {
    'cache-control': 'private, no-cache, no-store, no-transform, must-revalidate, max-age=0',
    pragma: 'no-cache',
    'x-accel-buffering': 'no',
    'access-control-allow-origin': 'https://widget.example',
    'access-control-allow-credentials': 'true'
  }
  const headersOf = (response: Response, names: readonly string[]) =>
    Object.fromEntries(names.map(name => [name, response.headers.get(name)]))

  test.for([
    ['GET', 'sse?cf_connect=%7B%7D', 'text/event-stream; charset=utf-8'],
    ['GET', 'sse', 'text/event-stream; charset=utf-8'],
    ['POST', 'sse', 'text/event-stream; charset=utf-8'],
    ['POST', 'http_stream', 'application/json']
  ] as const)('%s %s has the headers of a stream', async ([method, path, type], { stage }) => {
    const life = new AbortController()
    const response = await fetch(`${stage.baseUrl}/api/live/nowplaying/${path}`, {
      method,
      headers: { Origin: 'https://widget.example', 'Accept-Encoding': 'gzip, br' },
      ...(method === 'POST' ? { body: '{}' } : {}),
      signal: life.signal
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')?.replace(/; charset=utf-8$/, '')).toBe(type.split(';')[0])
    expect(type.includes('charset') ? response.headers.get('content-type') : type).toBe(type)
    expect(headersOf(response, Object.keys(streamHeaders))).toEqual(streamHeaders)
    expect(headersOf(response, ['content-encoding', 'content-length'])).toEqual({
      'content-encoding': null,
      'content-length': null
    })
    life.abort()
  })

  test.for([
    ['GET', 'http_stream'],
    ['PUT', 'http_stream'],
    ['DELETE', 'http_stream'],
    ['PUT', 'sse'],
    ['DELETE', 'sse']
  ] as const)('405: %s %s', async ([method, path], { stage }) => {
    const response = await fetch(`${stage.baseUrl}/api/live/nowplaying/${path}`, {
      method,
      headers: { Origin: 'https://widget.example' }
    })
    expect(response.status).toBe(405)
    expect(await response.json()).toMatchObject({ code: 405, success: false })
    expect(response.headers.get('allow')).toMatch(/POST/)
    expect(response.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/widget\.example)$/)
  })

  test.for(['sse', 'http_stream'])('a preflight of %s is answered', async (path, { stage }) => {
    const response = await fetch(`${stage.baseUrl}/api/live/nowplaying/${path}`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://widget.example', 'Access-Control-Request-Method': 'POST' }
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-methods')).toMatch(/POST/)
    expect(response.headers.get('access-control-allow-headers')?.toLowerCase()).toMatch(/content-type/)
  })

  test('a page of another origin can read an error', async ({ stage }) => {
    const response = await fetch(`${stage.baseUrl}/api/live/nowplaying/sse?cf_connect=junk`, {
      headers: { Origin: 'https://widget.example' }
    })
    expect(response.status).toBe(400)
    expect(response.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/widget\.example)$/)
    expect(await response.json()).toMatchObject({ code: 400, success: false })
  })

  const refusals: [method: string, query: string, body: string | undefined, message: string][] = [
    ['GET', 'delay=61', undefined, 'delay must be a number of seconds from 0 to 60.'],
    [
      'GET',
      'cf_connect=junk',
      undefined,
      'cf_connect must be a subscribe message, such as {"subs": {"station:1": {}}}.'
    ],
    ['POST', '', 'junk', 'The body must be a subscribe message, such as {"subs": {"station:1": {}}}.']
  ]
  test.for(refusals)('%s ?%s with the body %s is refused with a message', async (refusal, { stage }) => {
    const [method, query, body = null, message] = refusal
    const response = await fetch(`${stage.baseUrl}/api/live/nowplaying/sse?${query}`, { method, body })
    expect(await response.json()).toMatchObject({ code: 400, message })
  })

  test('a plain GET of the WebSocket address fails without hanging', async ({ stage }) => {
    const response = await fetch(`${stage.baseUrl}/api/live/nowplaying/websocket`, {
      signal: AbortSignal.timeout(2_000)
    })
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(response.status).toBeLessThan(500)
  })
})

describe('acceptance 17: private stations are hidden on every endpoint', () => {
  test('REST and static files hide the stations that push hides', async ({ stage }) => {
    const hidden = await stage.put({ profile: { isPublic: false } })
    const paths = [
      `/api/nowplaying/${hidden.id}`,
      `/api/nowplaying/${hidden.shortName}`,
      `/api/station/${hidden.id}/nowplaying`,
      `/api/nowplaying_static/${hidden.shortName}.json`
    ]
    const { key, revoke } = await stage.makeKey()
    for (const path of paths) {
      expect((await stage.server.ask('GET', path, { key: '' })).status).toBe(404)
      expect((await stage.server.ask('GET', path, { key })).status).toBe(200)
    }
    const list = async (asKey: string): Promise<number[]> =>
      (await stage.server.ask('GET', '/api/nowplaying', { key: asKey })).body.map(
        ({ station }: JsonBody) => station.id
      )
    expect(await list('')).not.toContain(hidden.id)
    expect(await list(key)).toContain(hidden.id)
    await revoke()
    const isShut = async () => (await stage.server.ask('GET', paths[0] ?? '', { key })).status === 404
    await waitFor(isShut, forgotten)
  })
})
