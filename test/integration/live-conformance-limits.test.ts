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

// What depends on the configuration of a server: origins, the number of connections, and how it ends.

interface Visit {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** What came before the answer ended; '' while it goes on. */
  readonly body: string
  readonly leave: () => void
}

type Kind = 'websocket' | 'sse' | 'http_stream'

/** Knocks and gives what the server says; a connection that was let in stays until the test ends. */
async function knock(
  baseUrl: string,
  kind: Kind,
  { origin, address = '127.0.0.1' }: { origin?: string; address?: string } = {}
): Promise<Visit> {
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
      const visit = await knock(baseUrl, 'http_stream', { address })
      visit.leave()
      return visit.status === 200
    }

    for (const kind of kinds) {
      const stranger = await knock(baseUrl, kind, { origin: 'https://evil.example' })
      expect(stranger.status).toBe(403)
      const welcome = await knock(baseUrl, kind, { origin: 'https://other.example' })
      expect(welcome.status).toBe(kind === 'websocket' ? 101 : 200)
      if (kind !== 'websocket')
        expect(welcome.headers).toMatchObject({
          'access-control-allow-origin': 'https://other.example',
          'access-control-allow-credentials': 'true',
          vary: expect.stringMatching(/origin/i)
        })
      const program = await knock(baseUrl, kind)
      expect(program.status).toBe(kind === 'websocket' ? 101 : 200)
      welcome.leave()
      program.leave()
    }

    const fill = async (address: string, count: number) => {
      const visits: Visit[] = []
      await waitFor(
        async () => {
          const visit = await knock(baseUrl, 'websocket', { address })
          if (visit.status === 101) visits.push(visit)
          return visits.length === count
        },
        { deadlineMs: 5_000, what: `room for ${count} connections` }
      )
      return visits
    }
    const expectTurnedAway = async (address: string, status: number) => {
      for (const kind of ['websocket', 'http_stream'] as const) {
        const away = await knock(baseUrl, kind, { address })
        expect(away.status).toBe(status)
        expect(Number(away.headers['retry-after'])).toBeGreaterThan(0)
      }
      // An EventSource would give up for good on a status.
      const away = await knock(baseUrl, 'sse', { address })
      expect(away.status).toBe(200)
      expect(away.headers['content-type']).toBe('text/event-stream; charset=utf-8')
      const [, ms] = /^\s*retry: (\d+)\n\n$/.exec(away.body) ?? []
      expect(Number(ms)).toBeGreaterThanOrEqual(5_000)
      expect(Number(ms)).toBeLessThanOrEqual(15_000)
    }

    const four = await fill('127.0.0.1', 4)
    await expectTurnedAway('127.0.0.1', 429)
    const two = await fill('127.0.0.2', 2)
    await expectTurnedAway('127.0.0.3', 503)
    // Who was turned away costs nothing, and who leaves makes room.
    for (const visit of [...four, ...two]) visit.leave()
    await waitFor(() => isFree('127.0.0.1'), { deadlineMs: 5_000, what: 'room' })
    const fourAgain = await fill('127.0.0.1', 4)
    expect(fourAgain).toHaveLength(4)
    for (const visit of fourAgain) visit.leave()

    // Long polls take places too: who finds none is told when to come back.
    using stage = openStage(server, redisUrl)
    const station = await stage.put()
    const life = new AbortController()
    const { signal } = life
    const wait = (seconds: number) => {
      const path = `/api/nowplaying/${station.id}?wait=${seconds}&since=1&epoch=e1`
      return fetch(baseUrl + path, { signal })
    }
    const isLast = async () => (await knock(baseUrl, 'http_stream')).status === 429
    await waitFor(() => isFree('127.0.0.1'), { deadlineMs: 5_000, what: 'room' })
    const waiting = Array.from({ length: 4 }, () => wait(30).catch(() => null))
    await waitFor(isLast, { deadlineMs: 5_000, what: 'no room' })
    const startedAtMs = Date.now()
    const away = await wait(30)
    expect(away.status).toBe(429)
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThanOrEqual(5)
    expect(Date.now() - startedAtMs).toBeLessThan(2_000)
    life.abort()
    await Promise.all(waiting)
    await waitFor(() => isFree('127.0.0.1'), { deadlineMs: 5_000, what: 'room again' })
  }
)

test(
  'R16: a planned end is announced on every transport',
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
    // What it throws is thrown where it is awaited.
    reading.catch(() => {})
    expect((await fetch(`${baseUrl}/api/health/ready`)).status).toBe(200)

    const ended = once(server.process, 'exit')
    const toldAtMs = Date.now()
    server.process.kill('SIGTERM')
    // For two seconds it still serves, and asks whoever can to go elsewhere.
    await waitFor(async () => (await fetch(`${baseUrl}/api/health/ready`)).status === 503, {
      deadlineMs: 1_500,
      what: 'readiness to turn'
    })
    const answer = await fetch(`${baseUrl}/api/nowplaying/${station.id}`)
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
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
    expect(Date.now() - toldAtMs).toBeGreaterThan(1_900)
    expect(Date.now() - toldAtMs).toBeLessThan(6_000)
    const gone = new WebSocket(`${baseUrl.replace('http', 'ws')}${livePath}/websocket`)
    const [error] = await once(gone, 'error')
    expect(String(error)).toMatch(/ECONNREFUSED/)
  }
)
