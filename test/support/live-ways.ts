import { spawn } from 'node:child_process'

import { EventSource } from 'eventsource'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

import { type Inbox, openInbox } from './live-inbox.ts'

/** The message of a client and its place. A string `message` is sent unchanged, anything else as JSON. */
export interface Wish {
  readonly baseUrl: string
  readonly message: unknown
  /** Additional query parameters, such as `delay=2`. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Changes the path before it is sent. */
  readonly respell?: (path: string) => string
}

/** One client, closed when the test ends. */
export interface Reader extends Inbox {
  readonly close: () => void
}

export const livePath = '/api/live/nowplaying'

/**
 * All transports of the live protocol, each with an independent client: the packages `ws` and `eventsource`,
 * and `curl -N`, whose output is also compared byte by byte with the framing.
 */
const ways = {
  'a WebSocket and its first frame': openWebSocket,
  'a WebSocket with cf_connect': wish => openWebSocket({ ...wish, message: null }, wish.message),
  'an EventSource with cf_connect': openEventSource,
  'curl: SSE with cf_connect': wish => openCurl('sse', { ...wish, message: null }, wish.message),
  'curl: SSE by POST': wish => openCurl('sse', wish),
  'curl: http_stream': wish => openCurl('http_stream', wish)
} satisfies Record<string, (wish: Wish) => Reader>

export type Way = keyof typeof ways

export const allWays: readonly Way[] = [
  'a WebSocket and its first frame',
  'a WebSocket with cf_connect',
  'an EventSource with cf_connect',
  'curl: SSE with cf_connect',
  'curl: SSE by POST',
  'curl: http_stream'
]

/** One way for each transport and each place of the message. */
export const quickWays: readonly Way[] = [
  'a WebSocket and its first frame',
  'an EventSource with cf_connect',
  'curl: SSE by POST',
  'curl: http_stream'
]

/** One way for each transport. */
export const transports: readonly Way[] = [
  'a WebSocket and its first frame',
  'an EventSource with cf_connect',
  'curl: http_stream'
]

export const openWay = (way: Way, wish: Wish): Reader => ways[way](wish)

/** Opens a connection and takes the connect frame. */
export async function connectBy(way: Way, wish: Wish) {
  const reader = openWay(way, wish)
  const { connect } = await reader.until('connect')
  return { reader, connect }
}

const textOf = (message: unknown) => (typeof message === 'string' ? message : JSON.stringify(message))

function addressOf(path: string, { baseUrl, query, respell }: Wish, cfConnect?: unknown): string {
  const parts = [
    ...(cfConnect === undefined ? [] : [`cf_connect=${encodeURIComponent(textOf(cfConnect))}`]),
    ...(query === undefined ? [] : [query])
  ]
  const whole = `${livePath}/${path}`
  return `${baseUrl}${respell?.(whole) ?? whole}${parts.length === 0 ? '' : `?${parts.join('&')}`}`
}

/** A WebSocket that sends `message` first, or nothing if it is null. The raw socket is for later frames. */
export function openWebSocket(wish: Wish, cfConnect?: unknown): Reader & { readonly socket: WebSocket } {
  const inbox = openInbox()
  const address = addressOf('websocket', wish, cfConnect).replace('http', 'ws')
  // With the default settings of the package: it offers compression, which the server must refuse.
  const socket = new WebSocket(address, { headers: { ...wish.headers } })
  let status = 0
  socket.on('message', (data, isBinary) => {
    inbox.accept(isBinary || !Buffer.isBuffer(data) ? '"a binary frame"' : data.toString())
  })
  socket.on('open', () => {
    if (socket.extensions !== '') inbox.accept(`"extensions ${socket.extensions}"`)
    if (wish.message !== null) socket.send(textOf(wish.message))
  })
  socket.on('unexpected-response', (_, response) => {
    status = response.statusCode ?? 0
    response.resume()
    inbox.finish({ status })
  })
  socket.on('error', () => {})
  socket.on('close', (code, reason) => inbox.finish({ status, code, reason: String(reason) }))
  onTestFinished(() => socket.terminate())
  return Object.assign(inbox, { socket, close: () => socket.terminate() })
}

function openEventSource(wish: Wish): Reader {
  const inbox = openInbox()
  const source = new EventSource(addressOf('sse', wish, wish.message), {
    fetch: async (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...wish.headers } })
  })
  source.addEventListener('message', event => {
    if (event.lastEventId !== '') inbox.accept('"an event with an id"')
    inbox.accept(String(event.data))
  })
  source.addEventListener('error', event => {
    source.close()
    inbox.finish({ status: event.code ?? 200 })
  })
  onTestFinished(() => source.close())
  return Object.assign(inbox, { close: () => source.close() })
}

function openCurl(path: 'sse' | 'http_stream', wish: Wish, cfConnect?: unknown): Reader {
  const inbox = openInbox()
  const headers = Object.entries({ 'Content-Type': 'application/json', ...wish.headers })
  const child = spawn(
    'curl',
    [
      '-sSNi',
      '--max-time',
      '60',
      ...headers.flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      ...(wish.message === null ? [] : ['-X', 'POST', '--data-binary', '@-']),
      addressOf(path, wish, cfConnect)
    ],
    { stdio: ['pipe', 'pipe', 'ignore'] }
  )
  child.stdin.on('error', () => {})
  child.stdin.end(wish.message === null ? '' : textOf(wish.message))
  const framing = path === 'sse' ? openSseFraming(inbox.accept) : openLineFraming(inbox.accept)
  let head = ''
  let status = 0
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk: string) => {
    if (status !== 0) return feed(chunk)
    head += chunk
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
    if (status === 200 && /^content-encoding:/im.test(head.slice(0, end))) inbox.accept('"an encoded body"')
    feed(head.slice(end + 4))
  })
  const feed = (chunk: string) => {
    if (status === 200 && chunk !== '') framing(chunk)
  }
  child.once('close', () => inbox.finish({ status }))
  onTestFinished(() => void child.kill('SIGKILL'))
  return Object.assign(inbox, { close: () => void child.kill('SIGKILL') })
}

/**
 * Checks a body that begins with an empty line, followed by `data: <frame>` and an empty line for each frame.
 */
export function openSseFraming(accept: (line: string) => void, retry: (ms: number) => void = () => {}) {
  let text = ''
  let hasBegun = false
  return (chunk: string) => {
    text += chunk
    if (!hasBegun) {
      if (text.length < 2) return
      hasBegun = true
      if (text.startsWith('\r\n')) text = text.slice(2)
      else accept(`"the body begins with ${JSON.stringify(text.slice(0, 20))}"`)
    }
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const [, frame, ms] = /^(?:data: (\{[^\r\n]*\})|retry: (\d+))$/.exec(block) ?? []
      if (frame !== undefined) accept(frame)
      else if (ms === undefined) accept(`"a block ${JSON.stringify(block.slice(0, 100))}"`)
      else retry(Number(ms))
    }
  }
}

/** Each line is one frame. */
function openLineFraming(accept: (line: string) => void) {
  let text = ''
  return (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      accept(text.slice(0, end))
      text = text.slice(end + 1)
    }
  }
}
