import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { overEvents, overWebSocket, type Way, type Wish } from '../../../web/client/connection.ts'
import type { Fetch } from '../../../web/client/interface.ts'
import type { Message } from '../../../web/client/message.ts'
import { overPolls } from '../../../web/client/over-polls.ts'
import { documentOf } from '../../support/web-client.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Answering = (url: URL, count: number) => Response | Promise<Response>

/** Follows with answers of the test's own; notes what was asked for, and what was heard. */
function follow(way: Way, answering: Answering) {
  const asked: URL[] = []
  const keys: unknown[] = []
  const heard: Message[] = []
  const ends: unknown[] = []
  const fetch: Fetch = async (address, { headers }) => {
    const url = new URL(address)
    asked.push(url)
    keys.push(headers['X-API-Key'])
    return answering(url, asked.length)
  }
  const wish: Wish = {
    server: new URL('https://radio.example.com/'),
    station: 'demo',
    apiKey: 'a:secret',
    position: () => (heard.some(({ type }) => type === 'published') ? { epoch: 'e1', offset: 7 } : null),
    onMessages: messages => void heard.push(...messages),
    onEnd: end => void ends.push(end)
  }
  const close = way(wish, { fetch, WebSocket: undefined })
  return { asked, keys, heard, ends, close }
}

const time = () => Response.json({ timestamp: 1_783_468_815 })
const position = { 'X-Cuewire-Epoch': 'e1', 'X-Cuewire-Offset': '7' }
const document = () => Response.json(documentOf(), { headers: position })
const isTime = ({ pathname }: URL) => pathname === '/api/time'

test('polls wait for what is newer than what is known, with the key in a header', async () => {
  const never = new Promise<Response>(() => {})
  const { asked, keys, heard } = follow(overPolls, (url, count) =>
    isTime(url) ? time() : count === 2 ? document() : never
  )
  await vi.advanceTimersByTimeAsync(100)
  expect(asked.map(({ pathname, search }) => pathname + search)).toEqual([
    '/api/time',
    '/api/nowplaying_static/demo.json',
    '/api/nowplaying_static/demo.json?wait=10&since=7&epoch=e1'
  ])
  expect(keys).toEqual(['a:secret', 'a:secret', 'a:secret'])
  expect(heard).toMatchObject([{ type: 'timed' }, { type: 'published', offset: 7, epoch: 'e1' }])
})

test.each([
  ['the same document', document],
  ['304', () => new Response(null, { status: 304 })]
])('where something on the way answers %s at once, there is a pause', async (_, answer) => {
  const { asked } = follow(overPolls, url => (isTime(url) ? time() : answer()))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(asked.length).toBeGreaterThan(5)
  expect(asked.length).toBeLessThan(15)
})

test('where nobody is let wait, it asks from time to time, as it was told to', async () => {
  const { asked, ends } = follow(overPolls, (url, count) => {
    if (isTime(url)) return time()
    return url.searchParams.get('wait') === '10'
      ? new Response('', { status: 429, headers: { 'Retry-After': '5' } })
      : count === 2
        ? document()
        : new Response(null, { status: 304 })
  })
  await vi.advanceTimersByTimeAsync(36_000)
  expect(asked.map(({ searchParams }) => searchParams.get('wait'))).toEqual([
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

test('a station that is not there is asked for again every ten seconds', async () => {
  const { asked, heard } = follow(overPolls, url =>
    isTime(url) ? time() : new Response('', { status: 404 })
  )
  await vi.advanceTimersByTimeAsync(25_000)
  expect(asked).toHaveLength(4)
  expect(heard.at(-1)).toEqual({ type: 'missing', timeMs: null })
})

test.each([
  [
    'an error',
    () => new Response('', { status: 503, headers: { 'Retry-After': '7' } }),
    { retryAfterMs: 7_000 }
  ],
  ['something else', () => new Response('<html>', { headers: position }), {}],
  ['nothing at all', () => Promise.reject(new TypeError('Failed to fetch')), {}]
])('polls end with %s', async (_, answer, end) => {
  const { ends } = follow(overPolls, url => (isTime(url) ? time() : answer()))
  await vi.advanceTimersByTimeAsync(10)
  expect(ends).toEqual([end])
})

test('a way that was closed is not heard of any more', async () => {
  for (const way of [overPolls, overEvents]) {
    const { heard, ends, close } = follow(way, async url => (isTime(url) ? time() : document()))
    close()
    await vi.advanceTimersByTimeAsync(30_000)
    expect([heard, ends]).toEqual([[], []])
  }
})

test('where a WebSocket may not be had the way ends', async () => {
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
    const wish: Wish = {
      server: new URL('http://radio.example.com/'),
      station: 'demo',
      apiKey: '',
      position: () => null,
      onMessages: () => {},
      onEnd: end => void ends.push(end)
    }
    overWebSocket(wish, { WebSocket, fetch: undefined })
    await Promise.resolve()
    expect(ends).toEqual([{ code: 0 }])
  }
})

test('events come from a stream, with the key in a header; anything else ends', async () => {
  const frames = 'data: {}\n\ndata: {"disconnect":{"code":3001}}\n\n'
  const events = { 'Content-Type': 'text/event-stream; charset=utf-8' }
  const { asked, keys, heard, ends } = follow(
    overEvents,
    () => new Response(`\r\n${frames}`, { headers: events })
  )
  await vi.advanceTimersByTimeAsync(10)
  expect(heard).toEqual([{ type: 'pinged' }, { type: 'dismissed', code: 3001 }])
  expect(ends).toEqual([{}])
  expect(keys).toEqual(['a:secret'])
  expect(asked[0]?.searchParams.get('cf_connect')).toBe(
    '{"subs":{"station:demo":{"recover":true,"delta":"merge-patch"}}}'
  )
  const page = follow(overEvents, () => new Response(frames, { headers: { 'Content-Type': 'text/html' } }))
  await vi.advanceTimersByTimeAsync(10)
  expect([page.heard, page.ends]).toEqual([[], [{}]])
})
