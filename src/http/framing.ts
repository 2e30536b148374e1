import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

/**
 * Whether a request has a body in chunks. uWebSockets.js takes trailers behind it, without their first two bytes, for the next request: `X:GET / HTTP/1.1`
 * would be answered, and a proxy would give that answer to another client. So a request in chunks is answered when its packet has been read to
 * the end, and the connection closes with the answer: uWebSockets.js cuts a connection whose next request comes before the answer.
 */
export const isChunked = (req: HttpRequest): boolean => req.getHeader('transfer-encoding') !== ''

const bodyless = new Set(['get', 'head', 'options'])

/**
 * Whether a request says twice, or with an empty value, how long its body is (RFC 9112, section 6.3). uWebSockets.js goes by the first of several headers,
 * and takes an empty one for none. A length that is repeated as it is counts once.
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
 * Cuts the connection of an ambiguous request. A proxy before us may have believed another length: part of the body would be taken for the next request,
 * and its answer for that of another client. So there is no answer. The same goes for a body in chunks where none is read (see `isChunked`): an
 * answer without a body cannot close the connection. Returns whether it was cut.
 */
export function cutAmbiguous(res: HttpResponse, req: HttpRequest): boolean {
  if (!isAmbiguous(req) && !(isChunked(req) && bodyless.has(req.getMethod()))) return false
  res.close()
  return true
}
