import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import type { CachedResponse } from '../station/document.ts'

/** The bytes of a document in a content coding; null: as it is. */
export interface Variant {
  readonly encoding: Encoding | null
  readonly bytes: Uint8Array
}

/** Smaller documents gain nothing that matters. */
const minBytes = 512

/** By document: they are forgotten together. */
const made = new WeakMap<CachedResponse, Partial<Record<Encoding, Variant | Promise<Variant>>>>()

/** The document as it is. */
export const plainVariant = ({ body }: CachedResponse): Variant => ({ encoding: null, bytes: body })

/**
 * The document in this coding, made off the event loop when first asked for; all who ask while it is made
 * share the promise. It never rejects: what cannot be compressed is sent as it is.
 */
export function variantOf(document: CachedResponse, encoding: Encoding | null): Variant | Promise<Variant> {
  if (encoding === null) return plainVariant(document)
  if (document.prepared) {
    const bytes = document.prepared[encoding]
    return bytes ? { encoding, bytes } : plainVariant(document)
  }
  if (document.body.length < minBytes) return plainVariant(document)
  const known = made.get(document) ?? {}
  made.set(document, known)
  return (known[encoding] ??= compress[encoding](document.body).then(
    bytes => (known[encoding] = { encoding, bytes }),
    () => (known[encoding] = plainVariant(document))
  ))
}

const asBrotli = promisify(brotliCompress)
const asGzip = promisify(gzip)

/** Levels for bytes that live a second: little more work than the fastest, most of the gain. */
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
} satisfies Record<Encoding, (bytes: Uint8Array) => Promise<Uint8Array>>

/**
 * Whether an `If-None-Match` header names this tag. Weak and strong tags compare alike; `*` is any. Nothing
 * names the empty tag, of what has none.
 */
export function etagMatches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '' || etag === '') return false
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  const opaque = opaqueOf(etag)
  return [...ifNoneMatch.matchAll(/"[^"]*"/g)].some(([tag]) => tag === opaque)
}

const opaqueOf = (etag: string) => etag.slice(etag.indexOf('"'))

/** The content codings that are offered, best first. */
const encodings = ['br', 'gzip'] as const

export type Encoding = (typeof encodings)[number]

/** What clients have asked for lately: there are few different headers. */
const known = new Map<string, Encoding | null>()
const maxKnown = 64

/**
 * The coding that an `Accept-Encoding` header likes best; null: as it is. Never one it does not name or
 * imply.
 */
export function chooseEncoding(header: string): Encoding | null {
  if (header === '') return null
  const before = known.get(header)
  if (before !== undefined) return before
  const chosen = choose(header)
  if (known.size >= maxKnown) known.clear()
  known.set(header, chosen)
  return chosen
}

function choose(header: string): Encoding | null {
  const qualities = new Map(header.toLowerCase().split(',').map(qualityOf))
  const others = qualities.get('*') ?? 0
  const qualityFor = (encoding: Encoding) => qualities.get(encoding) ?? others
  const best = Math.max(...encodings.map(qualityFor))
  // Unnamed, `identity` is welcome, but less than what is asked for.
  const plain = qualities.get('identity') ?? 0
  if (best === 0 || best < plain) return null
  return encodings.find(encoding => qualityFor(encoding) === best) ?? null
}

/** One element of the header; a quality that makes no sense counts as none at all. */
function qualityOf(element: string): [name: string, quality: number] {
  const [name = '', ...parameters] = element.split(';').map(part => part.trim())
  const weight = parameters.find(parameter => parameter.startsWith('q='))
  if (weight === undefined) return [name, 1]
  return [name, /^q=(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0]
}
