import { type Headers, renderLines } from './headers.ts'

const exposed = [
  'Access-Control-Expose-Headers',
  'X-Total-Count, X-Request-Id, Link, Retry-After, ETag, X-Cuewire-Epoch, X-Cuewire-Offset, X-Ignored-Fields'
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

/** Who may read answers in a browser. */
export interface Cors {
  /** The request header that answers differ by, which caches must know: `Origin`, or empty where they do not. */
  readonly vary: string
  /** The value of `Access-Control-Allow-Origin` for the `Origin` that asked; empty: it may not read answers. */
  readonly allowedFor: (origin: string) => string
}

/** `allowed` is a list of origins, or has `*` in it; a list makes answers differ by origin. */
export function openCors(allowed: readonly string[]): Cors {
  if (allowed.includes('*')) return { vary: '', allowedFor: () => '*' }
  const origins = new Set(allowed)
  return { vary: 'Origin', allowedFor: origin => (origins.has(origin) ? origin : '') }
}

/** The CORS headers of every answer, as a block of header lines, by what `allowedFor` gave. */
export function corsLines(allowed: string): string {
  return allowed === '*' ? anyone : allowed === '' ? stranger : renderLines([allowing(allowed), exposed])
}

const allowing = (origin: string) => ['Access-Control-Allow-Origin', origin] as const
const anyone = renderLines([allowing('*'), exposed])
const stranger = renderLines([exposed])
