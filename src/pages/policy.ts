import type { Reply } from '../api/route.ts'
import { hasPlainHost, parsedUrl } from '../parsed-url.ts'

/** What a page may do beside loading files of its own server and talking to it. */
export interface Freedoms {
  readonly baseUrl: string
  /** Addresses of streams. */
  readonly streams?: readonly string[]
  /** Whether it shows frames of its own server. */
  readonly hasFrames?: boolean
  /** Whether other websites may show it in a frame. */
  readonly isFramed?: boolean
  /** Whether it shows pictures that it was sent with a key. */
  readonly hasMadePictures?: boolean
  readonly isPrivate: boolean
}

/** The headers of a page. Nothing inline is executed, and nothing foreign is loaded but the streams. */
export function pageHeaders({
  baseUrl,
  streams = [],
  hasFrames = false,
  isFramed = false,
  hasMadePictures = false,
  isPrivate
}: Freedoms): NonNullable<Reply['headers']> {
  // Pages are also opened under other names than BASE_URL, which all links begin with.
  const { origin } = new URL(baseUrl)
  const sounds = new Set([origin, ...streams.flatMap(originOf)])
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    `img-src 'self' ${origin}${hasMadePictures ? ' blob:' : ''}`,
    `media-src 'self' ${[...sounds].join(' ')}`,
    `connect-src 'self' ${origin} ${origin.replace(/^http/, 'ws')}`,
    ...(hasFrames ? [`frame-src 'self' ${origin}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${isFramed ? '*' : "'none'"}`,
    "require-trusted-types-for 'script'",
    'trusted-types lit-html'
  ].join('; ')
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': isPrivate ? 'private, no-store' : 'no-cache',
    'Content-Security-Policy': policy,
    // The address of a private page has a key in it.
    'Referrer-Policy': 'no-referrer'
  }
}

/** The origin of an address, as an element of a policy; none of what is no address of the web. */
function originOf(address: string): string[] {
  const url = parsedUrl(address)
  return url && hasPlainHost(url) && ['http:', 'https:'].includes(url.protocol) ? [url.origin] : []
}
