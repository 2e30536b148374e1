import { createServer, type Socket } from 'node:net'

import { describe, expect, test } from 'vitest'

import { freePort } from '../../src/embedded/free-port.ts'
import { networkList } from '../../src/networks.ts'
import { version } from '../../src/version.ts'
import { FetchFault } from '../../src/webhooks/fetch-fault.ts'
import { guardedFetch, type GuardedRequest } from '../../src/webhooks/guarded-fetch.ts'
import { startSilentServer } from '../support/silent-server.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'

const loopback = networkList(['127.0.0.0/8', '::1'])
const none = networkList([])

const get = (url: string, request: Partial<GuardedRequest> = {}) =>
  guardedFetch(url, { allowed: loopback, ...request })

/** The fault of a request that must have one. */
async function faultOf(url: string, request: Partial<GuardedRequest> = {}): Promise<FetchFault> {
  const error: unknown = await get(url, request).catch((thrown: unknown) => thrown)
  if (error instanceof FetchFault) return error
  throw new Error('there was no fault', { cause: error })
}

/** A server that says these bytes to whoever connects, once it was sent something. */
async function startRawServer(say: (socket: Socket, heard: Buffer) => void) {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', heard => say(socket, heard))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

describe('a request', () => {
  test('is sent as it was meant, and its answer comes back whatever the status', async () => {
    await using server = await startWebServer()
    server.answer((_, response) => response.writeHead(418, { 'X-Tea': 'green' }).end('short and stout'))
    const answer = await get(`${server.url}/pot?size=2#lid`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain', 'X-Hook': '1' },
      body: 'Grüße'
    })
    expect(answer).toMatchObject({ status: 418, headers: { 'x-tea': 'green' } })
    expect(answer.body.toString()).toBe('short and stout')
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

  test('tells the name it was given, not the address, and no other one', async () => {
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

  test('tells the name in the greeting of TLS as well', async () => {
    const greetings: Buffer[] = []
    await using server = await startRawServer((socket, heard) => {
      greetings.push(heard)
      socket.end('this is no TLS')
    })
    const fault = await faultOf(`https://localhost:${server.port}/`)
    expect(fault.word).toBe('tls')
    expect(fault.message).toMatch(/^The server shows no certificate that can be trusted \(\w+\)\.$/)
    expect(greetings.map(greeting => greeting.includes('localhost'))).toEqual([true])
  })

  test('leaves no connection behind', async () => {
    await using server = await startSilentServer()
    const fault = await faultOf(`http://127.0.0.1:${server.port}/`, { timeoutMs: 100 })
    expect(fault).toMatchObject({ word: 'timeout', message: 'The server did not answer in time.' })
    await waitFor(() => server.open() === 0, { deadlineMs: 5_000, what: 'the connection to be closed' })
  })
})

describe('no connection is made', () => {
  test.for([
    ['http://127.0.0.1:PORT/', 'must not lead to a private or special address.'],
    ['http://2130706433:PORT/', 'must not lead to a private or special address.'],
    ['http://[::ffff:127.0.0.1]:PORT/', 'must not lead to a private or special address.'],
    // A name, of which only the look-up tells.
    ['http://localhost:PORT/', 'must not lead to a private or special address.'],
    ['http://user:secret@localhost:PORT/', 'must hold no user and password.'],
    ['ftp://localhost:PORT/', 'must begin with http:// or https://.'],
    ['http://localhost:25/', 'must have port 80, 443 or one from 1024 on.'],
    ['secret', 'must be an address (URL).']
  ] as const)('for %s', async ([url, sentence]) => {
    await using server = await startWebServer()
    const fault = await faultOf(url.replace('PORT', String(server.port)), { allowed: none })
    expect(fault).toMatchObject({ word: 'blocked', status: 0, message: `The address ${sentence}` })
    expect(server.asked).toEqual([])
  })

  test('for a name with one forbidden address among allowed ones', async () => {
    await using server = await startWebServer()
    // Where `localhost` has no IPv6 address, no part of it is allowed.
    const fault = await faultOf(`http://localhost:${server.port}/`, { allowed: networkList(['::1']) })
    expect(fault.word).toBe('blocked')
    expect(server.asked).toEqual([])
  })

  test('to where a redirect leads', async () => {
    await using target = await startWebServer()
    await using server = await startWebServer()
    for (const status of [301, 302, 303, 307, 308, 304]) {
      server.answer((_, response) => response.writeHead(status, { Location: target.url }).end())
      expect(await faultOf(server.url)).toMatchObject({ word: 'redirect', status })
    }
    expect(target.asked).toEqual([])
  })
})

describe('an answer', () => {
  const whole = Buffer.alloc(1_000, 'x')

  test('that says it is too long is refused before it comes', async () => {
    await using server = await startWebServer()
    server.answer((_, response) => void response.writeHead(200, { 'Content-Length': 1_001 }).write('x'))
    expect(await faultOf(server.url, { maxBytes: 1_000 })).toMatchObject({ word: 'too_large', status: 200 })
  })

  test('that turns out too long is refused, however far it would go', async () => {
    await using server = await startWebServer()
    server.answer((_, response) => {
      const more = () => {
        while (response.write(whole));
      }
      response.on('drain', more)
      more()
    })
    expect((await faultOf(server.url, { maxBytes: 100_000 })).word).toBe('too_large')
    const { body } = await get(server.url, { maxBytes: 100_000, whenLonger: 'cut' })
    expect(body.length).toBe(100_000)
  })

  test('may be as long as the limit', async () => {
    await using server = await startWebServer()
    server.answer((_, response) => void response.end(whole))
    expect((await get(server.url, { maxBytes: 1_000 })).body).toEqual(whole)
    server.answer((_, response) => {
      response.write(whole.subarray(1))
      response.end('x')
    })
    expect((await get(server.url, { maxBytes: 1_000 })).body).toEqual(whole)
  })

  test('that drips is given up when the time is over', async () => {
    await using server = await startWebServer()
    server.answer((_, response) => {
      const drip = setInterval(() => response.write('x'), 10)
      response.on('close', () => clearInterval(drip))
    })
    expect((await faultOf(server.url, { timeoutMs: 200 })).word).toBe('timeout')
  })

  test('that breaks off is none', async () => {
    await using server = await startWebServer()
    server.answer((_, response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('x')
      setImmediate(() => response.destroy())
    })
    expect(await faultOf(server.url)).toMatchObject({
      word: 'refused',
      message: 'The connection failed (ECONNRESET).'
    })
  })

  test('of something else than a web server is none', async () => {
    await using server = await startRawServer(socket => socket.end('ICY 200 OK\r\n\r\n'))
    expect((await faultOf(`http://127.0.0.1:${server.port}/`)).word).toBe('http')
  })

  test('that wants to go on in another protocol is none', async () => {
    await using server = await startRawServer(socket =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n')
    )
    expect((await faultOf(`http://127.0.0.1:${server.port}/`)).word).toBe('http')
  })
})

test('where nobody listens, and where there is no such name, the connection fails', async () => {
  const refused = await faultOf(`http://127.0.0.1:${await freePort()}/?token=secret`)
  expect(refused).toMatchObject({ word: 'refused', message: 'The connection failed (ECONNREFUSED).' })
  const unknown = await faultOf('http://nowhere.invalid/?token=secret')
  expect(unknown.message).toMatch(/^The name of the server is not known \(E\w+\)\.$/)
})

describe('whoever gives up', () => {
  const reason = new Error('shutting down')

  test('hears the own reason, and the connection is cut', async () => {
    await using server = await startSilentServer()
    const giving = new AbortController()
    const asked = get(`http://127.0.0.1:${server.port}/`, { signal: giving.signal })
    await waitFor(() => server.open() === 1, { deadlineMs: 5_000, what: 'the connection' })
    giving.abort(reason)
    await expect(asked).rejects.toBe(reason)
    await waitFor(() => server.open() === 0, { deadlineMs: 5_000, what: 'the connection to be closed' })
  })

  test('does so before anything is asked', async () => {
    await using server = await startWebServer()
    const signal = AbortSignal.abort(reason)
    await expect(get(server.url, { signal })).rejects.toBe(reason)
    await expect(get(`http://localhost:${server.port}`, { signal })).rejects.toBe(reason)
    expect(server.asked).toEqual([])
  })
})

test('a mistake of ours is no fault of the server', async () => {
  await using server = await startWebServer()
  await expect(get(server.url, { headers: { 'X-Bad': 'a\nb' } })).rejects.toBeInstanceOf(TypeError)
})
