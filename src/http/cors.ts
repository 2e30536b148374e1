import { type Headers, renderLines } from './headers.ts'

const exposed = [
  'Access-Control-Expose-Headers',
  'X-Total-Count, X-Request-Id, Link, Retry-After, ETag'
] as const

/** What a preflight is told beside the origin; it may remember that for a day. */
export const preflightHeaders: Headers = [
  ['Access-Control-Allow-Methods', 'GET, POST, PUT, DELETE, OPTIONS'],
  [
    'Access-Control-Allow-Headers',
    'x-api-key, x-requested-with, content-type, accept, origin, authorization, if-none-match, cache-control, pragma, expires'
  ],
  ['Access-Control-Max-Age', '86400']
]

/**
 * The CORS headers of every answer, as a block of header lines, by the `Origin` that asked. `allowed` is a list of
 * origins, or has `*` in it; a list makes answers differ by origin, which caches must know.
 */
export function openCors(allowed: readonly string[]): (origin: string) => string {
  const anyone = renderLines([['Access-Control-Allow-Origin', '*'], exposed])
  if (allowed.includes('*')) return () => anyone
  const origins = new Set(allowed)
  const stranger = renderLines([['Vary', 'Origin'], exposed])
  const known = (origin: string) =>
    renderLines([['Access-Control-Allow-Origin', origin], ['Vary', 'Origin'], exposed])
  return origin => (origins.has(origin) ? known(origin) : stranger)
}
