import { setImmediate as nextImmediate } from 'node:timers/promises'

import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'

import { collectBody, cutAmbiguous, decodeText, isChunked } from '../../http/body.ts'
import { commonLines, renderLines } from '../../http/headers.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { Frame } from '../frames.ts'
import type { Hub } from '../hub.ts'
import { maxMessageBytes } from '../protocol.ts'
import type { Session, Transport, NewClient } from '../session.ts'
import {
  assertReadable,
  corsOf,
  type HandshakeOptions,
  acceptConnection,
  fullError,
  type ConnectRequest,
  readConnectRequest,
  refuseConnection,
  retrySeconds
} from './handshake.ts'

export const eventsPath = '/api/live/nowplaying/sse'
export const streamPath = '/api/live/nowplaying/http_stream'

type Kind = 'sse' | 'http_stream'

/**
 * A subscribe message in a body has to arrive within this time, before uWebSockets.js closes the connection
 * without an answer.
 */
const bodyTimeoutMs = 6_000

/** Up to this much is written to a connection that has not taken everything yet. */
const comfortableBytes = 64 * 1024

/**
 * Serves the live protocol as server-sent events and as lines. Must be called before the other HTTP routes.
 */
export function serveStreams(app: TemplatedApp, audience: Hub, door: HandshakeOptions): void {
  app.get(eventsPath, (res, req) => answer(res, req, 'sse', begin))
  app.post(eventsPath, (res, req) => answer(res, req, 'sse', beginWithBody))
  app.post(streamPath, (res, req) => answer(res, req, 'http_stream', beginWithBody))

  type Begin = (res: HttpResponse, req: HttpRequest, kind: Kind, knock: ConnectRequest) => void

  /** An exception in a handler would end the process. */
  function answer(res: HttpResponse, req: HttpRequest, kind: Kind, next: Begin): void {
    if (cutAmbiguous(res, req)) return
    const origin = req.getHeader('origin')
    try {
      next(res, req, kind, readConnectRequest(res, req, door))
    } catch (error) {
      const told = error instanceof ApiError ? error : new ApiError('internal')
      if (isChunked(req)) refuseLater(res, told, origin)
      else refuseConnection(res, told, origin)
    }
  }

  function begin(res: HttpResponse, _req: HttpRequest, kind: Kind, knock: ConnectRequest): void {
    open(res, kind, knock, knock.message ?? '')
  }

  function beginWithBody(res: HttpResponse, req: HttpRequest, kind: Kind, knock: ConnectRequest): void {
    const declaredBytes = Number(req.getHeader('content-length')) || 0
    const mustClose = isChunked(req)
    const body = collectBody(res, declaredBytes, { maxBytes: maxMessageBytes, timeoutMs: bodyTimeoutMs })
    let isOpen = true
    res.onAborted(() => {
      isOpen = false
      body.cancel()
    })
    body.bytes
      .then(async bytes => {
        const message = decodeText(bytes)
        if (message !== '') assertReadable(message, '')
        await nextImmediate()
        if (isOpen) res.cork(() => open(res, kind, knock, message || (knock.message ?? ''), mustClose))
      })
      .catch(async (error: unknown) => {
        await nextImmediate()
        if (!isOpen) return
        const told = error instanceof ApiError ? error : new ApiError('internal')
        res.cork(() => refuseConnection(res, told, knock.origin, mustClose || body.mustClose()))
      })
  }

  /** Must be called inside the handler or a cork. */
  function open(
    res: HttpResponse,
    kind: Kind,
    knock: ConnectRequest,
    message: string,
    mustClose = false
  ): void {
    const visitor = acceptConnection(knock, door.admission)
    if (typeof visitor !== 'string') return start(res, kind, knock, visitor, message)
    if (kind === 'sse') refuseWithRetry(res, knock.origin, mustClose)
    else refuseConnection(res, fullError(visitor), knock.origin, mustClose)
  }

  function start(
    res: HttpResponse,
    kind: Kind,
    knock: ConnectRequest,
    visitor: NewClient,
    message: string
  ): void {
    let session: Session | null = null
    const leave = () => {
      if (session !== null) audience.leave(session)
      session = null
    }
    const transport = new StreamTransport(res, kind, leave)
    writeHead(res, kind, knock.origin)
    res.onAborted(() => transport.noteGone())
    // Without this, a stream that once had to wait for its client is cut off 10 seconds later.
    res.onWritable(() => {
      transport.noteWritable()
      if (session !== null) audience.drained(session)
      transport.flush()
      return true
    })
    // Proxies that wait for a first byte get one.
    if (kind === 'sse') res.write('\r\n')
    session = audience.join(transport, visitor)
    if (transport.isOpen) audience.receive(session, message === '' ? '{}' : message)
    else leave()
  }
}

const headers = {
  sse: 'text/event-stream; charset=utf-8',
  http_stream: 'application/json'
} as const

function writeHead(res: HttpResponse, kind: Kind, origin: string): void {
  res.writeStatus('200 OK')
  res.writeHeader(
    'Content-Type',
    headers[kind] +
      commonLines +
      renderLines([
        ['Cache-Control', 'private, no-cache, no-store, no-transform, must-revalidate, max-age=0'],
        ['Pragma', 'no-cache'],
        ['X-Accel-Buffering', 'no'],
        ['Connection', 'keep-alive'],
        ...corsOf(origin)
      ])
  )
}

/** Refuses a request with a chunked body; see `isChunked`. */
function refuseLater(res: HttpResponse, error: ApiError, origin: string): void {
  let isOpen = true
  res.onAborted(() => (isOpen = false))
  setImmediate(() => isOpen && res.cork(() => refuseConnection(res, error, origin, true)))
}

/**
 * An `EventSource` stops for good at any status but 200; with 200 it connects again after `retry`
 * milliseconds.
 */
function refuseWithRetry(res: HttpResponse, origin: string, close: boolean): void {
  writeHead(res, 'sse', origin)
  res.end(`retry: ${retrySeconds() * 1000}\n\n`, close)
}

/**
 * A streamed response. uWebSockets.js does not report how much waits for the client, only whether anything
 * does: bytes are counted from the first write that had to wait.
 */
class StreamTransport implements Transport {
  isOpen = true
  #waitingBytes = 0
  readonly #res: HttpResponse
  readonly #kind: Kind
  readonly #onGone: () => void

  /** `onGone` is called once, when the stream has ended, whoever ended it. */
  constructor(res: HttpResponse, kind: Kind, onGone: () => void) {
    this.#res = res
    this.#kind = kind
    this.#onGone = onGone
  }

  send(frame: Frame): boolean {
    return this.#write(this.#kind === 'sse' ? frame.block() : frame.line())
  }

  waitingBytes(): number {
    return this.#waitingBytes
  }

  cork(action: () => void): void {
    if (this.isOpen) this.#res.cork(action)
  }

  /**
   * The client is reading: there is room for one frame at least, and that one tells whether there is for
   * more.
   */
  noteWritable(): void {
    this.#waitingBytes = Math.min(this.#waitingBytes, comfortableBytes)
  }

  /**
   * Sends on what waits. uWebSockets.js leaves that to whoever listens for `onWritable`, and does it before
   * every write, also before the one of nothing that ends a cork.
   */
  flush(): void {
    if (this.isOpen) this.#res.cork(() => {})
  }

  /** The client went away. */
  noteGone(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.#onGone()
  }

  close(code: number): void {
    if (!this.isOpen) return
    if (code === restartCode && this.#kind === 'sse') this.#write(retryBlock())
    this.isOpen = false
    // What nobody reads is not worth waiting for.
    if (this.#waitingBytes > comfortableBytes) this.#res.close()
    // Closing with it would write a header into the body.
    else this.#res.end()
    this.#onGone()
  }

  #write(bytes: Uint8Array): boolean {
    if (!this.isOpen) return true
    let isTaken = true
    this.#res.cork(() => {
      isTaken = this.#res.write(bytes)
    })
    this.#waitingBytes = isTaken ? 0 : this.#waitingBytes + bytes.length
    return isTaken
  }
}

/** The close code of a planned restart. */
const restartCode = 1001

/** Spreads the clients that reconnect. */
function retryBlock(): Uint8Array {
  return Buffer.from(`retry: ${1000 + Math.floor(Math.random() * 4001)}\n\n`)
}
