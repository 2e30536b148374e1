import type { SubscribeMessage } from '../../src/live/vocabulary.ts'
import type { Fetch, WebSocketClass, WebSocketLike } from './interface.ts'
import { type Message, readFrame } from './message.ts'
import type { End } from './moves.ts'

/** What a connection is opened with. */
export interface Wish {
  /** The server's address, with a slash at its end. */
  readonly server: URL
  readonly station: string
  readonly apiKey: string
  /** What is known already: nothing older is of interest. Asked anew whenever it is needed. */
  readonly position: () => { readonly epoch: string; readonly offset: number } | null
  /** Messages that belong together. */
  readonly onMessages: (messages: readonly Message[]) => void
  /** The connection ended by itself, and says nothing more. */
  readonly onEnd: (end: End) => void
}

/**
 * A way to follow a station. Gives the function that closes the connection, after which nothing is heard of
 * it.
 */
export type Way = (wish: Wish, means: Means) => () => void

/** What the surroundings offer. */
export interface Means {
  readonly WebSocket: WebSocketClass | undefined
  readonly fetch: Fetch | undefined
}

export const channelOf = ({ station }: Wish) => `station:${station}`

/** What is sent to subscribe. */
export function subscription(wish: Wish): string {
  const options = { recover: true, delta: 'merge-patch' as const, ...wish.position() }
  const message: SubscribeMessage = {
    subs: { [channelOf(wish)]: options },
    ...(wish.apiKey === '' ? {} : { token: wish.apiKey })
  }
  return JSON.stringify(message)
}

/** Headers of a request, which tell the key, if there is one. */
export function headersOf({ apiKey }: Wish): Record<string, string> {
  return apiKey === '' ? {} : { 'X-API-Key': apiKey }
}

/**
 * Follows over server-sent events. They are read with `fetch`, which Node has as well, and which can send a
 * key in a header, so that it stands in no log.
 */
export const overEvents: Way = (wish, { fetch }) => {
  const aborter = new AbortController()
  const { signal } = aborter
  const url = new URL('api/live/nowplaying/sse', wish.server)
  // The key is in a header.
  url.searchParams.set('cf_connect', subscription({ ...wish, apiKey: '' }))

  async function follow(): Promise<void> {
    const answer = await fetch?.(url.href, { headers: headersOf(wish), signal, cache: 'no-store' })
    const isStream = answer?.headers.get('content-type')?.startsWith('text/event-stream')
    if (!answer?.ok || !isStream || answer.body === null) return
    const decoder = new TextDecoder()
    const reader = answer.body.getReader()
    const takeLines = openLines()
    for (;;) {
      const { done, value } = await reader.read()
      if (done || signal.aborted) return
      for (const line of takeLines(decoder.decode(value, { stream: true }))) {
        if (signal.aborted || !line.startsWith('data:')) continue
        wish.onMessages(readFrame(line.slice('data:'.length), channelOf(wish)))
      }
    }
  }

  follow()
    .catch(() => {})
    .finally(() => {
      if (!signal.aborted) wish.onEnd({})
    })
  return () => aborter.abort()
}

/** Joins pieces of text and gives the lines that are whole. */
export function openLines(): (piece: string) => readonly string[] {
  let rest = ''
  return piece => {
    const lines = (rest + piece).split(/\r?\n/)
    rest = lines.pop() ?? ''
    return lines
  }
}

/** Follows over a WebSocket. */
export const overWebSocket: Way = (wish, { WebSocket }) => {
  let isOpen = true
  const end = (code: number) => {
    if (!isOpen) return
    isOpen = false
    wish.onEnd({ code })
  }
  const url = new URL('api/live/nowplaying/websocket', wish.server)
  url.protocol = url.protocol.replace('http', 'ws')
  const socket = connect(WebSocket, url.href)
  if (socket === null) {
    queueMicrotask(() => end(0))
    return () => void (isOpen = false)
  }
  socket.addEventListener('open', () => {
    if (isOpen) socket.send(subscription(wish))
  })
  socket.addEventListener('message', ({ data }) => {
    if (isOpen) wish.onMessages(readFrame(String(data), channelOf(wish)))
  })
  // A close event follows every error, and tells more.
  socket.addEventListener('error', () => {})
  socket.addEventListener('close', ({ code }) => end(code))
  return () => {
    isOpen = false
    socket.close()
  }
}

/** Null where there are none, or a page may not have this one: a secure page no insecure one. */
function connect(WebSocket: WebSocketClass | undefined, url: string): WebSocketLike | null {
  try {
    return WebSocket === undefined ? null : new WebSocket(url)
  } catch {
    return null
  }
}
