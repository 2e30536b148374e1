import type { HttpRequest } from 'uWebSockets.js'

/**
 * All of `X-Forwarded-For`: a proxy may add a line of its own instead of lengthening the one that is there, and only the
 * first one is what `getHeader` gives.
 */
export function forwardedFor(req: HttpRequest): string {
  if (req.getHeader('x-forwarded-for') === '') return ''
  const lines: string[] = []
  req.forEach((name, value) => {
    if (name === 'x-forwarded-for') lines.push(value)
  })
  return lines.join(', ')
}
