import { STATUS_CODES } from 'node:http'

import type { HttpResponse } from 'uWebSockets.js'

import { withoutSecret } from '../api/keys.ts'
import type { Reply } from '../api/route.ts'
import { ApiError, renderError, TooManyRequests } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Headers, renderLines } from './headers.ts'

/** What has to be known of a request to answer it, read before the uWebSockets.js handler returns. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly requestId: string
  /** CORS headers for the origin that asked, as header lines. */
  readonly cors: string
}

/**
 * One request and its one answer. The answer is dropped if the client went away or got one already, because any
 * use of `res` after that throws inside uWebSockets.js.
 *
 * It is plain data with functions beside it: a closure per request costs more than it looks, since tsx names each
 * one with `Object.defineProperty`.
 */
export interface Exchange {
  readonly res: HttpResponse
  readonly asked: Asked
  readonly log: Logger
  isOpen: boolean
  isDeferred: boolean
}

/** Above this size a reply is written piece by piece as the client reads. */
const wholeBytes = 256 * 1024

/**
 * Must be called if there will be no answer before the uWebSockets.js handler returns. `onAborted` is called if
 * the client goes away before it got one.
 */
export function defer(exchange: Exchange, onAborted: () => void): void {
  exchange.isDeferred = true
  exchange.res.onAborted(() => {
    exchange.isOpen = false
    onAborted()
  })
}

/** Answers; `isKeyed` answers are kept out of caches unless the reply says otherwise. */
export function send(exchange: Exchange, reply: Reply, isKeyed: boolean): void {
  write(exchange, { status: reply.status ?? 200, headers: headersOf(reply, isKeyed), body: reply.body })
}

/** Answers 204 with these headers. */
export function sendEmpty(exchange: Exchange, headers: Headers): void {
  write(exchange, { status: 204, headers, body: undefined })
}

/** Answers an error: `ApiError` as it is, anything else as a logged 500. `close` ends the connection with it. */
export function fail(
  exchange: Exchange,
  error: unknown,
  { headers = [], close = false }: { headers?: Headers; close?: boolean } = {}
): void {
  const { requestId: request, path } = exchange.asked
  const known = error instanceof ApiError && error.kind !== 'internal' ? error : internal(request)
  if (known !== error) logFailure(exchange, error)
  const retryAfter: Headers =
    known instanceof TooManyRequests ? [['Retry-After', String(known.retryAfterSeconds)]] : []
  write(exchange, {
    status: known.status,
    headers: [['Content-Type', jsonType], ['Cache-Control', 'no-store'], ...headers, ...retryAfter],
    body: renderError(known, { hasStatus: `${path}/`.startsWith('/api/v1/main/') }),
    close
  })
}

function logFailure({ asked, log }: Exchange, error: unknown): void {
  const { requestId: request, method, path } = asked
  log.error({ err: error, request, method, path: withoutSecret(path) }, 'request failed')
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Reply['body']
  readonly close?: boolean
}

function write(exchange: Exchange, answer: Answer): void {
  if (!exchange.isOpen) return
  // Inside the handler everything is corked already.
  if (exchange.isDeferred) exchange.res.cork(() => writeCorked(exchange, answer))
  else writeCorked(exchange, answer)
}

function writeCorked(exchange: Exchange, { status, headers, body, close = false }: Answer): void {
  const { res, asked } = exchange
  res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`)
  res.writeHeader('X-Request-Id', asked.requestId + asked.cors + renderLines(headers))
  const isBare = asked.method === 'HEAD' || status === 204 || status === 304
  if (!isBare && body !== undefined && body.length > wholeBytes) return stream(exchange, body)
  exchange.isOpen = false
  if (!isBare) return void res.end(body ?? '', close)
  if (asked.method === 'HEAD' && body !== undefined)
    res.writeHeader('Content-Length', String(Buffer.byteLength(body)))
  // With any argument, undefined included, this call ruins the connection.
  res.endWithoutBody()
}

function stream(exchange: Exchange, body: string | Uint8Array): void {
  const { res } = exchange
  if (!exchange.isDeferred) defer(exchange, () => {})
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const start = res.getWriteOffset()
  const push = (offset: number) => {
    const [isTaken, isDone] = res.tryEnd(bytes.subarray(offset - start), bytes.length)
    if (isDone) exchange.isOpen = false
    return isTaken
  }
  res.onWritable(push)
  push(start)
}

const jsonType = 'application/json; charset=utf-8'

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

function internal(requestId: string): ApiError {
  return new ApiError('internal', undefined, { request_id: requestId })
}
