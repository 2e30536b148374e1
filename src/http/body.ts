import type { HttpResponse } from 'uWebSockets.js'

import { ApiError } from '../errors.ts'

export interface BodyLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** A body on its way in. `cancel` forgets it; `mustClose`: more is coming than anybody will wait for. */
export interface IncomingBody {
  readonly bytes: Promise<Uint8Array>
  readonly mustClose: () => boolean
  readonly cancel: () => void
}

/**
 * Too large a body is still read to its end up to this many times the limit, and thrown away: a client whose
 * connection is cut in the middle of its upload never sees the 413.
 */
const patience = 16

/**
 * Collects a body. Must be called before the uWebSockets.js handler returns, or the first bytes are lost. `bytes`
 * rejects with 413 above the limit and with 400 when the body takes too long.
 */
export function collectBody(
  res: HttpResponse,
  declaredBytes: number,
  { maxBytes, timeoutMs }: BodyLimits
): IncomingBody {
  const { promise, resolve, reject } = withResolvers<Uint8Array>()
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
  // A rejection may come before anyone awaits the bytes.
  promise.catch(notYet)

  if (declaredBytes > maxBytes * patience) {
    mustClose = true
    settle(refuse)
  }
  res.onData((chunk, isLast) => {
    if (isSettled) return
    size += chunk.byteLength
    if (size > maxBytes) chunks = []
    // The chunk is only lent: uWebSockets.js takes its memory back when this callback returns.
    else chunks.push(Buffer.from(Buffer.from(chunk)))
    if (size > maxBytes * patience) mustClose = true
    if (isLast || mustClose) settle(() => (size > maxBytes ? refuse() : resolve(Buffer.concat(chunks))))
  })
  return {
    bytes: promise,
    mustClose: () => mustClose,
    cancel: () => settle(() => reject(givenUp()))
  }
}

/** Nobody waits for this request any more; nobody gets to read this either. */
export function givenUp(): ApiError {
  return new ApiError('invalid', 'The request was given up.')
}

const notYet = () => {}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<Value>() {
  let resolve: (value: Value) => void = notYet
  let reject: (reason: unknown) => void = notYet
  const promise = new Promise<Value>((onValue, onReason) => {
    resolve = onValue
    reject = onReason
  })
  return { promise, resolve, reject }
}
