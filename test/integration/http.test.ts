import net from 'node:net'
import { tmpdir } from 'node:os'
import { Writable } from 'node:stream'

import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'

import { jsonReply } from '../../src/api/core/route.ts'
import type { ReceivedRequest, Reply, RoutedRequest, Route } from '../../src/http/route.ts'
import { type ServeOptions, serveRoutes } from '../../src/http/serve.ts'
import { openUwsApp, listenOnPort } from '../../src/http/uws.ts'
import { openNamelessFileSync } from '../../src/library/uploads/transient-content.ts'
import { findFreePort } from '../../src/platform/process/ports.ts'
import { ApiError } from '../../src/platform/runtime/errors.ts'
import { OperatorError } from '../../src/platform/runtime/operator-error.ts'
import { waitFor } from '../support/wait.ts'

type Seen = (RoutedRequest & ReceivedRequest)[]

interface TestRoute extends Route {
  readonly handle: (request: RoutedRequest & ReceivedRequest, seen: Seen) => Reply | Promise<Reply>
}

const large = 'x'.repeat(3 * 1024 * 1024)

const routes: TestRoute[] = [
  { method: 'GET', path: '/now', access: 'public', handle: () => jsonReply({ now: 1 }) },
  { method: 'GET', path: '/large', access: 'public', handle: async () => jsonReply(large) },
  { method: 'GET', path: '/keyed', access: 'view administration', handle: () => jsonReply([]) },
  {
    method: 'GET',
    path: '/cached',
    access: 'view administration',
    handle: () => ({ body: 'hi', headers: { 'cache-control': 'max-age=1', 'content-type': 'text/plain' } })
  },
  {
    method: 'GET',
    path: '/echo/:name',
    access: 'public',
    handle: request => jsonReply({ ...request.params, query: [...request.query] })
  },
  {
    method: 'GET',
    path: '/unchanged',
    access: 'public',
    handle: () => ({ status: 304, body: 'never sent' })
  },
  {
    method: 'GET',
    path: '/injected',
    access: 'public',
    handle: () => ({ status: 302, headers: { Location: '/a\r\nX-Evil: 1' } })
  },
  {
    method: 'GET',
    path: '/broken',
    access: 'public',
    handle: () => {
      throw new Error('the secret of the house')
    }
  },
  {
    method: 'GET',
    path: '/rejected',
    access: 'public',
    handle: async () => {
      throw new Error('the secret of the house')
    }
  },
  {
    method: 'POST',
    path: '/broken/:key',
    access: 'public',
    handle: () => {
      throw new Error('nothing to say')
    }
  },
  { method: 'GET', path: '/never', access: 'public', handle: async () => new Promise(() => {}) },
  {
    method: 'POST',
    path: '/echo/:name',
    access: 'view administration',
    handle: (request, seen) => {
      seen.push(request)
      return jsonReply({ got: request.body ?? null })
    }
  },
  {
    method: 'POST',
    path: '/bytes',
    access: 'public',
    byteTypes: ['image/png', 'image/gif'],
    maxBodyBytes: 8,
    handle: ({ body }) => jsonReply(body instanceof Uint8Array ? [...body] : 'no bytes')
  },
  {
    method: 'POST',
    path: '/bytes/streamed',
    access: 'public',
    isStreamed: true,
    handle: async ({ stream }) => {
      while (((await stream?.read()) ?? null) !== null);
      return jsonReply('read')
    }
  }
]

/** Starts a server with the routes above on a free port. The key `good` has all permissions. */
async function serve(options: Partial<ServeOptions<TestRoute>> = {}) {
  const seen: Seen = []
  const lines: string[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    }
  })
  const app = openUwsApp()
  serveRoutes(app, routes, {
    admit: (request, { access, handle }) => {
      const admitted = { handle: (received: ReceivedRequest) => handle({ ...request, ...received }, seen) }
      return access === 'public' ? admitted : checkKey(request).then(() => admitted)
    },
    addressOf: address => address,
    corsOrigins: ['*'],
    log: pino(sink),
    openSpool: () => openNamelessFileSync({ DATA_DIR: tmpdir() }),
    ...options
  })
  const { port } = await listenOnPort(app, '127.0.0.1', 0, { exclusive: true })
  onTestFinished(() => void app.close())
  const base = `http://127.0.0.1:${port}`
  const post = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${base}/echo/a`, {
      method: 'POST',
      body,
      headers: { 'X-API-Key': 'good', 'Content-Type': 'application/json', ...headers }
    })
  return { base, port, seen, lines, post }
}

async function checkKey({ apiKey }: RoutedRequest): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  if (apiKey !== 'good') throw new ApiError('not-logged-in')
}

/** Sends raw bytes. Returns all received bytes once the connection is idle or closed. */
async function talk(port: number, text: string, isDone: (response: string) => boolean): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write(text, 'latin1')
  let response = ''
  for await (const chunk of socket.setEncoding('latin1')) {
    response += String(chunk)
    if (isDone(response)) break
  }
  return response
}

const errorKeys = ['code', 'type', 'message', 'formatted_message', 'extra_data', 'success']

test('a response is JSON with CORS headers and a request id', async () => {
  const { base } = await serve()
  const response = await fetch(`${base}/now`)
  expect(await response.json()).toEqual({ now: 1 })
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(response.headers.get('cache-control')).toBeNull()
})

test('a valid request id is kept, another is replaced', async () => {
  const { base } = await serve()
  const idOf = async (id: string) =>
    (await fetch(`${base}/now`, { headers: { 'X-Request-Id': id } })).headers.get('x-request-id')
  expect(await idOf('abc.DEF_1-2')).toBe('abc.DEF_1-2')
  expect(await idOf('a b')).not.toBe('a b')
  expect(await idOf('a'.repeat(65))).not.toContain('aaa')
})

test('HEAD is GET without a body, and the connection stays open', async () => {
  const { port } = await serve()
  const both = 'HEAD /now HTTP/1.1\r\nHost: x\r\n\r\nGET /now HTTP/1.1\r\nHost: x\r\n\r\n'
  const response = await talk(port, both, text => text.endsWith('{"now":1}'))
  const [head = '', ...rest] = response.split('\r\n\r\n')
  expect(head).toContain('HTTP/1.1 200 OK')
  expect(head).toContain('Content-Length: 9')
  expect(rest[0]).toContain('HTTP/1.1 200 OK')
})

test.for([
  ['collected', ''],
  ['streamed', '/streamed']
] as const)('the time of a request is counted from the end of a body that is %s', async ([, path]) => {
  const noted: number[] = []
  const { port } = await serve({ slowLog: { thresholdMs: 0, note: (_, ms) => noted.push(ms) } })
  const socket = net.connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const type = path === '' ? 'image/png' : 'application/octet-stream'
  socket.write(
    `POST /bytes${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 2\r\n\r\na`
  )
  const pauseMs = 400
  const startedAtMs = performance.now()
  await waitFor(() => performance.now() - startedAtMs > pauseMs, { deadlineMs: 5_000, what: 'a slow client' })
  socket.write('b')
  await waitFor(() => noted.length === 1, { deadlineMs: 5_000, what: 'the response' })
  expect(noted[0]).toBeLessThan(pauseMs)
})

test('304 has no body, and the connection stays open', async () => {
  const { port } = await serve()
  const both = 'GET /unchanged HTTP/1.1\r\nHost: x\r\n\r\nGET /now HTTP/1.1\r\nHost: x\r\n\r\n'
  const response = await talk(port, both, text => text.endsWith('{"now":1}'))
  expect(response).toMatch(/^HTTP\/1\.1 304 Not Modified/)
  expect(response).not.toContain('never sent')
})

test('OPTIONS returns the allowed methods and headers', async () => {
  const { base } = await serve()
  const response = await fetch(`${base}/keyed`, { method: 'OPTIONS' })
  expect(response.status).toBe(204)
  expect(response.headers.get('access-control-allow-methods')).toBe(
    'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
  )
  expect(response.headers.get('access-control-allow-headers')).toContain('x-api-key')
  expect(response.headers.get('access-control-max-age')).toBe('86400')
})

test('with a list of origins only these are echoed', async () => {
  const { base } = await serve({ corsOrigins: ['https://a.example'] })
  const from = async (origin: string) => fetch(`${base}/nowhere`, { headers: { Origin: origin } })
  const known = await from('https://a.example')
  expect(known.headers.get('access-control-allow-origin')).toBe('https://a.example')
  expect(known.headers.get('vary')).toBe('Origin')
  const unlisted = await from('https://b.example')
  expect(unlisted.headers.get('access-control-allow-origin')).toBeNull()
  expect(unlisted.headers.get('vary')).toBe('Origin')
})

test.each([
  ['GET', '/nowhere', 404, 'NotFoundException'],
  ['POST', '/nowhere', 404, 'NotFoundException'],
  ['OPTIONS', '/nowhere', 404, 'NotFoundException'],
  ['GET', '/echo/%zz', 404, 'NotFoundException'],
  ['GET', '/echo/a%2Fb/c', 404, 'NotFoundException'],
  ['DELETE', '/echo/a', 405, 'HttpMethodNotAllowedException'],
  ['PATCH', '/keyed', 405, 'HttpMethodNotAllowedException'],
  ['GET', '/keyed', 403, 'NotLoggedInException'],
  ['POST', '/echo/a', 403, 'NotLoggedInException']
])('%s %s is answered %d in the error shape', async (method, path, status, type) => {
  const { base } = await serve()
  const response = await fetch(base + path, { method })
  expect(response.status).toBe(status)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const body = Object(await response.json())
  expect(Object.keys(body)).toEqual(errorKeys)
  expect(body).toMatchObject({ code: status, type, success: false, extra_data: {} })
})

test('405 lists the methods of the path', async () => {
  const { base } = await serve()
  const response = await fetch(`${base}/echo/a`, { method: 'DELETE' })
  expect(response.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
})

test('parameters and queries are decoded, also an invalid query', async () => {
  const { base } = await serve()
  const response = await fetch(`${base}/echo/a%2Fb%20c?x=%zz&y=1+2`)
  expect(await response.json()).toEqual({
    name: 'a/b c',
    query: [
      ['x', '%zz'],
      ['y', '1 2']
    ]
  })
})

test('keyed responses are not cacheable unless the handler sets it', async () => {
  const { base } = await serve()
  const headers = { Authorization: 'bearer good' }
  expect((await fetch(`${base}/keyed`, { headers })).headers.get('cache-control')).toBe('no-store')
  const cached = await fetch(`${base}/cached`, { headers })
  expect(cached.headers.get('cache-control')).toBe('max-age=1')
  expect(cached.headers.get('content-type')).toBe('text/plain')
})

test('a header value cannot inject headers', async () => {
  const { base } = await serve()
  const response = await fetch(`${base}/injected`, { redirect: 'manual' })
  expect(response.headers.get('x-evil')).toBeNull()
})

test.each(['/broken', '/rejected'])(
  'an exception on %s is logged and answered with 500 without details',
  async path => {
    const { base, lines } = await serve()
    const response = await fetch(base + path)
    expect(response.status).toBe(500)
    const request = response.headers.get('x-request-id')
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ code: 500, extra_data: { request_id: request } })
    expect(text).not.toContain('secret')
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      request,
      path,
      err: { message: 'the secret of the house' }
    })
  }
)

test('a key in a path is logged without its secret', async () => {
  const { base, lines } = await serve()
  const secret = 'fedcba98765432100123456789abcdef'
  for (const colon of [':', '%3A'])
    await fetch(`${base}/broken/0123456789abcdef${colon}${secret}`, { method: 'POST' })
  expect(lines.map(line => JSON.parse(line).path)).toEqual(Array(2).fill('/broken/0123456789abcdef'))
  expect(lines.join('')).not.toContain(secret)
})

test('a handler that never settles is answered with 503', async () => {
  const { base } = await serve({ handlerTimeoutMs: 50 })
  expect((await fetch(`${base}/never`)).status).toBe(503)
})

test('a client may disconnect while a handler runs', async () => {
  const { base } = await serve({ handlerTimeoutMs: 50 })
  await expect(fetch(`${base}/never`, { signal: AbortSignal.timeout(10) })).rejects.toThrow('aborted')
  expect((await fetch(`${base}/never`)).status).toBe(503)
  expect((await fetch(`${base}/now`)).status).toBe(200)
})

test('a large response arrives completely', async () => {
  const { base } = await serve()
  expect(await (await fetch(`${base}/large`)).json()).toBe(large)
  const head = await fetch(`${base}/large`, { method: 'HEAD' })
  expect(head.headers.get('content-length')).toBe(String(large.length + 2))
})

test('a body is parsed, with a length or chunked', async () => {
  const { post, port } = await serve()
  expect(await (await post('{"a":"é"}')).json()).toEqual({ got: { a: 'é' } })
  expect(await (await post('')).json()).toEqual({ got: null })
  const chunked =
    'POST /echo/a HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nTransfer-Encoding: chunked\r\n\r\n' +
    '3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n'
  expect(await talk(port, chunked, text => text.endsWith('}}'))).toContain('{"got":{"a":1}}')
})

test('a route for bytes receives them unchanged, and no other types', async () => {
  const { base } = await serve()
  const send = async (body: string | Uint8Array<ArrayBuffer>, type: string) => {
    const response = await fetch(`${base}/bytes`, { method: 'POST', body, headers: { 'Content-Type': type } })
    return [response.status, await response.json()]
  }
  const bytes = Uint8Array.of(0, 0xff, 0x22, 0xc0)
  expect(await send(bytes, 'image/png')).toEqual([200, [...bytes]])
  expect(await send('{}', 'Image/GIF; x=1')).toEqual([200, [0x7b, 0x7d]])
  expect(await send('', 'image/png')).toEqual([200, 'no bytes'])
  expect(await send(new Uint8Array(9), 'image/png')).toMatchObject([413, { code: 413 }])
  for (const type of ['application/json', 'image/jpeg', 'application/octet-stream', ''])
    expect(await send('{}', type)).toMatchObject([
      415,
      { message: 'The body must be one of image/png, image/gif.' }
    ])
})

test.each([
  ['{"a":', {}, 400, 'ValidationException'],
  [Uint8Array.of(0x22, 0xff, 0x22), {}, 400, 'ValidationException'],
  ['a=1', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415, 'UnsupportedMediaTypeException'],
  [JSON.stringify('x'.repeat(1024 * 1024)), {}, 413, 'PayloadTooLargeException'],
  [JSON.stringify('x'.repeat(8 * 1024 * 1024)), {}, 413, 'PayloadTooLargeException'],
  ['{"a":', { 'X-API-Key': 'bad' }, 403, 'NotLoggedInException']
])('body %# is refused and never handled', async (body, headers, status, type) => {
  const { post, seen } = await serve()
  const response = await post(body, headers)
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ code: status, type })
  expect(seen).toEqual([])
})

test('a body that is too large is refused while it is sent, and the client is asked to close the connection', async () => {
  const { port } = await serve()
  const announced =
    'POST /echo/a HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nContent-Length: 5000000000\r\n\r\n{'
  const response = await talk(port, announced, text => text.endsWith('}'))
  expect(response).toContain('413 Payload Too Large')
  expect(response).toContain('Connection: close')
})

test('a body that does not arrive times out', async () => {
  const { port, seen } = await serve({ bodyTimeoutMs: 50 })
  const slow = 'POST /echo/a HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nContent-Length: 10\r\n\r\n{"a"'
  expect(await talk(port, slow, text => text.endsWith('}'))).toContain('408 Request Timeout')
  expect(seen).toEqual([])
})

test('a client may disconnect during its body', async () => {
  const { port, base, seen } = await serve()
  const socket = net.connect(port, '127.0.0.1')
  socket.write('POST /echo/a HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nContent-Length: 10\r\n\r\n{"a"')
  await fetch(`${base}/now`)
  socket.destroy()
  expect((await fetch(`${base}/now`)).status).toBe(200)
  expect(seen).toEqual([])
})

test('a port in use is explained', async () => {
  const { port } = await serve()
  const app = openUwsApp()
  onTestFinished(() => void app.close())
  const attempt = listenOnPort(app, '127.0.0.1', port, { exclusive: true })
  await expect(attempt).rejects.toThrow(OperatorError)
  await expect(attempt).rejects.toThrow(`PORT ${port} is in use on 127.0.0.1`)
})

test('two apps can share a port', async () => {
  const first = openUwsApp()
  const second = openUwsApp()
  onTestFinished(() => {
    first.close()
    second.close()
  })
  const port = await findFreePort()
  await listenOnPort(first, '127.0.0.1', port, { exclusive: false })
  const again = await listenOnPort(second, '127.0.0.1', port, { exclusive: false })
  expect(again.port).toBe(port)
  again.close()
  again.close()
})
