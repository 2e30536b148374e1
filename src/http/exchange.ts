import { setImmediate as nextTick } from 'node:timers/promises'

import type { HttpResponse } from 'uWebSockets.js'

import type { CachedResponse } from '../model/station/cached-response.ts'
import type { LongList } from '../model/station/live-view.ts'
import { responsesMetric, responseTimeMetric } from '../platform/metrics/http.ts'
import { DeadlineExceeded } from '../platform/runtime/deadline.ts'
import { ApiError, Overloaded, StoreOffline } from '../platform/runtime/errors.ts'
import type { Logger } from '../platform/runtime/log.ts'
import { redactKeysInPath } from '../platform/runtime/redact-keys.ts'
import type { SlowLog } from '../platform/runtime/slow-log.ts'
import {
  isTemporaryStoreError,
  describeError,
  findUnavailableStore
} from '../platform/runtime/store-errors.ts'
import type { BodyCompletion } from './body.ts'
import {
  chooseEncoding,
  etagMatches,
  plainVariant,
  type DocumentVariant,
  encodeDocument
} from './content-encoding.ts'
import { renderApiError } from './error-body.ts'
import {
  buildReplyHeaders,
  commonHeaderLines,
  documentHeaders,
  type HeaderList,
  jsonContentType,
  type RequestHead,
  renderHeaderLines,
  statusLine,
  contentTypeHeaders,
  withVary
} from './headers.ts'
import {
  maxUnstreamedBytes,
  openFileSource,
  type ResponsesInFlight,
  sendTimeoutMs,
  streamBytes,
  streamContent
} from './response-stream.ts'
import type { ContentSource, FileToSend, Reply } from './route.ts'

/** What all requests of a server share. */
export interface ServerContext {
  readonly log: Logger
  /** Whether clients are asked to close their connections. */
  readonly isDraining: () => boolean
  readonly inFlight: ResponsesInFlight
  readonly slowLog?: SlowLog | undefined
  /** Renders the body of an error of a path. The default is `renderApiError`. */
  readonly renderError?: ((error: ApiError, path: string) => string) | undefined
}

/**
 * A request and its response. The response is dropped if the client disconnected or a response was sent,
 * because using `res` after that throws. Plain data with functions beside it, so that a request allocates no
 * closures.
 */
export interface Exchange {
  readonly res: HttpResponse
  readonly head: RequestHead
  readonly server: ServerContext
  /** The group of its route, for metrics. */
  group: string
  /** The methods of its path, for a 405. */
  allow: string
  /**
   * The end of the request, by `performance.now()`; null: the response is not measured, because it waits for a change.
   */
  startedAtMs: number | null
  isOpen: boolean
  isDeferred: boolean
  /** The body that is received; null if none is. */
  body: BodyCompletion | null
  /** Headers of every response of the path. */
  pathHeaders: HeaderList
  /** Fields of the body that were ignored, for `X-Ignored-Fields`; empty if none. */
  ignoredFields: string
  /** Called if the client disconnects before the response. */
  onDisconnect: (() => void) | null
  /** Called once the response is sent or the client has disconnected. */
  onSettled: (() => void)[] | null
}

/** Calls back once the response is sent or the client has disconnected; immediately if it has. */
export function whenSettled(exchange: Exchange, callback: () => void): void {
  if (exchange.isOpen) (exchange.onSettled ??= []).push(callback)
  else callback()
}

/** Must be called if the uWebSockets.js handler returns before the response is sent. */
export function deferResponse(exchange: Exchange): void {
  if (exchange.isDeferred) return
  exchange.isDeferred = true
  exchange.server.inFlight.count++
  exchange.res.onAborted(() => {
    settle(exchange)
    exchange.onDisconnect?.()
  })
}

function settle(exchange: Exchange): void {
  if (!exchange.isOpen) return
  exchange.isOpen = false
  if (exchange.isDeferred) exchange.server.inFlight.count--
  const callbacks = exchange.onSettled
  exchange.onSettled = null
  for (const callback of callbacks ?? []) callback()
}

/** Sends a reply. Replies to a key are not cacheable unless the reply sets `Cache-Control`. */
export function sendReply(exchange: Exchange, reply: Reply, isPersonal: boolean): void {
  if (!exchange.isOpen) return
  if (reply.document) return sendDocument(exchange, reply.headers ?? {}, reply.document)
  if (reply.longList) return void sendLongList(exchange, reply.headers ?? {}, reply.longList)
  const { status = 200, value, file, source } = reply
  const body = value === undefined ? reply.body : JSON.stringify(value)
  send(exchange, {
    status,
    headers: buildReplyHeaders(reply, body !== undefined, isPersonal),
    body,
    file,
    source
  })
}

/** Sends the current document, or a 304 if the client has it. */
function sendDocument(
  exchange: Exchange,
  given: Readonly<Record<string, string>>,
  current: () => CachedResponse
): void {
  const { ifNoneMatch, acceptEncoding } = exchange.head
  const document = current()
  if (etagMatches(ifNoneMatch, document.etag))
    return send(exchange, { status: 304, headers: documentHeaders(given, document), body: undefined })
  const variant = encodeDocument(document, chooseEncoding(acceptEncoding))
  if (!(variant instanceof Promise)) return sendVariant(exchange, given, document, variant)
  deferResponse(exchange)
  void variant.then(compressed => {
    try {
      // If the document changed during the compression, the new one is sent uncompressed.
      const latest = current()
      sendVariant(exchange, given, latest, latest === document ? compressed : plainVariant(latest))
    } catch (error) {
      sendError(exchange, error)
    }
  })
}

function sendVariant(
  exchange: Exchange,
  given: Readonly<Record<string, string>>,
  document: CachedResponse,
  { encoding, bytes }: DocumentVariant
): void {
  const headers = [...contentTypeHeaders(given, encoding), ...documentHeaders(given, document)]
  send(exchange, { status: 200, headers, body: bytes })
}

/** Sends a list that may be too large for one buffer, uncompressed, or a 304 if the client has it. */
async function sendLongList(
  exchange: Exchange,
  given: Readonly<Record<string, string>>,
  take: NonNullable<Reply['longList']>
): Promise<void> {
  deferResponse(exchange)
  try {
    // Such a connection can only be closed after a response that is not streamed.
    if (exchange.head.isChunked) throw new ApiError('invalid', 'This request must not have a body.')
    const list = await take(() => exchange.isOpen && exchange.res.close())
    whenSettled(exchange, list.release)
    const headers = documentHeaders(given, { etag: list.etag, position: null })
    if (etagMatches(exchange.head.ifNoneMatch, list.etag))
      return send(exchange, { status: 304, headers, body: undefined })
    send(exchange, {
      status: 200,
      headers: [...contentTypeHeaders(given, null), ...headers],
      body: undefined,
      list
    })
  } catch (error) {
    sendError(exchange, error)
  }
}

/** Sends a 204. */
export function sendEmpty(exchange: Exchange, headers: HeaderList): void {
  send(exchange, { status: 204, headers, body: undefined })
}

/** Sends an `ApiError` as it is; logs others and sends 503 (store, deadline) or 500. */
export function sendError(exchange: Exchange, error: unknown): void {
  const { requestId, path } = exchange.head
  const { renderError = (shown: ApiError) => renderApiError(shown) } = exchange.server
  const apiError = toReportedError(error, requestId)
  if (apiError !== error) logFailure(exchange, error)
  const seconds = apiError.retryAfterSeconds
  const retryAfter: HeaderList = seconds === null ? [] : [['Retry-After', String(seconds)]]
  const allow: HeaderList = apiError.kind === 'method-not-allowed' ? [['Allow', exchange.allow]] : []
  send(exchange, {
    status: apiError.status,
    headers: [['Content-Type', jsonContentType], ['Cache-Control', 'no-store'], ...allow, ...retryAfter],
    body: renderError(apiError, path)
  })
}

/** Without a stack for store errors, which affect many requests at once. */
function logFailure(exchange: Exchange, error: unknown): void {
  const { log } = exchange.server
  const details = describeRequest(exchange)
  // The log leaves out what an outage explains.
  if (findUnavailableStore(error) !== null) log.warn({ err: error, ...details }, 'request failed')
  else if (isTemporaryStoreError(error))
    log.warn({ reason: describeError(error), ...details }, 'request failed')
  else log.error({ err: error, ...details }, 'request failed')
}

/** What log lines say of a request. */
export const describeRequest = ({ head }: Exchange) => ({
  request: head.requestId,
  method: head.method,
  path: redactKeysInPath(head.path)
})

interface OutgoingResponse {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Reply['body']
  readonly file?: FileToSend | undefined
  readonly source?: ContentSource | undefined
  readonly list?: LongList
  readonly close?: boolean
}

/** How long a client may go on sending whom the response disconnects; shorter than the timeout of uWebSockets.js. */
const bodyEndMs = 5_000

function send(exchange: Exchange, response: OutgoingResponse): void {
  if (!exchange.isOpen) return
  if (exchange.head.isChunked || isBodyUnread(exchange)) return void sendAfterPacket(exchange, response)
  // Inside the handler, writes are corked already.
  if (exchange.isDeferred) exchange.res.cork(() => writeCorked(exchange, response))
  else writeCorked(exchange, response)
}

const isBodyUnread = ({ body }: Exchange) => body?.isComplete() === false

/**
 * Sends a response once the packet of the request has been parsed (see `hasChunkedBody` in `body.ts`). The body is received
 * first, for a while, if the response ends the connection: bytes that were not read reset it, and the client may lose
 * the response. Also for a proxy, since some drop a response that comes while they send the body (Caddy over HTTP/1.1).
 */
async function sendAfterPacket(exchange: Exchange, response: OutgoingResponse): Promise<void> {
  deferResponse(exchange)
  const { head, body, server } = exchange
  await nextTick()
  if (head.isChunked || head.isLast || head.isForwarded) {
    await body?.whenComplete(bodyEndMs)
    await nextTick()
    if (exchange.isOpen && isBodyUnread(exchange))
      server.log.warn(
        { ...describeRequest(exchange), status: response.status },
        'client still sends; it may lose the response'
      )
  }
  if (!exchange.isOpen) return
  exchange.res.cork(() => writeCorked(exchange, { ...response, close: head.isChunked }))
}

function writeCorked(
  exchange: Exchange,
  { status, headers, body, file, source, list, close = false }: OutgoingResponse
): void {
  const { res, head, group, startedAtMs } = exchange
  responsesMetric.inc({ group, status: String(status) })
  if (startedAtMs !== null) measure(exchange, performance.now() - startedAtMs, status)
  // A client that still sends would be reset, so it is asked to close the connection. uWebSockets.js drops the rest of
  // the body.
  const isUnread = isBodyUnread(exchange)
  const mustClose = close || (exchange.server.isDraining() && !isUnread)
  const { pathHeaders, ignoredFields } = exchange
  const ownHeaders = pathHeaders.length === 0 ? headers : [...headers, ...pathHeaders]
  const allHeaders: HeaderList =
    ignoredFields === '' ? ownHeaders : [...ownHeaders, ['X-Ignored-Fields', ignoredFields]]
  res.writeStatus(statusLine(status))
  const lines = head.cors + commonHeaderLines + renderHeaderLines(withVary(allHeaders, head.vary))
  res.writeHeader('X-Request-Id', head.requestId + lines)
  if (isUnread && !mustClose) res.writeHeader('Connection', 'close')
  const size = file?.size ?? source?.size ?? list?.size ?? Buffer.byteLength(body ?? '')
  if (head.method !== 'HEAD' && status !== 204 && status !== 304) {
    const isStreamed =
      list !== undefined ||
      (source !== undefined && size > 0) ||
      (!head.isChunked && (size > maxUnstreamedBytes || (file !== undefined && size > 0)))
    if (!isStreamed) {
      settle(exchange)
      return void res.end(body ?? '', mustClose)
    }
    // Only `end` can close the connection. A streamed response asks the client to close it.
    if (mustClose) res.writeHeader('Connection', 'close')
    return stream(exchange, file ? openFileSource(file) : (source ?? list ?? toBytes(body)), size)
  }
  settle(exchange)
  if (head.method === 'HEAD') res.writeHeader('Content-Length', String(size))
  // Any argument of `endWithoutBody`, even undefined, corrupts the connection, so the client closes it.
  if (mustClose) res.writeHeader('Connection', 'close')
  res.endWithoutBody()
}

function measure(exchange: Exchange, ms: number, status: number): void {
  const { group, server } = exchange
  responseTimeMetric.observe({ group }, ms / 1_000)
  server.slowLog?.note('request', ms, () => ({ ...describeRequest(exchange), status }))
}

const toBytes = (body: Reply['body'] = '') => (typeof body === 'string' ? Buffer.from(body) : body)

function stream(exchange: Exchange, body: Uint8Array | ContentSource, size: number): void {
  const { res } = exchange
  deferResponse(exchange)
  // A slow client must not keep the bytes in memory or the file open forever.
  const timer = setTimeout(() => exchange.isOpen && res.close(), sendTimeoutMs(size))
  whenSettled(exchange, () => clearTimeout(timer))
  const onDone = () => settle(exchange)
  if (body instanceof Uint8Array) return streamBytes(res, body, onDone)
  const onError = (error: unknown) => {
    logFailure(exchange, error)
    res.close()
  }
  streamContent(res, body, { isOpen: () => exchange.isOpen, onDone, onError })
}

function toReportedError(error: unknown, requestId: string): ApiError {
  if (error instanceof ApiError && error.kind !== 'internal') return error
  if (error instanceof DeadlineExceeded)
    return new Overloaded(5, 'The request took too long: try again in a few seconds.')
  return isTemporaryStoreError(error)
    ? new StoreOffline()
    : new ApiError('internal', undefined, { request_id: requestId })
}
