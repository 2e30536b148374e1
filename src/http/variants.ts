import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import type { HeldDocument } from '../api/route.ts'
import type { Encoding } from './encoding.ts'

/** The bytes of a document in a content coding; null: as it is. */
export interface Variant {
  readonly encoding: Encoding | null
  readonly bytes: Uint8Array
}

/** Smaller documents gain nothing that matters. */
const minBytes = 512

/** By document: they are forgotten together. */
const made = new WeakMap<HeldDocument, Partial<Record<Encoding, Variant | Promise<Variant>>>>()

/** The document as it is. */
export const plainVariant = ({ body }: HeldDocument): Variant => ({ encoding: null, bytes: body })

/**
 * The document in this coding, made off the event loop when first asked for; all who ask while it is made share the
 * promise. It never rejects: what cannot be compressed is sent as it is.
 */
export function variantOf(document: HeldDocument, encoding: Encoding | null): Variant | Promise<Variant> {
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
