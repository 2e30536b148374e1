import { setImmediate as nextImmediate } from 'node:timers/promises'

import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'

import { closeIfAmbiguous, hasChunkedBody } from '../../http/body.ts'
import { commonHeaderLines, type HeaderList, renderHeaderLines } from '../../http/headers.ts'
import { collectBody } from '../../http/read-body.ts'
import type { RequestHandler } from '../../http/serve.ts'
import { bytesSentMetric, framesSentMetric } from '../../platform/metrics/push.ts'
import { pickRetrySeconds } from '../../platform/runtime/errors.ts'
import { decodeUtf8Body } from '../../platform/text/json-body.ts'
import type { EncodedFrame } from '../frames.ts'
import type { Hub } from '../hub.ts'
import { disconnectReasons, maxMessageBytes } from '../protocol.ts'
import type { LiveSession, LiveTransport, NewClient } from '../session.ts'
import {
  assertSubscribeMessage,
  createCommonHeaders,
  type HandshakeOptions,
  admitConnection,
  createRefusalError,
  type ConnectRequest,
  readConnectRequest,
  refuseConnection
} from './handshake.ts'

const eventsPath = '/api/live/nowplaying/sse'
const streamPath = '/api/live/nowplaying/http_stream'

type Kind = 'sse' | 'http_stream'

interface StreamRequest extends ConnectRequest {
  /** Headers of every response to it. */
  readonly common: HeaderList
}

/** Timeout of a body; shorter than that of uWebSockets.js, which closes the connection without an answer. */
const bodyTimeoutMs = 6_000

/** A connection with more unsent bytes is closed at once. One that becomes writable has at most this much. */
const comfortableBytes = 64 * 1024

/**
 * Serves the live protocol as SSE and as lines. Must be called before the other HTTP routes. Returns the handlers by
 * method and path.
 */
export function serveEventStreams(
  app: TemplatedApp,
  hub: Hub,
  handshake: HandshakeOptions
): ReadonlyMap<string, RequestHandler> {
  type Begin = (res: HttpResponse, req: HttpRequest, kind: Kind, request: StreamRequest) => void
  const beginWithoutBody: Begin = (res, _req, kind, request) => open(res, kind, request, '')

  const getEvents: RequestHandler = (res, req) => respond(res, req, 'sse', beginWithoutBody)
  const postEvents: RequestHandler = (res, req) => respond(res, req, 'sse', beginWithBody)
  const postLines: RequestHandler = (res, req) => respond(res, req, 'http_stream', beginWithBody)
  app.get(eventsPath, getEvents)
  app.post(eventsPath, postEvents)
  app.post(streamPath, postLines)
  return new Map([
    [`GET ${eventsPath}`, getEvents],
    [`POST ${eventsPath}`, postEvents],
    [`POST ${streamPath}`, postLines]
  ])

  /** An exception in a handler would end the process. */
  function respond(res: HttpResponse, req: HttpRequest, kind: Kind, next: Begin): void {
    if (closeIfAmbiguous(res, req)) return
    const common = createCommonHeaders(req, handshake)
    try {
      next(res, req, kind, { ...readConnectRequest(res, req, handshake), common })
    } catch (error) {
      if (hasChunkedBody(req)) refuseChunked(res, error, common)
      else refuseConnection(res, error, common)
    }
  }

  function beginWithBody(res: HttpResponse, req: HttpRequest, kind: Kind, request: StreamRequest): void {
    const declaredBytes = Number(req.getHeader('content-length')) || 0
    const mustClose = hasChunkedBody(req)
    const body = collectBody(res, declaredBytes, { maxBytes: maxMessageBytes, timeoutMs: bodyTimeoutMs })
    let isOpen = true
    res.onAborted(() => {
      isOpen = false
      body.cancel()
    })
    body.bytes
      .then(async bytes => {
        const message = decodeUtf8Body(bytes)
        if (message !== '') assertSubscribeMessage(message, '')
        await nextImmediate()
        if (isOpen) res.cork(() => open(res, kind, request, message, mustClose))
      })
      .catch(async (error: unknown) => {
        // Bytes that were not read would reset the connection.
        if (mustClose) await body.whenComplete(bodyTimeoutMs)
        await nextImmediate()
        if (isOpen) res.cork(() => refuseConnection(res, error, request.common, mustClose))
      })
  }

  /** Must be called inside the handler or a cork. */
  function open(
    res: HttpResponse,
    kind: Kind,
    request: StreamRequest,
    body: string,
    mustClose = false
  ): void {
    const { common, message } = request
    const client = admitConnection(request, handshake.admission)
    if (typeof client !== 'string') return start(res, kind, request, client, body || message || '{}')
    if (kind === 'sse') refuseWithRetry(res, common, mustClose)
    else refuseConnection(res, createRefusalError(client), common, mustClose)
  }

  function start(
    res: HttpResponse,
    kind: Kind,
    request: StreamRequest,
    client: NewClient,
    message: string
  ): void {
    let session: LiveSession | null = null
    const leave = () => {
      if (session !== null) hub.leave(session)
      session = null
    }
    const transport = new StreamTransport(res, kind, leave)
    writeHead(res, kind, request.common, request.isForwarded)
    res.onAborted(() => transport.noteAborted())
    // Without a handler, uWebSockets.js closes a stream 10 seconds after its client was slow once.
    res.onWritable(() => {
      transport.noteWritable()
      if (session !== null) hub.drained(session)
      transport.flush()
      return true
    })
    // Some proxies forward nothing before the first byte.
    if (kind === 'sse') res.write('\r\n')
    session = hub.join(transport, client)
    if (transport.isOpen) hub.receive(session, message)
    else leave()
  }
}

const headers = {
  sse: 'text/event-stream; charset=utf-8',
  http_stream: 'application/json'
} as const

/**
 * Writes the headers. `isForwarded`: Caddy 2.6 compresses lines despite `no-transform`, and holds what it has
 * compressed, unless the stream has an encoding.
 */
function writeHead(res: HttpResponse, kind: Kind, common: HeaderList, isForwarded: boolean): void {
  res.writeStatus('200 OK')
  res.writeHeader(
    'Content-Type',
    headers[kind] +
      commonHeaderLines +
      renderHeaderLines([
        ['Cache-Control', 'private, no-cache, no-store, no-transform, must-revalidate, max-age=0'],
        ['Pragma', 'no-cache'],
        ['X-Accel-Buffering', 'no'],
        ...(isForwarded ? [['Content-Encoding', 'identity'] as const] : []),
        ['Connection', 'keep-alive'],
        ...common
      ])
  )
}

/** Refuses a request with a chunked body; see `hasChunkedBody`. */
function refuseChunked(res: HttpResponse, error: unknown, common: HeaderList): void {
  let isOpen = true
  res.onAborted(() => (isOpen = false))
  setImmediate(() => isOpen && res.cork(() => refuseConnection(res, error, common, true)))
}

/** An `EventSource` stops for good at any status but 200; with 200 it connects again after `retry` ms. */
function refuseWithRetry(res: HttpResponse, common: HeaderList, close: boolean): void {
  writeHead(res, 'sse', common, false)
  res.end(retryBlock(pickRetrySeconds() * 1_000), close)
}

/**
 * A streamed response. uWebSockets.js reports only whether unsent bytes exist, so they are counted from the
 * first write that was not sent at once.
 */
class StreamTransport implements LiveTransport {
  isOpen = true
  #waitingBytes = 0
  /** Whether the first byte of the next frame was sent. */
  #hasBegunNext = false
  readonly #res: HttpResponse
  readonly name: Kind
  readonly #onEnd: () => void

  /** Calls `onEnd` once when the stream ends, from either side. */
  constructor(res: HttpResponse, kind: Kind, onEnd: () => void) {
    this.#res = res
    this.name = kind
    this.#onEnd = onEnd
  }

  send(frame: EncodedFrame): boolean {
    const bytes = this.#render(frame)
    this.#hasBegunNext = true
    return this.#write(bytes, frameStarts[this.name])
  }

  /** Streams have no ping frames. */
  ping(): void {}

  waitingBytes(): number {
    return this.#waitingBytes
  }

  cork(action: () => void): void {
    if (this.isOpen) this.#res.cork(action)
  }

  /** The client reads again. The next write reports whether more fits. */
  noteWritable(): void {
    this.#waitingBytes = Math.min(this.#waitingBytes, comfortableBytes)
  }

  /**
   * Writes what uWebSockets.js has buffered: with an `onWritable` handler it does so only when a cork ends.
   */
  flush(): void {
    if (this.isOpen) this.#res.cork(() => {})
  }

  /** The client closed the connection. */
  noteAborted(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.#onEnd()
  }

  close(code: number, _reason: string, last: EncodedFrame | null): void {
    if (!this.isOpen) return
    this.#res.cork(() => {
      if (last !== null) this.#write(this.#render(last))
      if (this.name === 'sse') {
        // A planned restart.
        if (code === 1001) this.#write(retryBlock(1_000 + Math.floor(Math.random() * 4_001)))
        if (code === disconnectReasons.stationFull.code) this.#write(retryBlock(pickRetrySeconds() * 1_000))
      }
      this.isOpen = false
      // Ending waits until the client has read everything.
      if (this.#waitingBytes > comfortableBytes) this.#res.close()
      // Without `closeConnection`, which would write a header into the body.
      else this.#res.end()
    })
    this.#onEnd()
  }

  #render(frame: EncodedFrame): Uint8Array {
    const bytes = this.name === 'sse' ? frame.block() : frame.line()
    return this.#hasBegunNext ? bytes.subarray(frameStarts[this.name].length) : bytes
  }

  /** Writes a chunk, and `next` in one of its own. */
  #write(bytes: Uint8Array, next: Uint8Array | null = null): boolean {
    if (!this.isOpen) return true
    framesSentMetric[this.name]++
    const length = bytes.length + (next?.length ?? 0)
    bytesSentMetric[this.name] += length
    let isTaken = true
    this.#res.cork(() => {
      isTaken = this.#res.write(bytes)
      if (next !== null) isTaken = this.#res.write(next)
    })
    this.#waitingBytes = isTaken ? 0 : this.#waitingBytes + length
    return isTaken
  }
}

/**
 * The first byte of every frame. It is sent with the frame before: uWebSockets.js sends the line break that ends a
 * chunk with the next chunk, and clients that read whole chunks, such as Python's urllib3, would get each frame with
 * the next one.
 */
const frameStarts = { sse: Buffer.from('d'), http_stream: Buffer.from('{') } as const satisfies Record<
  Kind,
  Uint8Array
>

/** When an `EventSource` connects again; random times spread the clients. */
const retryBlock = (ms: number) => Buffer.from(`retry: ${ms}\n\n`)
