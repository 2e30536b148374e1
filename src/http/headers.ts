import { randomBytes, randomUUID } from 'node:crypto'

import { positionHeaders, type Reply } from '../api/core/route.ts'
import type { CachedResponse } from '../station/document.ts'
import type { Encoding } from './variants.ts'

export type Headers = readonly (readonly [name: string, value: string])[]

export const jsonType = 'application/json; charset=utf-8'

/**
 * The same headers, with one more name in `Vary`. One line says it all: some caches look at the first one
 * only.
 */
export function withVary(headers: Headers, vary: string): Headers {
  if (vary === '') return headers
  const isVary = ([name]: Headers[number]) => name.toLowerCase() === 'vary'
  const names = [...headers.filter(isVary).map(([, value]) => value), vary]
  return [...headers.filter(header => !isVary(header)), ['Vary', names.join(', ')]]
}

/**
 * Header lines that follow another header, each with a line break before it. A block like this goes to
 * uWebSockets.js as the rest of one value: a call into native code per header costs more than the answer
 * itself. Line breaks inside a value become spaces, so that no value can bring headers of its own.
 */
export function renderLines(headers: Headers): string {
  let lines = ''
  for (const [name, value] of headers) lines += `\r\n${name}: ${breaks.test(value) ? flatten(value) : value}`
  return lines
}

const breaks = /[\r\n\0]/

const flatten = (value: string) => value.replace(/[\r\n\0]+/g, ' ')

/** Header lines of every answer: browsers must not take it for another type than it says. */
export const commonLines = renderLines([['X-Content-Type-Options', 'nosniff']])

type Given = NonNullable<Reply['headers']>

/** Headers of a document and of a 304 that stands for it: its tag, its position, and what is `given`. */
export function documentHeaders(given: Given, { etag, position }: CachedResponse): Headers {
  const { 'Content-Type': _type, Vary: vary, ...others } = given
  return [
    ...(etag === '' ? [] : [['ETag', etag] as const]),
    ...Object.entries(others),
    ['Vary', vary === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${vary}`],
    ...(position === null ? [] : Object.entries(positionHeaders(position)))
  ]
}

/** Headers of the document's body. */
export function typeHeaders(given: Given, encoding: Encoding | null): Headers {
  const type = ['Content-Type', given['Content-Type'] ?? jsonType] as const
  return encoding === null ? [type] : [type, ['Content-Encoding', encoding]]
}

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
  /**
   * The request header that answers differ by, which caches must know: `Origin`, or empty where they do not.
   */
  readonly vary: string
  /**
   * The value of `Access-Control-Allow-Origin` for the `Origin` that asked; empty: it may not read answers.
   */
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

/** The id of a request in logs, errors and `X-Request-Id`: the caller's own if it is sane, else a new one. */
export function requestIdOf(given: string): string {
  return /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID()
}

/** Where ids are short-lived and many: a random text of this process, and a number that grows. */
const bytes = Buffer.from(`${randomBytes(6).toString('hex')}-0000000000`)

/** How many bytes such an id has. */
export const countedIdBytes = bytes.length

/**
 * Writes the next id to the beginning of a buffer: a text of its own would cost more than all else of an
 * answer.
 */
export function writeCountedId(into: Uint8Array): void {
  for (let at = bytes.length - 1; at >= 0; at--) {
    const digit = bytes[at] ?? 0
    // The dash ends the number, which then begins again.
    if (digit < 0x30) break
    bytes[at] = digit === 0x39 ? 0x30 : digit + 1
    if (digit !== 0x39) break
  }
  into.set(bytes)
}
