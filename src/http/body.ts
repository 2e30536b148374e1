import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

import { ApiError } from '../runtime/errors.ts'

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
 * Collects a body. Must be called before the uWebSockets.js handler returns, or the first bytes are lost.
 * `bytes` rejects with 413 above the limit and with 400 when the body takes too long.
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
    cancel: () => settle(() => reject(abortedRequest()))
  }
}

/** Nobody waits for this request any more; nobody gets to read this either. */
export function abortedRequest(): ApiError {
  return new ApiError('invalid', 'The request was aborted.')
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

/**
 * Whether a request has a body in chunks. uWebSockets.js takes trailers behind it, without their first two
 * bytes, for the next request: `X:GET / HTTP/1.1` would be answered, and a proxy would give that answer to
 * another client. So a request in chunks is answered when its packet has been read to the end, and the
 * connection closes with the answer: uWebSockets.js cuts a connection whose next request comes before the
 * answer.
 */
export const isChunked = (req: HttpRequest): boolean => req.getHeader('transfer-encoding') !== ''

const bodyless = new Set(['get', 'head', 'options'])

/**
 * Whether a request says twice, or with an empty value, how long its body is (RFC 9112, section 6.3).
 * uWebSockets.js goes by the first of several headers, and takes an empty one for none. A length that is
 * repeated as it is counts once.
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
 * Cuts the connection of an ambiguous request. A proxy before us may have believed another length: part of
 * the body would be taken for the next request, and its answer for that of another client. So there is no
 * answer. The same goes for a body in chunks where none is read (see `isChunked`): an answer without a body
 * cannot close the connection. Returns whether it was cut.
 */
export function cutAmbiguous(res: HttpResponse, req: HttpRequest): boolean {
  if (!isAmbiguous(req) && !(isChunked(req) && bodyless.has(req.getMethod()))) return false
  res.close()
  return true
}

/** How deep arrays and objects of a body may be nested. */
export const maxDepth = 64

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** True for JSON media types, with any parameters; no content type counts as JSON. */
export function isJsonType(contentType: string): boolean {
  const [type = ''] = contentType.toLowerCase().split(';')
  return /^(application\/(json|[\w.-]+\+json))?$/.test(type.trim())
}

/**
 * Parses a request body; undefined if there is none. Throws a 400 for text that is not UTF-8 or not JSON,
 * that is nested too deeply, or that has a field named `__proto__`: a later copy of the object could change
 * its prototype.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined
  const value = parseText(decodeText(bytes))
  check(value, 1)
  return value
}

/** Throws a 400 for bytes that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The body is not valid UTF-8.')
  }
}

function malformed(message: string, field = ''): ApiError {
  return ApiError.ofFields([{ field, code: 'invalid_format', message }])
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
}

function check(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth) throw malformed(`The body is nested more than ${maxDepth} levels deep.`)
  if (Object.hasOwn(value, '__proto__')) throw malformed('A field cannot be named __proto__.', '__proto__')
  for (const member of Object.values(value)) check(member, depth + 1)
}
