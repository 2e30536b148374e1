import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

/**
 * Cuts the connection of a request that says twice, and differently, how long its body is (RFC 9112, section 6.3). A proxy before us may have believed
 * the other one: part of the body would be taken for the next request, and its answer for that of another client. So there is no answer. Returns
 * whether it was cut.
 */
export function cutAmbiguous(res: HttpResponse, req: HttpRequest): boolean {
  if (req.getHeader('content-length') === '') return false
  const lengths = new Set<string>()
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.add(value)
  })
  if (lengths.size < 2) return false
  res.close()
  return true
}
