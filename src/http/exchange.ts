import { STATUS_CODES } from 'node:http'

import type { HttpResponse } from 'uWebSockets.js'

import type { Reply } from '../api/route.ts'
import { ApiError, renderError } from '../errors.ts'
import type { Logger } from '../log.ts'

type Headers = readonly (readonly [name: string, value: string])[]

/** What has to be known of a request to answer it, read before the uWebSockets.js handler returns. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly requestId: string
  /** CORS headers for the origin that asked. */
  readonly cors: Headers
}

/**
 * One request and its one answer. The answer is dropped if the client went away or got one already, because any
 * use of `res` after that throws inside uWebSockets.js.
 */
export interface Exchange {
  readonly isOpen: () => boolean
  /** Called once if the client goes away before it got an answer. */
  readonly onAborted: (action: () => void) => void
  /** Answers; `isKeyed` answers are kept out of caches unless the reply says otherwise. */
  readonly send: (reply: Reply, isKeyed: boolean) => void
  /** Answers an error: `ApiError` as it is, anything else as a logged 500. */
  readonly fail: (error: unknown, options?: { headers?: Headers; close?: boolean }) => void
  /** Answers 204 with these headers. */
  readonly sendEmpty: (headers: Headers) => void
}

/** Above this size a reply is written piece by piece as the client reads. */
const wholeBytes = 256 * 1024

export function openExchange(res: HttpResponse, asked: Asked, log: Logger): Exchange {
  let isOpen = true
  let whenAborted: (() => void) | null = null
  res.onAborted(() => {
    isOpen = false
    whenAborted?.()
  })

  function write(status: number, headers: Headers, body: Reply['body'], close: boolean): void {
    if (!isOpen) return
    const isBare = asked.method === 'HEAD' || status === 204 || status === 304
    const isLarge = !isBare && body !== undefined && body.length > wholeBytes
    if (!isLarge) isOpen = false
    res.cork(() => {
      res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`)
      for (const [name, value] of asked.cors) res.writeHeader(name, value)
      res.writeHeader('X-Request-Id', asked.requestId)
      for (const [name, value] of headers) res.writeHeader(name, value)
      if (isLarge) return stream(body)
      if (!isBare) return void res.end(body ?? '', close)
      if (asked.method === 'HEAD' && body !== undefined)
        res.writeHeader('Content-Length', String(Buffer.byteLength(body)))
      // With any argument, undefined included, this call ruins the connection.
      res.endWithoutBody()
    })
  }

  function stream(body: string | Uint8Array): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const start = res.getWriteOffset()
    const push = (offset: number) => {
      const [isTaken, isDone] = res.tryEnd(bytes.subarray(offset - start), bytes.length)
      if (isDone) isOpen = false
      return isTaken
    }
    res.onWritable(push)
    push(start)
  }

  return {
    isOpen: () => isOpen,
    onAborted: action => {
      whenAborted = action
    },
    send: (reply, isKeyed) => write(reply.status ?? 200, headersOf(reply, isKeyed), reply.body, false),
    sendEmpty: headers => write(204, headers, undefined, false),
    fail: (error, { headers = [], close = false } = {}) => {
      const known = error instanceof ApiError && error.kind !== 'internal' ? error : internal(asked.requestId)
      if (known !== error) {
        const { requestId: request, method, path } = asked
        log.error({ err: error, request, method, path }, 'request failed')
      }
      const type = ['Content-Type', jsonType] as const
      write(known.status, [type, ['Cache-Control', 'no-store'], ...headers], renderError(known), close)
    }
  }
}

const jsonType = 'application/json; charset=utf-8'

function headersOf(reply: Reply, isKeyed: boolean): [string, string][] {
  const given = Object.entries(reply.headers ?? {})
  const headers = given.map(([name, value]): [string, string] => [name, value.replace(/[\r\n\0]+/g, ' ')])
  const has = (wanted: string) => given.some(([name]) => name.toLowerCase() === wanted)
  if (reply.body !== undefined && !has('content-type')) headers.push(['Content-Type', jsonType])
  if (isKeyed && !has('cache-control')) headers.push(['Cache-Control', 'no-store'])
  return headers
}

function internal(requestId: string): ApiError {
  return new ApiError('internal', undefined, { request_id: requestId })
}
