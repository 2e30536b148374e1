import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

import { ApiError } from '../platform/runtime/errors.ts'

/** uWebSockets.js closes a connection after 8 seconds or later, unless it is resumed. */
export const keepAliveMs = 4_000

/** Whether all of a body was received. */
export interface BodyCompletion {
  /** Also if the client has left. */
  readonly isComplete: () => boolean
  /** Resolves when it is complete, or after a time. */
  readonly whenComplete: (timeoutMs: number) => Promise<void>
}

/** Remembers that a body is complete. */
export function openBodyCompletion(): BodyCompletion & { readonly end: () => void } {
  let isComplete = false
  let waiting: (() => void)[] = []
  return {
    isComplete: () => isComplete,
    whenComplete: async timeoutMs => {
      if (isComplete) return
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>(resolve => {
        waiting.push(resolve)
        timer = setTimeout(resolve, timeoutMs)
      })
      clearTimeout(timer)
    },
    end: () => {
      isComplete = true
      for (const resolve of waiting) resolve()
      waiting = []
    }
  }
}

/**
 * Receives a body that nobody reads; null if there is none. Must be called before the uWebSockets.js handler returns.
 */
export function dropBody(res: HttpResponse, req: HttpRequest): BodyCompletion | null {
  if (!(Number(req.getHeader('content-length')) > 0) && !hasChunkedBody(req)) return null
  const completion = openBodyCompletion()
  res.onData((_, isLast) => void (isLast && completion.end()))
  return completion
}

/** The client has disconnected, so this error is sent to nobody. */
export function createAbortedError(): ApiError {
  return new ApiError('invalid', 'The request was aborted.')
}

/**
 * Whether a request has a chunked body. uWebSockets.js parses trailers after it, without their first two
 * bytes, as the next request: it would answer `X:GET / HTTP/1.1`, and a proxy would send that response to
 * another client. So the response to a chunked request is sent after its packet has been parsed, and closes
 * the connection; uWebSockets.js closes a connection whose next request comes before the response.
 */
export const hasChunkedBody = (req: HttpRequest): boolean => req.getHeader('transfer-encoding') !== ''

const bodyless = new Set(['get', 'head', 'options'])

/**
 * Whether the body length of a request is given twice or empty (RFC 9112, section 6.3). uWebSockets.js uses
 * the first of several headers and ignores an empty one. Equal lengths count once.
 */
export function hasAmbiguousLength(req: HttpRequest): boolean {
  const lengths = new Set<string>()
  const codings: string[] = []
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.add(value.trim())
    else if (name === 'transfer-encoding') codings.push(value.trim())
  })
  return lengths.size > 1 || codings.length > 1 || lengths.has('') || codings.includes('')
}

/**
 * Closes the connection of an ambiguous request without a response, which a proxy could send to another
 * client (request smuggling). Also for a chunked body where none is read (see `hasChunkedBody`), since a response
 * without a body cannot close the connection. Returns whether it was closed.
 */
export function closeIfAmbiguous(res: HttpResponse, req: HttpRequest): boolean {
  if (!hasAmbiguousLength(req) && !(hasChunkedBody(req) && bodyless.has(req.getMethod()))) return false
  res.close()
  return true
}
