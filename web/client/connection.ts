import type { SubscribeMessage } from '../../src/live/vocabulary.ts'
import type { ConnectionEnd } from './follow-step.ts'
import type { Fetch, WebSocketClass, WebSocketLike } from './interface.ts'
import { type ServerMessage, parseServerFrame } from './message.ts'

export interface ConnectionOptions {
  /** The address of the server, with a slash at the end. */
  readonly server: URL
  readonly station: string
  /** Empty for none. */
  readonly apiKey: string
  readonly WebSocket: WebSocketClass | undefined
  readonly fetch: Fetch | undefined
  /** The position of the known document; null if there is none. */
  readonly position: () => { readonly epoch: string; readonly offset: number } | null
  /** Receives the messages of one frame or response. */
  readonly onMessages: (messages: readonly ServerMessage[]) => void
  /** Called when the connection ends by itself. No message follows. */
  readonly onEnd: (end: ConnectionEnd) => void
}

/** Opens a connection over one transport. Returns a function to close it, after which nothing is called. */
export type StartConnection = (options: ConnectionOptions) => () => void

/** Between heartbeats the pings of the server confirm the state. */
const heartbeatSeconds = 60

const stationChannel = ({ station }: ConnectionOptions) => `station:${station}`

function subscribeMessage(options: ConnectionOptions, token: string): string {
  const position = options.position()
  const subscription = {
    recover: true,
    delta: 'merge-patch',
    heartbeat: heartbeatSeconds,
    // The position may be a document, which must not be sent.
    ...(position === null ? {} : { epoch: position.epoch, offset: position.offset })
  } as const
  const message: SubscribeMessage = {
    subs: { [stationChannel(options)]: subscription },
    ...(token === '' ? {} : { token })
  }
  return JSON.stringify(message)
}

/** Sends a GET request with the key in a header. Throws if `fetch` is not available. */
export async function sendGetRequest(options: ConnectionOptions, path: string, signal: AbortSignal) {
  const { fetch, apiKey, server } = options
  if (fetch === undefined) throw new Error('fetch is not available')
  const headers = apiKey === '' ? {} : { 'X-API-Key': apiKey }
  return fetch(new URL(path, server).href, { headers, signal, cache: 'no-store' })
}

/** Opens server-sent events with `fetch`, which Node has too and which keeps the key out of the address. */
export const openEventStream: StartConnection = options => {
  const aborter = new AbortController()
  const { signal } = aborter
  const query = new URLSearchParams({ cf_connect: subscribeMessage(options, '') }).toString()

  async function follow(): Promise<void> {
    const response = await sendGetRequest(options, `api/live/nowplaying/sse?${query}`, signal)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    if (!response.ok || !isStream || response.body === null) return
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    const splitLines = openLineSplitter()
    for (;;) {
      const { done, value } = await reader.read()
      if (done || signal.aborted) return
      for (const line of splitLines(decoder.decode(value, { stream: true }))) {
        if (signal.aborted || !line.startsWith('data:')) continue
        options.onMessages(parseServerFrame(line.slice('data:'.length), stationChannel(options)))
      }
    }
  }

  follow()
    .catch(() => {})
    .finally(() => {
      if (!signal.aborted) options.onEnd({})
    })
  return () => aborter.abort()
}

/** Joins chunks of text and returns the complete lines. */
export function openLineSplitter(): (chunk: string) => readonly string[] {
  let rest = ''
  return chunk => {
    const lines = (rest + chunk).split(/\r?\n/)
    rest = lines.pop() ?? ''
    return lines
  }
}

export const openWebSocket: StartConnection = options => {
  let isOpen = true
  const end = (code: number) => {
    if (!isOpen) return
    isOpen = false
    options.onEnd({ code })
  }
  const url = new URL('api/live/nowplaying/websocket', options.server)
  url.protocol = url.protocol.replace('http', 'ws')
  const socket = createSocket(options.WebSocket, url.href)
  if (socket === null) {
    queueMicrotask(() => end(0))
    return () => void (isOpen = false)
  }
  socket.addEventListener('open', () => {
    if (isOpen) socket.send(subscribeMessage(options, options.apiKey))
  })
  socket.addEventListener('message', ({ data }) => {
    if (isOpen) options.onMessages(parseServerFrame(String(data), stationChannel(options)))
  })
  // Every error is followed by a close event, which has the code.
  socket.addEventListener('error', () => {})
  socket.addEventListener('close', ({ code }) => end(code))
  return () => {
    isOpen = false
    socket.close()
  }
}

/** Null if WebSockets are missing, or are blocked, as an insecure one is in a secure page. */
function createSocket(WebSocket: WebSocketClass | undefined, url: string): WebSocketLike | null {
  try {
    return WebSocket === undefined ? null : new WebSocket(url)
  } catch {
    return null
  }
}
