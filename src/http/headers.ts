import { randomBytes, randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'

import type { HttpRequest } from 'uWebSockets.js'

import type { CachedResponse, StatePosition } from '../model/station/cached-response.ts'
import type { ContentEncoding } from './content-encoding.ts'
import type { Reply } from './route.ts'

export type HeaderList = readonly (readonly [name: string, value: string])[]

/** What a response depends on, read before the uWebSockets.js handler returns. */
export interface RequestHead {
  readonly method: string
  readonly path: string
  readonly requestId: string
  /** CORS headers for the origin of the request, as header lines. */
  readonly cors: string
  /** The request header that `cors` depends on; empty if none. */
  readonly vary: string
  readonly ifNoneMatch: string
  readonly acceptEncoding: string
  readonly isChunked: boolean
  /** Whether uWebSockets.js ends the connection with the response, because the client asks for it. */
  readonly isLast: boolean
  /** Whether a proxy has sent it. */
  readonly isForwarded: boolean
}

export const jsonContentType = 'application/json; charset=utf-8'

/** A status as `writeStatus` takes it. */
export const statusLine = (status: number): string => `${status} ${STATUS_CODES[status] ?? 'Unknown'}`

/** Adds a name to `Vary`. All names are in one line, because some caches read only the first one. */
export function withVary(headers: HeaderList, vary: string): HeaderList {
  if (vary === '') return headers
  const isVary = ([name]: HeaderList[number]) => name.toLowerCase() === 'vary'
  const names = [...headers.filter(isVary).map(([, value]) => value), vary]
  return [...headers.filter(header => !isVary(header)), ['Vary', names.join(', ')]]
}

/**
 * Renders header lines, each after a line break, for the rest of one header value: a native call per header
 * costs more than the response itself. Line breaks in values become spaces, so that they inject no headers.
 */
export function renderHeaderLines(headers: HeaderList): string {
  let lines = ''
  for (const [name, value] of headers) lines += `\r\n${name}: ${breaks.test(value) ? flatten(value) : value}`
  return lines
}

const breaks = /[\r\n\0]/

const flatten = (value: string) => value.replace(/[\r\n\0]+/g, ' ')

/** Header lines of every response. */
export const commonHeaderLines = renderHeaderLines([['X-Content-Type-Options', 'nosniff']])

type Given = NonNullable<Reply['headers']>

/** Headers of a document and of its 304: entity tag, position, and the `given` ones. */
export function documentHeaders(
  given: Given,
  { etag, position }: Pick<CachedResponse, 'etag' | 'position'>
): HeaderList {
  const { 'Content-Type': _type, Vary: vary, ...others } = given
  return [
    ...(etag === '' ? [] : [['ETag', etag] as const]),
    ...Object.entries(others),
    ['Vary', vary === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${vary}`],
    ...(position === null ? [] : Object.entries(positionHeaders(position)))
  ]
}

/** The headers with the position of a station's state. */
export function positionHeaders({ epoch, offset }: StatePosition) {
  return { 'X-Cuewire-Epoch': epoch, 'X-Cuewire-Offset': String(offset) }
}

/** Headers of the body of a document. */
export function contentTypeHeaders(given: Given, encoding: ContentEncoding | null): HeaderList {
  const type = ['Content-Type', given['Content-Type'] ?? jsonContentType] as const
  return encoding === null ? [type] : [type, ['Content-Encoding', encoding]]
}

const exposed = [
  'Access-Control-Expose-Headers',
  'X-Total-Count, X-Request-Id, Link, Retry-After, ETag, X-Cuewire-Epoch, X-Cuewire-Offset, X-Ignored-Fields, Location, Content-Range, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Upload-Offset, Upload-Length, Upload-Expires, Cuewire-File-Id, Cuewire-Notice, Cuewire-Untitled-Plays'
] as const

/** Headers of a preflight response, valid for a day. */
export const preflightHeaders: HeaderList = [
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
  [
    'Access-Control-Allow-Headers',
    'x-api-key, x-requested-with, content-type, accept, origin, authorization, if-none-match, cache-control, pragma, expires, range, tus-resumable, upload-length, upload-metadata, upload-offset'
  ],
  ['Access-Control-Max-Age', '86400']
]

export type CorsPolicy = ReturnType<typeof buildCorsPolicy>

/** Which origins may read responses in a browser. `allowed` lists origins or contains `*`. */
export function buildCorsPolicy(allowed: readonly string[]) {
  const allowsAll = allowed.includes('*')
  const origins = new Set(allowed)
  return {
    /** The request header that responses depend on: `Origin`, or empty. */
    vary: allowsAll ? '' : 'Origin',
    /** The value of `Access-Control-Allow-Origin` for an origin; empty if it may not read responses. */
    allowedFor: (origin: string) => (allowsAll ? '*' : origins.has(origin) ? origin : '')
  }
}

/** The CORS header lines of every response, for a value of `allowedFor`. */
export function corsHeaderLines(allowed: string): string {
  return allowed === '*'
    ? anyOrigin
    : allowed === ''
      ? noOrigin
      : renderHeaderLines([allow(allowed), exposed])
}

const allow = (origin: string) => ['Access-Control-Allow-Origin', origin] as const
const anyOrigin = renderHeaderLines([allow('*'), exposed])
const noOrigin = renderHeaderLines([exposed])

/** The key in `X-API-Key`, `Authorization: Bearer` or `X-Liquidsoap-Api-Key`; empty if none. */
export function readApiKey(req: HttpRequest): string {
  return (
    req.getHeader('x-api-key') ||
    (/^bearer +(\S+)\s*$/i.exec(req.getHeader('authorization'))?.[1] ?? '') ||
    req.getHeader('x-liquidsoap-api-key')
  )
}

/** The id of a request in logs, errors and `X-Request-Id`: the caller's if it is valid, else a new one. */
export function chooseRequestId(given: string): string {
  return /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID()
}

/** An id for frequent requests: random text of this process and a counter. */
const countedId = Buffer.from(`${randomBytes(6).toString('hex')}-0000000000`)

export const countedRequestIdBytes = countedId.length

/** Writes the next id to the beginning of a buffer, which is faster than creating a string. */
export function writeCountedRequestId(into: Uint8Array): void {
  for (let at = countedId.length - 1; at >= 0; at--) {
    const digit = countedId[at] ?? 0
    // The dash is before the number, which overflows to 0.
    if (digit < 0x30) break
    countedId[at] = digit === 0x39 ? 0x30 : digit + 1
    if (digit !== 0x39) break
  }
  into.set(countedId)
}

const onlyType: HeaderList = [['Content-Type', jsonContentType]]

/** The headers of a reply. Those to a key are not cacheable unless the reply sets `Cache-Control`. */
export function buildReplyHeaders(reply: Reply, hasBody: boolean, isPersonal: boolean): HeaderList {
  if (reply.headers === undefined && hasBody && !isPersonal) return onlyType
  const given = Object.entries(reply.headers ?? {})
  const headers = [...given]
  for (const cookie of reply.cookies ?? []) headers.push(['Set-Cookie', cookie])
  if (hasBody && !hasHeader(given, 'content-type')) headers.push(['Content-Type', jsonContentType])
  if (isPersonal && !hasHeader(given, 'cache-control')) headers.push(['Cache-Control', 'no-store'])
  return headers
}

function hasHeader(headers: HeaderList, lowerCaseName: string): boolean {
  return headers.some(([name]) => name.toLowerCase() === lowerCaseName)
}
