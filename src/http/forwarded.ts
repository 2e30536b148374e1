import type { HttpRequest } from 'uWebSockets.js'

/**
 * All of `X-Forwarded-For`: a proxy may add a line of its own instead of lengthening the one that is there, and only the
 * first one is what `getHeader` gives. What names nobody is left out: a client must not hide behind an empty line.
 */
export function forwardedFor(req: HttpRequest): string {
  const names: string[] = []
  req.forEach((name, value) => {
    if (name !== 'x-forwarded-for') return
    for (const part of value.split(',')) if (part.trim() !== '') names.push(part.trim())
  })
  return names.join(', ')
}
