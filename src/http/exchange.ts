import { STATUS_CODES } from 'node:http'

import type { HttpResponse } from 'uWebSockets.js'

import { withoutSecret } from '../api/auth/keys.ts'
import type { Reply, SentFile } from '../api/core/route.ts'
import { DeadlineExceeded } from '../runtime/deadline.ts'
import { ApiError, Overloaded, renderError, retryAfterOf, StoreAway } from '../runtime/errors.ts'
import type { Logger } from '../runtime/log.ts'
import { isStoreFault, reasonOf } from '../runtime/store-errors.ts'
import type { CachedResponse } from '../station/document.ts'
import {
  commonLines,
  documentHeaders,
  type Headers,
  jsonType,
  renderLines,
  typeHeaders,
  withVary
} from './headers.ts'
import type { InFlight } from './in-flight.ts'
import { sendTimeoutMs, streamBytes, streamFile, wholeBytes } from './stream.ts'
import { chooseEncoding, etagMatches, plainVariant, type Variant, variantOf } from './variants.ts'

/** What has to be known of a request to answer it, read before the uWebSockets.js handler returns. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly requestId: string
  /**
   * CORS headers for the origin that asked, as header lines, and the request header they depend on, if any.
   */
  readonly cors: string
  readonly vary: string
  readonly ifNoneMatch: string
  readonly acceptEncoding: string
  readonly isChunked: boolean
}

/**
 * One request and its one answer. The answer is dropped if the client went away or got one already, because
 * any use of `res` after that throws inside uWebSockets.js.
 *
 * It is plain data with functions beside it, so that a request makes no closures.
 */
export interface Exchange {
  readonly res: HttpResponse
  readonly asked: Asked
  readonly log: Logger
  /** Whether clients are asked to close their connections. */
  readonly isDraining: () => boolean
  readonly underWay: InFlight
  isOpen: boolean
  isDeferred: boolean
  /** The fields of the body that have no effect, for the header of that name; empty if there are none. */
  ignoredFields: string
  /** What there is to do if the client goes away before it got an answer. */
  onGone: (() => void) | null
  /** Called once the answer is sent or the client left; null as long as nothing has to be. */
  onSettled: (() => void)[] | null
}

/** Calls back once the answer is sent, or the client left; at once if that has happened. */
export function whenSettled(exchange: Exchange, callback: () => void): void {
  if (exchange.isOpen) (exchange.onSettled ??= []).push(callback)
  else callback()
}

/** Must be called if there will be no answer before the uWebSockets.js handler returns. */
export function defer(exchange: Exchange): void {
  if (exchange.isDeferred) return
  exchange.isDeferred = true
  exchange.underWay.answers++
  exchange.res.onAborted(() => {
    settle(exchange)
    exchange.onGone?.()
  })
}

function settle(exchange: Exchange): void {
  if (!exchange.isOpen) return
  exchange.isOpen = false
  if (exchange.isDeferred) exchange.underWay.answers--
  const callbacks = exchange.onSettled
  exchange.onSettled = null
  for (const callback of callbacks ?? []) callback()
}

/** Answers; `isKeyed` answers are kept out of caches unless the reply says otherwise. */
export function sendReply(exchange: Exchange, reply: Reply, isKeyed: boolean): void {
  if (!exchange.isOpen) return
  if (reply.document) return sendDocument(exchange, reply.headers ?? {}, reply.document)
  const { status = 200, body, file } = reply
  write(exchange, { status, headers: headersOf(reply, isKeyed), body, file })
}

/** Answers what `current` gives now, or a 304 where the caller has that. */
function sendDocument(
  exchange: Exchange,
  given: Readonly<Record<string, string>>,
  current: () => CachedResponse
): void {
  const { ifNoneMatch, acceptEncoding } = exchange.asked
  const document = current()
  const headers = documentHeaders(given, document)
  if (etagMatches(ifNoneMatch, document.etag))
    return write(exchange, { status: 304, headers, body: undefined })
  const variant = variantOf(document, chooseEncoding(acceptEncoding))
  if (!(variant instanceof Promise)) return writeVariant(exchange, given, document, variant)
  defer(exchange)
  void variant.then(compressed => {
    try {
      const now = current()
      // Compressing took it over the end of a second: what is true now goes out as it is.
      writeVariant(exchange, given, now, now === document ? compressed : plainVariant(now))
    } catch (error) {
      fail(exchange, error)
    }
  })
}

function writeVariant(
  exchange: Exchange,
  given: Readonly<Record<string, string>>,
  document: CachedResponse,
  { encoding, bytes }: Variant
): void {
  const headers = [...typeHeaders(given, encoding), ...documentHeaders(given, document)]
  write(exchange, { status: 200, headers, body: bytes })
}

/** Answers 204 with these headers. */
export function sendEmpty(exchange: Exchange, headers: Headers): void {
  write(exchange, { status: 204, headers, body: undefined })
}

/**
 * Answers an error: `ApiError` as it is, a store that is away or a deadline as 503, and anything else as 500;
 * all but the first are logged. `close` ends the connection with it.
 */
export function fail(
  exchange: Exchange,
  error: unknown,
  { headers = [], close = false }: { headers?: Headers; close?: boolean } = {}
): void {
  const { requestId: request, path } = exchange.asked
  const known = knownError(error, request)
  if (known !== error) logFailure(exchange, error)
  const seconds = retryAfterOf(known)
  const retryAfter: Headers = seconds === null ? [] : [['Retry-After', String(seconds)]]
  write(exchange, {
    status: known.status,
    headers: [['Content-Type', jsonType], ['Cache-Control', 'no-store'], ...headers, ...retryAfter],
    body: renderError(known, { hasStatus: `${path}/`.startsWith('/api/v1/main/') }),
    close
  })
}

/** A store that is away fails many requests at once: they need no stack. */
function logFailure({ asked, log }: Exchange, error: unknown): void {
  const { requestId: request, method, path } = asked
  if (isStoreFault(error)) {
    log.warn({ reason: reasonOf(error), request, method, path: withoutSecret(path) }, 'request failed')
    return
  }
  log.error({ err: error, request, method, path: withoutSecret(path) }, 'request failed')
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Reply['body']
  readonly file?: SentFile | undefined
  readonly close?: boolean
}

function write(exchange: Exchange, answer: Answer): void {
  if (!exchange.isOpen) return
  if (exchange.asked.isChunked) return writeLater(exchange, answer)
  // Inside the handler everything is corked already.
  if (exchange.isDeferred) exchange.res.cork(() => writeCorked(exchange, answer))
  else writeCorked(exchange, answer)
}

/** See `isChunked` in `framing.ts`. */
function writeLater(exchange: Exchange, answer: Answer): void {
  defer(exchange)
  setImmediate(() => {
    if (exchange.isOpen) exchange.res.cork(() => writeCorked(exchange, { ...answer, close: true }))
  })
}

function writeCorked(exchange: Exchange, { status, headers, body, file, close = false }: Answer): void {
  const { res, asked } = exchange
  const mustClose = close || exchange.isDraining()
  const named: Headers =
    exchange.ignoredFields === '' ? headers : [...headers, ['X-Ignored-Fields', exchange.ignoredFields]]
  res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`)
  const lines = asked.cors + commonLines + renderLines(withVary(named, asked.vary))
  res.writeHeader('X-Request-Id', asked.requestId + lines)
  const bytesOfAnswer = file?.size ?? Buffer.byteLength(body ?? '')
  const isBare = asked.method === 'HEAD' || status === 204 || status === 304
  if (!isBare) {
    // Only an end in one piece can close the connection with it: closing is left to the client.
    const isInPieces =
      !asked.isChunked && (bytesOfAnswer > wholeBytes || (file !== undefined && bytesOfAnswer > 0))
    if (isInPieces && mustClose) res.writeHeader('Connection', 'close')
    if (isInPieces) return stream(exchange, file ?? toBytes(body), bytesOfAnswer)
    settle(exchange)
    return void res.end(body ?? '', mustClose)
  }
  settle(exchange)
  if (asked.method === 'HEAD') res.writeHeader('Content-Length', String(bytesOfAnswer))
  // With any argument, undefined included, the next call ruins the connection: closing is left to the client.
  if (mustClose) res.writeHeader('Connection', 'close')
  res.endWithoutBody()
}

const toBytes = (body: Reply['body'] = '') => (typeof body === 'string' ? Buffer.from(body) : body)

function stream(exchange: Exchange, body: Uint8Array | SentFile, size: number): void {
  const { res } = exchange
  defer(exchange)
  // A client that reads slowly, or never, must not keep the bytes in memory, or the file open, for ever.
  const timer = setTimeout(() => exchange.isOpen && res.close(), sendTimeoutMs(size))
  whenSettled(exchange, () => clearTimeout(timer))
  const onDone = () => settle(exchange)
  if (body instanceof Uint8Array) return streamBytes(res, body, onDone)
  const onFault = (error: unknown) => {
    logFailure(exchange, error)
    res.close()
  }
  streamFile(res, body, { isOpen: () => exchange.isOpen, onDone, onFault })
}

const onlyType: Headers = [['Content-Type', jsonType]]

function headersOf(reply: Reply, isKeyed: boolean): Headers {
  if (reply.headers === undefined && reply.body !== undefined && !isKeyed) return onlyType
  const given = Object.entries(reply.headers ?? {})
  const headers = [...given]
  if (reply.body !== undefined && !has(given, 'content-type')) headers.push(['Content-Type', jsonType])
  if (isKeyed && !has(given, 'cache-control')) headers.push(['Cache-Control', 'no-store'])
  return headers
}

function has(headers: Headers, wanted: string): boolean {
  return headers.some(([name]) => name.toLowerCase() === wanted)
}

function knownError(error: unknown, requestId: string): ApiError {
  if (error instanceof ApiError && error.kind !== 'internal') return error
  if (error instanceof DeadlineExceeded)
    return new Overloaded(5, 'The request took too long: try again in a few seconds.')
  return isStoreFault(error)
    ? new StoreAway()
    : new ApiError('internal', undefined, { request_id: requestId })
}
