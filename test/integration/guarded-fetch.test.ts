import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'

import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { FetchFault, guardedFetch, type GuardedRequest } from '../../src/platform/outbound/guarded-fetch.ts'
import { toNetworkList } from '../../src/platform/outbound/networks.ts'
import { findFreePort } from '../../src/platform/process/ports.ts'
import { version } from '../../src/platform/process/program-files.ts'
import { startFullBacklogServer } from '../support/full-backlog-server.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startSilentServer } from '../support/silent-server.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'

const loopback = toNetworkList(['127.0.0.0/8', '::1'])
const none = toNetworkList([])

const get = (url: string, request: Partial<GuardedRequest> = {}) =>
  guardedFetch(url, { allowed: loopback, ...request })

/** Returns the fault of a request that fails. */
async function faultOf(url: string, request: Partial<GuardedRequest> = {}): Promise<FetchFault> {
  const error: unknown = await get(url, request).catch((thrown: unknown) => thrown)
  if (error instanceof FetchFault) return error
  throw new Error('there was no fault', { cause: error })
}

describe('a request', () => {
  test('is sent unchanged, and its response is returned with any status', async () => {
    await using server = await startWebServer()
    server.respondWith((_, response) => response.writeHead(418, { 'X-Tea': 'green' }).end('short and stout'))
    const result = await get(`${server.url}/pot?size=2#lid`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain', 'X-Hook': '1' },
      body: 'Grüße'
    })
    expect(result).toMatchObject({ status: 418, headers: { 'x-tea': 'green' } })
    expect(result.body.toString()).toBe('short and stout')
    expect(server.asked).toMatchObject([
      {
        method: 'POST',
        path: '/pot?size=2',
        headers: {
          'content-type': 'text/plain',
          'content-length': '7',
          'x-hook': '1',
          'accept-encoding': 'identity',
          'user-agent': `Cuewire/${version}`,
          connection: 'close'
        },
        body: 'Grüße'
      }
    ])
  })

  test('sends the given name as Host', async () => {
    await using server = await startWebServer()
    const { status } = await get(`http://localhost:${server.port}/`, {
      headers: { Host: 'other.example', 'Accept-Encoding': 'gzip', 'User-Agent': 'Other' }
    })
    expect(status).toBe(200)
    expect(server.asked[0]?.headers).toMatchObject({
      host: `localhost:${server.port}`,
      'accept-encoding': 'identity',
      'user-agent': 'Other'
    })
  })

  test('sends the name in TLS (SNI)', async () => {
    const greetings: Buffer[] = []
    await using server = await startScriptedServer((socket, bytes) => {
      greetings.push(bytes)
      socket.end('this is no TLS')
    })
    const fault = await faultOf(`https://localhost:${server.port}/`)
    expect(fault.word).toBe('tls')
    expect(fault.message).toMatch(/^The certificate of the server is not trusted \(\w+\)\.$/)
    expect(greetings.map(greeting => greeting.includes('localhost'))).toEqual([true])
  })

  test('leaves no open connection', async () => {
    await using server = await startSilentServer()
    const fault = await faultOf(`http://127.0.0.1:${server.port}/`, { timeoutMs: 100 })
    expect(fault).toMatchObject({ word: 'timeout', message: 'The server did not answer in time.' })
    await waitFor(() => server.open() === 0, { deadlineMs: 5_000, what: 'the connection to be closed' })
  })
})

test('connecting times out before the request does', async () => {
  await using server = await startFullBacklogServer()
  // Two connections fill the backlog; further ones get no answer.
  const waiting = [1, 2, 3, 4].map(() => connect(server.port, '127.0.0.1'))
  const connected = () => waiting.filter(socket => !socket.connecting).length
  await waitFor(() => connected() >= 2, { deadlineMs: 5_000, what: 'a full queue' })
  const fault = await faultOf(`http://127.0.0.1:${server.port}/`, { timeoutMs: 60_000 })
  expect(fault.word).toBe('timeout')
  for (const socket of waiting) socket.destroy()
})

test('proxies of the environment are ignored', async () => {
  await using proxy = await startWebServer()
  await using server = await startWebServer()
  for (const name of ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'])
    vi.stubEnv(name, proxy.url)
  vi.stubEnv('NODE_USE_ENV_PROXY', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect((await get(`http://localhost:${server.port}/`)).status).toBe(200)
  expect([server.asked.length, proxy.asked]).toEqual([1, []])
})

describe('no connection is made', () => {
  test.for([
    [
      'http://127.0.0.1:PORT/',
      'must not lead to a private or special address, unless WEBHOOK_ALLOWED_NETWORKS contains it.'
    ],
    [
      'http://2130706433:PORT/',
      'must not lead to a private or special address, unless WEBHOOK_ALLOWED_NETWORKS contains it.'
    ],
    [
      'http://[::ffff:127.0.0.1]:PORT/',
      'must not lead to a private or special address, unless WEBHOOK_ALLOWED_NETWORKS contains it.'
    ],
    // Detected by the DNS lookup.
    [
      'http://localhost:PORT/',
      'must not lead to a private or special address, unless WEBHOOK_ALLOWED_NETWORKS contains it.'
    ],
    ['http://user:secret@localhost:PORT/', 'must not contain a user or password.'],
    ['ftp://localhost:PORT/', 'must begin with http:// or https://.'],
    ['http://localhost:25/', 'must use port 80, 443, or 1024 and above.'],
    ['secret', 'must be a URL.']
  ] as const)('for %s', async ([url, sentence]) => {
    await using server = await startWebServer()
    const fault = await faultOf(url.replace('PORT', String(server.port)), { allowed: none })
    expect(fault).toMatchObject({ word: 'blocked', status: 0, message: `The address ${sentence}` })
    expect(server.asked).toEqual([])
  })

  test('for a name with one forbidden address among allowed ones', async () => {
    await using server = await startWebServer()
    // Also if `localhost` has no IPv6 address.
    const fault = await faultOf(`http://localhost:${server.port}/`, { allowed: toNetworkList(['::1']) })
    expect(fault.word).toBe('blocked')
    expect(server.asked).toEqual([])
  })

  test('to the target of a redirect', async () => {
    await using target = await startWebServer()
    await using server = await startWebServer()
    for (const status of [301, 302, 303, 307, 308, 304]) {
      server.respondWith((_, response) => response.writeHead(status, { Location: target.url }).end())
      expect(await faultOf(server.url)).toMatchObject({ word: 'redirect', status })
      expect(await get(server.url, { whenRedirected: 'return' })).toMatchObject({
        status,
        headers: { location: target.url }
      })
    }
    expect(target.asked).toEqual([])
  })
})

describe('a response', () => {
  const whole = Buffer.alloc(1_000, 'x')

  test('with a too large Content-Length is refused immediately', async () => {
    await using server = await startWebServer()
    server.respondWith((_, response) => void response.writeHead(200, { 'Content-Length': 1_001 }).write('x'))
    expect(await faultOf(server.url, { maxBytes: 1_000 })).toMatchObject({ word: 'too_large', status: 200 })
  })

  test('that turns out too large is refused', async () => {
    await using server = await startWebServer()
    server.respondWith((_, response) => {
      const more = () => {
        while (response.write(whole));
      }
      response.on('drain', more)
      more()
    })
    expect((await faultOf(server.url, { maxBytes: 100_000 })).word).toBe('too_large')
    const { body } = await get(server.url, { maxBytes: 100_000, whenTooLarge: 'truncate' })
    expect(body.length).toBe(100_000)
  })

  test('may be as large as the limit', async () => {
    await using server = await startWebServer()
    server.respondWith((_, response) => void response.end(whole))
    expect((await get(server.url, { maxBytes: 1_000 })).body).toEqual(whole)
    server.respondWith((_, response) => {
      response.write(whole.subarray(1))
      response.end('x')
    })
    expect((await get(server.url, { maxBytes: 1_000 })).body).toEqual(whole)
  })

  test('that is incomplete is refused', async () => {
    await using server = await startWebServer()
    server.respondWith((_, response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('x')
      setImmediate(() => response.destroy())
    })
    expect(await faultOf(server.url)).toMatchObject({
      word: 'refused',
      message: 'The connection failed (ECONNRESET).'
    })
  })

  test('that is not HTTP is refused', async () => {
    await using server = await startScriptedServer(socket => socket.end('ICY 200 OK\r\n\r\n'))
    expect((await faultOf(`http://127.0.0.1:${server.port}/`)).word).toBe('http')
  })

  test.for(['Connection: Upgrade\r\nUpgrade: chat\r\n', ''])(
    'that switches protocols is refused: %j',
    async header => {
      await using server = await startScriptedServer(socket =>
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${header}\r\n`)
      )
      expect((await faultOf(server.url)).word).toBe('http')
      await waitFor(() => server.open() === 0, { deadlineMs: 5_000, what: 'the connection to be closed' })
    }
  )

  test('may follow informational responses, which are ignored', async () => {
    await using server = await startScriptedServer(socket =>
      socket.write(
        'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' +
          'HTTP/1.1 204 No Content\r\n\r\n'
      )
    )
    expect(await get(server.url)).toMatchObject({ status: 204, body: Buffer.alloc(0) })
  })

  test('is the first one, and the connection is closed', async () => {
    await using server = await startScriptedServer(socket =>
      socket.write(
        'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok' +
          'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n'
      )
    )
    const { status, body } = await get(server.url)
    expect([status, String(body)]).toEqual([200, 'ok'])
    await waitFor(() => server.open() === 0, { deadlineMs: 5_000, what: 'the connection to be closed' })
  })

  test('is not decompressed', async () => {
    const packed = gzipSync(Buffer.alloc(10_000_000))
    await using server = await startWebServer()
    server.respondWith((_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(packed))
    expect((await get(server.url, { maxBytes: 20_000 })).body).toEqual(packed)
  })

  test('may come in chunks of one byte', async () => {
    await using server = await startScriptedServer(
      socket => void socket.write(`${chunked}${'1\r\nx\r\n'.repeat(500_000)}0\r\n\r\n`)
    )
    const { body } = await get(server.url, { maxBytes: 500_000, timeoutMs: 30_000 })
    expect(body.equals(Buffer.alloc(500_000, 'x'))).toBe(true)
  })
})

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

/** What a server sends first, and then repeatedly. */
const endless: [what: string, first: string, again: string][] = [
  ['informational responses', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
  ['100 Continue responses', '', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['a status line', 'HTTP/1.1 200 ', 'x'],
  ['a header', 'HTTP/1.1 200 OK\r\nX: ', 'x'],
  ['headers', 'HTTP/1.1 200 OK\r\n', 'X: y\r\n'],
  ['a chunk extension', `${chunked}1;`, 'x'],
  ['long extensions of short chunks', chunked, `1;${'x'.repeat(10_000)}\r\nx\r\n`],
  ['trailers', `${chunked}0\r\n`, 'X: y\r\n']
]

describe('an endless response', () => {
  test.for(endless)('at full speed: %s', async ([, first, again]) => {
    await using server = await startScriptedServer(socket => {
      socket.write(first)
      const piece = again.repeat(Math.ceil(20_000 / again.length))
      const more = () => {
        while (!socket.destroyed && socket.write(piece));
      }
      socket.on('drain', more)
      more()
    })
    const limits = { maxBytes: 65_536, whenTooLarge: 'truncate', timeoutMs: 20_000 } as const
    expect((await faultOf(server.url, limits)).word).toMatch(/^(http|too_large)$/)
    await waitFor(() => server.open() === 0, { deadlineMs: 5_000, what: 'the connection to be closed' })
  })

  const slow: typeof endless = [
    ...endless,
    ['a chunked body', chunked, '1\r\nx\r\n'],
    ['a body with a Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n', 'x'],
    ['a body until the connection is closed', 'HTTP/1.1 200 OK\r\n\r\n', 'x'],
    ['empty lines', '', '\r\n'],
    ['no bytes', '', '']
  ]

  test.for(slow)('byte by byte: %s', async ([, first, again]) => {
    await using server = await startScriptedServer(socket => {
      socket.write(first)
      let sent = 0
      const drip = setInterval(() => socket.write(again.charAt(sent++ % again.length)), 5)
      socket.once('close', () => clearInterval(drip))
    })
    const limits = { maxBytes: 65_536, whenTooLarge: 'truncate', timeoutMs: 200 } as const
    expect((await faultOf(server.url, limits)).word).toBe('timeout')
    await waitFor(() => server.open() === 0, { deadlineMs: 5_000, what: 'the connection to be closed' })
  })

  test('a TLS handshake times out', async () => {
    await using server = await startSilentServer()
    expect((await faultOf(`https://localhost:${server.port}/`, { timeoutMs: 200 })).word).toBe('timeout')
    await waitFor(() => server.open() === 0, { deadlineMs: 5_000, what: 'the connection to be closed' })
  })

  test('a server that does not read times out', async () => {
    await using server = await startScriptedServer(socket => socket.pause())
    const sent = { method: 'POST', body: Buffer.alloc(50_000_000), timeoutMs: 500 }
    expect((await faultOf(server.url, sent)).word).toBe('timeout')
  })
})

test('a closed port and an unknown name fail', async () => {
  const refused = await faultOf(`http://127.0.0.1:${await findFreePort()}/?token=secret`)
  expect(refused).toMatchObject({ word: 'refused', message: 'The connection failed (ECONNREFUSED).' })
  const unknown = await faultOf('http://nowhere.invalid/?token=secret')
  expect(unknown.message).toMatch(/^The name of the server is not known \(E\w+\)\.$/)
})

describe('an aborted request', () => {
  const reason = new Error('shutting down')

  test('rejects with the reason, and the connection is closed', async () => {
    await using server = await startSilentServer()
    const giving = new AbortController()
    const asked = get(`http://127.0.0.1:${server.port}/`, { signal: giving.signal })
    await waitFor(() => server.open() === 1, { deadlineMs: 5_000, what: 'the connection' })
    giving.abort(reason)
    await expect(asked).rejects.toBe(reason)
    await waitFor(() => server.open() === 0, { deadlineMs: 5_000, what: 'the connection to be closed' })
  })

  test('rejects before anything is sent', async () => {
    await using server = await startWebServer()
    const signal = AbortSignal.abort(reason)
    await expect(get(server.url, { signal })).rejects.toBe(reason)
    await expect(get(`http://localhost:${server.port}`, { signal })).rejects.toBe(reason)
    expect(server.asked).toEqual([])
  })
})

test('an invalid header is not a fault of the server', async () => {
  await using server = await startWebServer()
  await expect(get(server.url, { headers: { 'X-Bad': 'a\nb' } })).rejects.toBeInstanceOf(TypeError)
})
