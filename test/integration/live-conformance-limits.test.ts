import { once } from 'node:events'
import http from 'node:http'

import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

import { test } from '../support/fixtures.ts'
import { openStage } from '../support/live-stage.ts'
import { connectBy, livePath, openSseFraming, openWebSocket, transports } from '../support/live-ways.ts'
import { startServer } from '../support/program.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

// Behavior that depends on the configuration of a server: origins, connection limits, and shutdown.

interface ConnectionAttempt {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** The body received before the response ended; '' while it is open. */
  readonly body: string
  readonly leave: () => void
}

type Kind = 'websocket' | 'sse' | 'http_stream'

/** Connects and returns the response. An accepted connection stays open until the test ends. */
async function tryConnect(
  baseUrl: string,
  kind: Kind,
  { origin, address = '127.0.0.1' }: { origin?: string; address?: string } = {}
): Promise<ConnectionAttempt> {
  const request = http.request(`${baseUrl}${livePath}/${kind}`, {
    method: kind === 'http_stream' ? 'POST' : 'GET',
    agent: false,
    localAddress: address,
    headers: {
      ...(origin === undefined ? {} : { Origin: origin }),
      ...(kind === 'websocket'
        ? {
            Connection: 'Upgrade',
            Upgrade: 'websocket',
            'Sec-WebSocket-Version': '13',
            'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA=='
          }
        : {})
    }
  })
  onTestFinished(() => void request.destroy())
  request.on('error', () => {})
  request.end(kind === 'http_stream' ? '{}' : undefined)
  return new Promise((resolve, reject) => {
    const leave = () => void request.destroy()
    request.once('error', reject)
    request.once('upgrade', (response, socket) => {
      onTestFinished(() => void socket.destroy())
      resolve({ status: 101, headers: response.headers, body: '', leave: () => void socket.destroy() })
    })
    request.once('response', response => {
      let body = ''
      const { statusCode: status = 0, headers } = response
      response.setEncoding('utf8')
      response.on('error', () => {})
      response.on('data', (chunk: string) => {
        body += chunk
        if (body.includes('"connect"')) resolve({ status, headers, body: '', leave })
      })
      response.once('end', () => resolve({ status, headers, body, leave }))
    })
  })
}

const kinds: readonly Kind[] = ['websocket', 'sse', 'http_stream']

test(
  'origins and the number of connections are limited',
  { timeout: 40_000 },
  async ({ databaseUrl, redisUrl }) => {
    await using folder = await openTempFolder()
    using server = await startServer(databaseUrl, redisUrl, folder.path, {
      CORS_ALLOWED_ORIGINS: 'https://widget.example,https://other.example',
      LIVE_MAX_CONNECTIONS: '6',
      LIVE_MAX_CONNECTIONS_PER_ADDRESS: '4'
    })
    const { baseUrl } = server
    const isFree = async (address: string) => {
      const attempt = await tryConnect(baseUrl, 'http_stream', { address })
      attempt.leave()
      return attempt.status === 200
    }

    for (const kind of kinds) {
      const forbidden = await tryConnect(baseUrl, kind, { origin: 'https://evil.example' })
      expect(forbidden.status).toBe(403)
      expect(Object.keys(forbidden.headers).filter(name => name.startsWith('access-control'))).toEqual([])
      const allowed = await tryConnect(baseUrl, kind, { origin: 'https://other.example' })
      expect(allowed.status).toBe(kind === 'websocket' ? 101 : 200)
      if (kind !== 'websocket')
        expect(allowed.headers).toMatchObject({
          'access-control-allow-origin': 'https://other.example',
          'access-control-allow-credentials': 'true',
          vary: expect.stringMatching(/origin/i)
        })
      const program = await tryConnect(baseUrl, kind)
      expect(program.status).toBe(kind === 'websocket' ? 101 : 200)
      allowed.leave()
      program.leave()
    }

    const fill = async (address: string, count: number) => {
      const attempts: ConnectionAttempt[] = []
      await waitFor(
        async () => {
          const attempt = await tryConnect(baseUrl, 'websocket', { address })
          if (attempt.status === 101) attempts.push(attempt)
          return attempts.length === count
        },
        { deadlineMs: 5_000, what: `room for ${count} connections` }
      )
      return attempts
    }
    const expectRefused = async (address: string, status: number) => {
      for (const kind of ['websocket', 'http_stream'] as const) {
        const refused = await tryConnect(baseUrl, kind, { address })
        expect(refused.status).toBe(status)
        expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
      }
      // An EventSource would never retry after an error status.
      const refused = await tryConnect(baseUrl, 'sse', { address })
      expect(refused.status).toBe(200)
      expect(refused.headers['content-type']).toBe('text/event-stream; charset=utf-8')
      const [, ms] = /^\s*retry: (\d+)\n\n$/.exec(refused.body) ?? []
      expect(Number(ms)).toBeGreaterThanOrEqual(5_000)
      expect(Number(ms)).toBeLessThanOrEqual(15_000)
    }

    const four = await fill('127.0.0.1', 4)
    await expectRefused('127.0.0.1', 429)
    const two = await fill('127.0.0.2', 2)
    await expectRefused('127.0.0.3', 503)
    // A refused connection does not count, and a closed one makes room.
    for (const attempt of [...four, ...two]) attempt.leave()
    await waitFor(() => isFree('127.0.0.1'), { deadlineMs: 5_000, what: 'room' })
    const fourAgain = await fill('127.0.0.1', 4)
    expect(fourAgain).toHaveLength(4)
    for (const attempt of fourAgain) attempt.leave()

    // Long polls count as connections too: one above the limit gets a Retry-After.
    using stage = openStage(server, redisUrl)
    const station = await stage.put()
    const life = new AbortController()
    const { signal } = life
    const wait = (seconds: number) => {
      const path = `/api/nowplaying/${station.id}?wait=${seconds}&since=1&epoch=e1`
      return fetch(baseUrl + path, { signal })
    }
    const isLast = async () => (await tryConnect(baseUrl, 'http_stream')).status === 429
    await waitFor(() => isFree('127.0.0.1'), { deadlineMs: 5_000, what: 'room' })
    const waiting = Array.from({ length: 4 }, () => wait(30).catch(() => null))
    await waitFor(isLast, { deadlineMs: 5_000, what: 'no room' })
    const startedAtMs = Date.now()
    const refused = await wait(30)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(5)
    expect(Date.now() - startedAtMs).toBeLessThan(2_000)
    life.abort()
    await Promise.all(waiting)
    await waitFor(() => isFree('127.0.0.1'), { deadlineMs: 5_000, what: 'room again' })
  }
)

test(
  'R16: a planned shutdown is announced on every transport',
  { timeout: 40_000 },
  async ({ databaseUrl, redisUrl }) => {
    await using folder = await openTempFolder()
    using server = await startServer(databaseUrl, redisUrl, folder.path, { DRAIN_SECONDS: '2' })
    using stage = openStage(server, redisUrl)
    const { baseUrl } = stage
    const station = await stage.put()
    const message = { subs: { [station.channel]: { recover: true } } }
    const clients = await Promise.all(transports.map(async way => connectBy(way, { baseUrl, message })))
    const retries: number[] = []
    const stream = await fetch(
      `${baseUrl}${livePath}/sse?cf_connect=${encodeURIComponent(JSON.stringify(message))}`
    )
    const blocks: string[] = []
    const read = openSseFraming(
      frame => blocks.push(frame),
      ms => {
        retries.push(ms)
        blocks.push('retry')
      }
    )
    const reading = (async () => {
      const decoder = new TextDecoder()
      for await (const bytes of stream.body ?? []) read(decoder.decode(bytes))
    })()
    // The rejection is thrown by the await below.
    reading.catch(() => {})
    expect((await fetch(`${baseUrl}/api/health/ready`)).status).toBe(200)

    const ended = once(server.process, 'exit')
    const signaledAtMs = Date.now()
    server.process.kill('SIGTERM')
    // For two seconds it still serves, and asks clients to reconnect elsewhere.
    await waitFor(async () => (await fetch(`${baseUrl}/api/health/ready`)).status === 503, {
      deadlineMs: 1_500,
      what: 'readiness to end'
    })
    const response = await fetch(`${baseUrl}/api/nowplaying/${station.id}`)
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close'])
    const late = openWebSocket({ baseUrl, message })
    await late.until('connect')
    await station.play('Last Song')
    for (const { reader } of clients) await reader.until('pub', ({ pub }) => pub.offset === 2)

    for (const reader of [late, ...clients.map(each => each.reader)]) {
      const { disconnect } = await reader.until('disconnect')
      expect(disconnect).toEqual({ code: 3001, reason: 'shutdown' })
      const { code = 1001, reason = 'shutdown' } = await reader.ended
      expect([code, reason]).toEqual([1001, 'shutdown'])
      reader.check()
    }
    await reading
    expect(blocks.slice(-2)).toEqual(['{"disconnect":{"code":3001,"reason":"shutdown"}}', 'retry'])
    expect(retries).toHaveLength(1)
    expect(retries[0]).toBeGreaterThanOrEqual(1_000)
    expect(retries[0]).toBeLessThanOrEqual(5_000)
    await ended
    expect(server.process.exitCode).toBe(0)
    expect(Date.now() - signaledAtMs).toBeGreaterThan(1_900)
    expect(Date.now() - signaledAtMs).toBeLessThan(6_000)
    const afterExit = new WebSocket(`${baseUrl.replace('http', 'ws')}${livePath}/websocket`)
    const [error] = await once(afterExit, 'error')
    expect(String(error)).toMatch(/ECONNREFUSED/)
  }
)
