import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import {
  type ConnectionOptions,
  openEventStream,
  type StartConnection,
  openWebSocket
} from '../../../web/client/connection.ts'
import type { Fetch } from '../../../web/client/interface.ts'
import type { ServerMessage } from '../../../web/client/message.ts'
import { openPolling } from '../../../web/client/polling.ts'
import { renderDocument } from '../../support/web-client.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Respond = (url: URL, count: number) => Response | Promise<Response>

const options: ConnectionOptions = {
  server: new URL('https://radio.example.com/'),
  station: 'demo',
  apiKey: '',
  position: () => null,
  onMessages: () => {},
  onEnd: () => {},
  WebSocket: undefined,
  fetch: undefined
}

/** Opens a connection to a fake server, and collects its requests and messages. */
function follow(open: StartConnection, respond: Respond) {
  const requests: URL[] = []
  const keys: unknown[] = []
  const messages: ServerMessage[] = []
  const ends: unknown[] = []
  const fetch: Fetch = async (address, { headers }) => {
    const url = new URL(address)
    requests.push(url)
    keys.push(headers['X-API-Key'])
    return respond(url, requests.length)
  }
  const close = open({
    ...options,
    apiKey: 'a:secret',
    position: () => (messages.some(({ type }) => type === 'publication') ? { epoch: 'e1', offset: 7 } : null),
    onMessages: received => void messages.push(...received),
    onEnd: end => void ends.push(end),
    fetch
  })
  return { requests, keys, messages, ends, close }
}

const time = () => Response.json({ timestamp: 1_783_468_815 })
const position = { 'X-Cuewire-Epoch': 'e1', 'X-Cuewire-Offset': '7' }
const document = () => Response.json(renderDocument(), { headers: position })
const isTime = ({ pathname }: URL) => pathname === '/api/time'

test('polls wait for a newer document, with the key in a header', async () => {
  const never = new Promise<Response>(() => {})
  const { requests, keys, messages } = follow(openPolling, (url, count) =>
    isTime(url) ? time() : count === 2 ? document() : never
  )
  await vi.advanceTimersByTimeAsync(100)
  expect(requests.map(({ pathname, search }) => pathname + search)).toEqual([
    '/api/time',
    '/api/nowplaying_static/demo.json',
    '/api/nowplaying_static/demo.json?wait=10&since=7&epoch=e1'
  ])
  expect(keys).toEqual(['a:secret', 'a:secret', 'a:secret'])
  expect(messages).toMatchObject([{ type: 'time' }, { type: 'publication', offset: 7, epoch: 'e1' }])
})

test.each([
  ['the same document', document],
  ['304', () => new Response(null, { status: 304 })]
])('polling pauses if a proxy answers %s at once', async (_, response) => {
  const { requests } = follow(openPolling, url => (isTime(url) ? time() : response()))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(requests.length).toBeGreaterThan(5)
  expect(requests.length).toBeLessThan(15)
})

test('if long polls are refused, it polls at the requested interval', async () => {
  const { requests, ends } = follow(openPolling, (url, count) => {
    if (isTime(url)) return time()
    return url.searchParams.get('wait') === '10'
      ? new Response('', { status: 429, headers: { 'Retry-After': '5' } })
      : count === 2
        ? document()
        : new Response(null, { status: 304 })
  })
  await vi.advanceTimersByTimeAsync(36_000)
  expect(requests.map(({ searchParams }) => searchParams.get('wait'))).toEqual([
    null,
    null,
    '10',
    '0',
    '0',
    '0',
    '0'
  ])
  expect(ends).toEqual([])
})

test('an unknown station is polled every ten seconds', async () => {
  const { requests, messages } = follow(openPolling, url =>
    isTime(url) ? time() : new Response('', { status: 404 })
  )
  await vi.advanceTimersByTimeAsync(25_000)
  expect(requests).toHaveLength(4)
  expect(messages.at(-1)).toEqual({ type: 'missing', timeMs: null })
})

test.each([
  [
    'an error',
    () => new Response('', { status: 503, headers: { 'Retry-After': '7' } }),
    { retryAfterMs: 7_000 }
  ],
  ['another content', () => new Response('<html>', { headers: position }), {}],
  ['a network error', () => Promise.reject(new TypeError('Failed to fetch')), {}]
])('polling ends after %s', async (_, response, end) => {
  const { ends } = follow(openPolling, url => (isTime(url) ? time() : response()))
  await vi.advanceTimersByTimeAsync(10)
  expect(ends).toEqual([end])
})

test('a closed connection delivers nothing', async () => {
  for (const open of [openPolling, openEventStream]) {
    const { messages, ends, close } = follow(open, async url => (isTime(url) ? time() : document()))
    close()
    await vi.advanceTimersByTimeAsync(30_000)
    expect([messages, ends]).toEqual([[], []])
  }
})

test('the connection ends if WebSockets are not available', async () => {
  class Forbidden {
    constructor() {
      throw new DOMException('insecure', 'SecurityError')
    }
    send() {}
    close() {}
    addEventListener() {}
  }
  for (const WebSocket of [undefined, Forbidden]) {
    const ends: unknown[] = []
    openWebSocket({ ...options, onEnd: end => void ends.push(end), WebSocket })
    await Promise.resolve()
    expect(ends).toEqual([{ code: 0 }])
  }
})

test('a subscription contains the position of the known document, and not the document', () => {
  const known = { np: renderDocument(), epoch: 'e1', offset: 7 }
  const requests: URL[] = []
  openEventStream({
    ...options,
    position: () => known,
    fetch: async address => {
      requests.push(new URL(address))
      return new Response('')
    }
  })
  expect(requests.map(url => url.searchParams.get('cf_connect'))).toEqual([
    '{"subs":{"station:demo":{"recover":true,"delta":"merge-patch","heartbeat":60,"epoch":"e1","offset":7}}}'
  ])
})

test('events are read from a stream, with the key in a header; another response ends the connection', async () => {
  const frames = 'data: {}\n\ndata: {"disconnect":{"code":3001}}\n\n'
  const events = { 'Content-Type': 'text/event-stream; charset=utf-8' }
  const { requests, keys, messages, ends } = follow(
    openEventStream,
    () => new Response(`\r\n${frames}`, { headers: events })
  )
  await vi.advanceTimersByTimeAsync(10)
  expect(messages).toEqual([{ type: 'ping' }, { type: 'disconnect', code: 3001 }])
  expect(ends).toEqual([{}])
  expect(keys).toEqual(['a:secret'])
  expect(requests[0]?.searchParams.get('cf_connect')).toBe(
    '{"subs":{"station:demo":{"recover":true,"delta":"merge-patch","heartbeat":60}}}'
  )
  const page = follow(
    openEventStream,
    () => new Response(frames, { headers: { 'Content-Type': 'text/html' } })
  )
  await vi.advanceTimersByTimeAsync(10)
  expect([page.messages, page.ends]).toEqual([[], [{}]])
})
