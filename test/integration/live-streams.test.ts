import { connect, type Socket } from 'node:net'

import { expect, onTestFinished } from 'vitest'

import { openConnectionAdmission } from '../../src/live/connection-admission.ts'
import type { StationState } from '../../src/model/station/state.ts'
import { afterSong, aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { isPub, subscribeLive } from '../support/live-client.ts'
import { serveLive } from '../support/live-server.ts'
import { putState } from '../support/put-state.ts'
import { isDeep } from '../support/tier.ts'
import { patience, waitFor } from '../support/wait.ts'

const soon = { deadlineMs: 5_000, what: 'the server to follow' }
const harbour = JSON.stringify({ subs: { 'station:harbour_fm': { recover: true } } })
const events = '/api/live/nowplaying/sse'
const lines = '/api/live/nowplaying/http_stream'

type Options = Parameters<typeof serveLive>[1]

async function serveStation(redisUrl: string, state: StationState, options: Options = {}) {
  const server = await serveLive(redisUrl, options)
  await putState(server.redis, state)
  await waitFor(() => server.feed.get(state.stationId), soon)
  return server
}

interface Stream {
  readonly socket: Socket
  /** Everything received, including headers and chunk sizes. */
  text: string
}

/** Opens a stream and records its bytes. */
function open(baseUrl: string, path: string, message = harbour): Stream {
  return openWith(
    baseUrl,
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${message.length}\r\n\r\n${message}`
  )
}

function openWith(baseUrl: string, request: string): Stream {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
  const stream: Stream = { socket, text: '' }
  socket.on('data', (chunk: Buffer) => (stream.text += chunk.toString('latin1')))
  socket.on('error', () => {})
  socket.write(request)
  onTestFinished(() => void socket.destroy())
  return stream
}

/** The body without its chunk sizes. */
function bodyOf({ text }: Stream): string {
  const [, ...parts] = text
    .split('\r\n\r\n')
    .join('\r\n')
    .split(/\r\n[\da-f]+\r\n/)
  return parts.join('')
}

const isStarted = (stream: Stream) => stream.text.includes('{"connect":')

test('an open stream counts toward the connection limit until it ends', async ({ redisUrl }) => {
  const { baseUrl, hub, admission } = await serveStation(redisUrl, aStation())
  const streams = [events, lines].map(path => open(baseUrl, path))
  await waitFor(() => streams.every(isStarted), soon)
  expect(admission.size()).toBe(2)
  streams[0]?.socket.destroy()
  await waitFor(() => admission.size() === 1, soon)
  await hub.drain()
  expect(admission.size()).toBe(0)
  expect(hub.size()).toBe(0)
})

test('a drained stream ends properly, and SSE includes a retry time', async ({ redisUrl }) => {
  const { baseUrl, hub } = await serveStation(redisUrl, aStation())
  const [first, second] = [open(baseUrl, events), open(baseUrl, lines)]
  await waitFor(() => isStarted(first) && isStarted(second), soon)
  await hub.drain()
  const isOver = ({ text }: Stream) => text.endsWith('\r\n0\r\n\r\n')
  await waitFor(() => isOver(first) && isOver(second), soon)
  const last = '{"disconnect":{"code":3001,"reason":"shutdown"}}'
  const [block, retry] = bodyOf(first).split('\n\n').slice(-3)
  expect(block).toBe(`data: ${last}`)
  expect(retry).toMatch(/^retry: [1-5]\d{3}$/)
  expect(bodyOf(second).split('\n').slice(-2)).toEqual([last, ''])
})

test('beyond the limit, WebSockets and http_stream are refused, and SSE gets a retry time', async ({
  redisUrl
}) => {
  const admission = openConnectionAdmission({ total: 10, perAddress: 1 })
  const { baseUrl, url } = await serveStation(redisUrl, aStation(), { admission })
  const first = open(baseUrl, events)
  await waitFor(() => isStarted(first), soon)
  const refused = await fetch(baseUrl + lines, { method: 'POST', body: harbour })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ code: 429, success: false })
  const rejected = await fetch(baseUrl + events)
  expect(rejected.status).toBe(200)
  expect(rejected.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(await rejected.text()).toMatch(/^retry: \d{4,5}\n\n$/)
  await expect(subscribeLive(url, {})).rejects.toThrow('no such frame')
  first.socket.destroy()
  await waitFor(() => admission.size() === 0, soon)
  await subscribeLive(url, {})
})

test('with a list of origins, other origins are refused on every transport', async ({ redisUrl }) => {
  const origins = ['https://radio.example.com']
  const { baseUrl, url } = await serveStation(redisUrl, aStation(), { origins })
  for (const [method, path] of [
    ['GET', events],
    ['POST', events],
    ['POST', lines]
  ] as const) {
    const response = await fetch(baseUrl + path, { method, headers: { Origin: 'https://evil.example.com' } })
    expect([path, response.status]).toEqual([path, 403])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      vary: 'Origin',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String)
    })
    expect([...response.headers.keys()]).not.toContain('access-control-allow-origin')
    await response.body?.cancel()
  }
  await expect(subscribeLive(url, {}, { Origin: 'https://evil.example.com' })).rejects.toThrow(
    'no such frame'
  )
  await subscribeLive(url, {}, { Origin: 'https://radio.example.com' })
  await subscribeLive(url, {})
})

test.runIf(isDeep)(
  'a stream that stops reading gets the newest state when it reads again',
  async ({ redisUrl }) => {
    let state = aStation()
    const { baseUrl, url, redis, feed } = await serveStation(redisUrl, state)
    const witness = await subscribeLive(url, JSON.parse(harbour))
    const stalled = open(baseUrl, events)
    await waitFor(() => isStarted(stalled), soon)
    stalled.socket.pause()
    for (let count = 0; count < 60; count++) {
      const next = afterSong(state, { lyrics: 'la '.repeat(100_000) })
      await putState(redis, next)
      await witness.until(
        (frame): frame is { pub: { offset: number } } => isPub(frame) && frame.pub.offset >= next.offset
      )
      state = next
    }
    stalled.socket.resume()
    await waitFor(() => stalled.text.includes(`"offset":${state.offset}}}`), { ...soon, deadlineMs: 10_000 })
    expect(stalled.text.split('"pub":').length - 1).toBeLessThan(55)
    expect(feed.get(1)?.state.offset).toBe(61)
  }
)

test('a stream that never reads is closed', async ({ redisUrl }) => {
  let state = aStation()
  const { baseUrl, url, redis, hub } = await serveStation(redisUrl, state, { slowMs: 200 })
  const witness = await subscribeLive(url, JSON.parse(harbour))
  const stalled = open(baseUrl, lines)
  await waitFor(() => isStarted(stalled), soon)
  stalled.socket.pause()
  for (let count = 0; count < 60; count++) {
    const next = afterSong(state, { lyrics: 'la '.repeat(100_000) })
    await putState(redis, next)
    await witness.until(
      (frame): frame is { pub: { offset: number } } => isPub(frame) && frame.pub.offset >= next.offset
    )
    state = next
  }
  await waitFor(() => hub.size() === 1, soon)
})

test('all X-Forwarded-For headers are combined, whichever proxy added them', async ({ redisUrl }) => {
  const admission = openConnectionAdmission({ total: 10, perAddress: 1 })
  const { baseUrl } = await serveStation(redisUrl, aStation(), { admission, trusted: ['127.0.0.1'] })
  const asking = (text: string) =>
    `POST ${events} HTTP/1.1\r\nHost: x\r\n${text}\r\nContent-Length: ${harbour.length}\r\n\r\n${harbour}`
  const first = openWith(baseUrl, asking('X-Forwarded-For: 192.0.2.7'))
  await waitFor(() => isStarted(first), soon)
  const forged = openWith(baseUrl, asking('X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: 192.0.2.7'))
  await waitFor(() => forged.text.includes('retry: '), soon)
  expect(isStarted(forged)).toBe(false)
  // Empty headers and entries do not hide the address.
  for (const forwarded of [
    'X-Forwarded-For:\r\nX-Forwarded-For: 192.0.2.7',
    'X-Forwarded-For:  ,\r\nX-Forwarded-For: 192.0.2.7,'
  ]) {
    const hidden = openWith(baseUrl, asking(forwarded))
    await waitFor(() => hidden.text.includes('retry: '), soon)
    expect(isStarted(hidden)).toBe(false)
  }
  const other = openWith(baseUrl, asking('X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-For: 198.51.100.1'))
  await waitFor(() => isStarted(other), soon)
})

test.for([events, lines])('each frame is at once a whole chunk: %s', async (path, { redisUrl }) => {
  const { baseUrl, redis } = await serveStation(redisUrl, aStation({ offset: 7 }))
  const stream = open(baseUrl, path)
  const isWhole = (text: string) => {
    const chunks = stream.text.matchAll(/\r\n([\da-f]+)\r\n/g)
    return [...chunks].some(chunk => {
      const start = chunk.index + chunk[0].length
      const end = start + Number.parseInt(chunk[1] ?? '', 16)
      return stream.text.slice(start, end).includes(text) && stream.text.slice(end, end + 2) === '\r\n'
    })
  }
  await waitFor(() => isWhole('"connect"'), soon)
  for (const offset of [8, 9]) {
    await putState(redis, aStation({ offset }))
    const changedAtMs = performance.now()
    await waitFor(() => isWhole(`"offset":${offset}`), { deadlineMs: 2_000, what: 'the chunk' })
    expect(performance.now() - changedAtMs).toBeLessThan(250 * patience)
  }
})

test.for([
  ['X-Forwarded-For: 192.0.2.7', true],
  ['Forwarded: for=192.0.2.7', true],
  ['Via: 1.1 proxy.example', true],
  ['X-Real-IP: 192.0.2.7', true],
  ['X-Other: 192.0.2.7', false]
] as const)(
  'proxies must not compress streams, whichever header they add: %s',
  async ([header, isSent], { redisUrl }) => {
    const { baseUrl } = await serveStation(redisUrl, aStation())
    const stream = openWith(
      baseUrl,
      `POST ${lines} HTTP/1.1\r\nHost: x\r\n${header}\r\nContent-Length: ${harbour.length}\r\n\r\n${harbour}`
    )
    await waitFor(() => stream.text.includes('"connect"'), soon)
    expect(stream.text.includes('\r\nContent-Encoding: identity\r\n')).toBe(isSent)
  }
)
