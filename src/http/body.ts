import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

import { ApiError } from '../runtime/errors.ts'

/** A request body that is being received. */
export type IncomingBody = ReturnType<typeof collectBody>

/** Up to this many times the limit is read and discarded: a client that is cut off never sees the 413. */
const discardFactor = 16

interface BodyLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Called when the last byte was received. */
  readonly onEnd?: () => void
}

/**
 * Receives a body. Must be called before the uWebSockets.js handler returns, or the first bytes are lost.
 * `bytes` rejects with 413 above the limit and with 400 if the body takes too long.
 */
export function collectBody(
  res: HttpResponse,
  declaredBytes: number,
  { maxBytes, timeoutMs, onEnd }: BodyLimits
) {
  let resolve: (bytes: Uint8Array) => void = ignore
  let reject: (error: ApiError) => void = ignore
  const bytes = new Promise<Uint8Array>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  // It may reject before it is awaited.
  bytes.catch(ignore)
  let chunks: Buffer[] = []
  let size = 0
  let isSettled = false
  let mustClose = false
  const settle = (action: () => void) => {
    if (isSettled) return
    isSettled = true
    clearTimeout(timer)
    action()
    chunks = []
  }
  const refuse = () => reject(new ApiError('too-large', `The body is larger than ${maxBytes} bytes.`))
  const timer = setTimeout(() => {
    mustClose = true
    settle(() => reject(new ApiError('invalid', `The body took longer than ${timeoutMs / 1000} seconds.`)))
  }, timeoutMs)

  if (declaredBytes > maxBytes * discardFactor) {
    mustClose = true
    settle(refuse)
  }
  res.onData((chunk, isLast) => {
    if (isLast) onEnd?.()
    if (isSettled) return
    size += chunk.byteLength
    if (size > maxBytes) chunks = []
    // Copied, because uWebSockets.js reuses the memory when this callback returns.
    else chunks.push(Buffer.from(Buffer.from(chunk)))
    if (size > maxBytes * discardFactor) mustClose = true
    if (isLast || mustClose) settle(() => (size > maxBytes ? refuse() : resolve(Buffer.concat(chunks))))
  })
  return {
    bytes,
    /** Whether the rest of the body is not read, so that the connection must be closed. */
    mustClose: () => mustClose,
    cancel: () => settle(() => reject(abortedError()))
  }
}

/** The client has disconnected, so this error is sent to nobody. */
export function abortedError(): ApiError {
  return new ApiError('invalid', 'The request was aborted.')
}

const ignore = () => {}

/**
 * Whether a request has a chunked body. uWebSockets.js parses trailers after it, without their first two
 * bytes, as the next request: it would answer `X:GET / HTTP/1.1`, and a proxy would send that response to
 * another client. So the response to a chunked request is sent after its packet has been parsed, and closes
 * the connection; uWebSockets.js closes a connection whose next request comes before the response.
 */
export const isChunked = (req: HttpRequest): boolean => req.getHeader('transfer-encoding') !== ''

const bodyless = new Set(['get', 'head', 'options'])

/**
 * Whether the body length of a request is given twice or empty (RFC 9112, section 6.3). uWebSockets.js uses
 * the first of several headers and ignores an empty one. Equal lengths count once.
 */
export function isAmbiguous(req: HttpRequest): boolean {
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
 * client (request smuggling). Also for a chunked body where none is read (see `isChunked`), since a response
 * without a body cannot close the connection. Returns whether it was closed.
 */
export function closeAmbiguous(res: HttpResponse, req: HttpRequest): boolean {
  if (!isAmbiguous(req) && !(isChunked(req) && bodyless.has(req.getMethod()))) return false
  res.close()
  return true
}
