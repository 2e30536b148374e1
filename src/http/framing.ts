import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

/**
 * Whether a request has a body in chunks. uWebSockets.js takes trailers behind it, without their first two bytes, for the next request: `X:GET / HTTP/1.1`
 * would be answered, and a proxy would give that answer to another client. So a request in chunks is answered when its packet has been read to
 * the end, and the connection closes with the answer: uWebSockets.js cuts a connection whose next request comes before the answer.
 */
export const isChunked = (req: HttpRequest): boolean => req.getHeader('transfer-encoding') !== ''

const bodyless = new Set(['get', 'head', 'options'])

/**
 * Cuts the connection of a request that says twice, and differently, how long its body is (RFC 9112, section 6.3). A proxy before us may have believed
 * the other one: part of the body would be taken for the next request, and its answer for that of another client. So there is no answer. The same goes
 * for a body in chunks where none is read (see `isChunked`): an answer without a body cannot close the connection. Returns whether it was cut.
 */
export function cutAmbiguous(res: HttpResponse, req: HttpRequest): boolean {
  if (isChunked(req) && bodyless.has(req.getMethod())) {
    res.close()
    return true
  }
  if (req.getHeader('content-length') === '') return false
  const lengths = new Set<string>()
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.add(value)
  })
  if (lengths.size < 2) return false
  res.close()
  return true
}
