import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import type { CachedResponse } from '../model/station/cached-response.ts'
import { openCache } from '../platform/runtime/cache.ts'

/** A document in a content coding; null is uncompressed. */
export interface DocumentVariant {
  readonly encoding: ContentEncoding | null
  readonly bytes: Uint8Array
}

/** Smaller documents are not compressed. */
const minBytes = 512

const byDocument = new WeakMap<
  CachedResponse,
  Partial<Record<ContentEncoding, DocumentVariant | Promise<DocumentVariant>>>
>()

export const plainVariant = ({ body }: CachedResponse): DocumentVariant => ({ encoding: null, bytes: body })

/**
 * Returns the document in a coding, compressed off the event loop on first use. Never rejects: a document
 * whose compression fails is returned uncompressed.
 */
export function encodeDocument(
  document: CachedResponse,
  encoding: ContentEncoding | null
): DocumentVariant | Promise<DocumentVariant> {
  if (encoding === null) return plainVariant(document)
  if (document.prepared) {
    const bytes = document.prepared[encoding]
    return bytes ? { encoding, bytes } : plainVariant(document)
  }
  if (document.body.length < minBytes) return plainVariant(document)
  const known = byDocument.get(document) ?? {}
  byDocument.set(document, known)
  return (known[encoding] ??= compress[encoding](document.body).then(
    bytes => (known[encoding] = { encoding, bytes }),
    () => (known[encoding] = plainVariant(document))
  ))
}

const asBrotli = promisify(brotliCompress)
const asGzip = promisify(gzip)

/** Low levels, because most documents are valid for a second. */
const compress = {
  br: (bytes: Uint8Array) =>
    asBrotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT
      }
    }),
  gzip: (bytes: Uint8Array) => asGzip(bytes, { level: 5 })
} satisfies Record<ContentEncoding, (bytes: Uint8Array) => Promise<Uint8Array>>

/** Whether `If-None-Match` contains this tag, by weak comparison, or `*`. An empty tag never matches. */
export function etagMatches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '' || etag === '') return false
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  const opaque = etag.slice(etag.indexOf('"'))
  return [...ifNoneMatch.matchAll(/"[^"]*"/g)].some(([tag]) => tag === opaque)
}

/** Supported content codings, preferred first. */
const encodings = ['br', 'gzip'] as const

export type ContentEncoding = (typeof encodings)[number]

/** Recent headers; few different ones are in use. */
const chosenByHeader = openCache<string, ContentEncoding | null>({ maxEntries: 64 })

/** Returns the preferred coding of an `Accept-Encoding` header; null is uncompressed. */
export function chooseEncoding(header: string): ContentEncoding | null {
  if (header === '') return null
  const known = chosenByHeader.get(header)
  if (known !== undefined) return known
  const chosen = choose(header)
  chosenByHeader.set(header, chosen)
  return chosen
}

function choose(header: string): ContentEncoding | null {
  const qualities = new Map(header.toLowerCase().split(',').map(parseQuality))
  const others = qualities.get('*') ?? 0
  const qualityFor = (encoding: ContentEncoding) => qualities.get(encoding) ?? others
  const best = Math.max(...encodings.map(qualityFor))
  // `identity` is acceptable by default, but less preferred than a listed coding.
  const plain = qualities.get('identity') ?? 0
  if (best === 0 || best < plain) return null
  return encodings.find(encoding => qualityFor(encoding) === best) ?? null
}

/** Parses one element of the header. An invalid quality counts as 0. */
function parseQuality(element: string): [name: string, quality: number] {
  const [name = '', ...parameters] = element.split(';').map(part => part.trim())
  const weight = parameters.find(parameter => parameter.startsWith('q='))
  if (weight === undefined) return [name, 1]
  return [name, /^q=(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0]
}
