import type { Reply } from '../api/core/route.ts'
import type { CachedResponse } from '../station/document.ts'
import {
  commonLines,
  type Cors,
  corsLines,
  countedIdBytes,
  documentHeaders,
  type Headers,
  renderLines,
  typeHeaders,
  withVary
} from './headers.ts'
import { type Encoding, variantOf } from './variants.ts'

/**
 * An answer ready to be sent: its bytes, and all its headers as the value of a header `X-Request-Id`,
 * beginning with room for a counted id.
 */
export interface WireForm {
  readonly head: Uint8Array
  readonly bytes: Uint8Array
}

/** The answers that stand for documents, each made when first asked for and forgotten with its document. */
export interface WireForms {
  /** The headers of a 304. */
  readonly unchanged: (document: CachedResponse) => Uint8Array
  /** Null while the compressed form is not there; then it is being made. */
  readonly whole: (document: CachedResponse, encoding: Encoding | null) => WireForm | null
}

interface Made {
  unchanged?: Uint8Array
  plain?: WireForm
  br?: WireForm
  gzip?: WireForm
}

/** `given` are headers of all these answers. `Access-Control-Allow-Origin` is in them where it is `*`. */
export function openWireForms(given: NonNullable<Reply['headers']>, cors: Cors): WireForms {
  const made = new WeakMap<CachedResponse, Made>()
  const allowed = corsLines(cors.vary === '' ? '*' : '')

  function renderHead(headers: Headers): Uint8Array {
    const lines = allowed + commonLines + renderLines(withVary(headers, cors.vary))
    return Buffer.from('0'.repeat(countedIdBytes) + lines)
  }

  function formsOf(document: CachedResponse): Made {
    const known = made.get(document)
    if (known !== undefined) return known
    const fresh: Made = {}
    made.set(document, fresh)
    return fresh
  }

  return {
    unchanged: document => (formsOf(document).unchanged ??= renderHead(documentHeaders(given, document))),
    whole: (document, encoding) => {
      const forms = formsOf(document)
      const known = forms[encoding ?? 'plain']
      if (known !== undefined) return known
      const variant = variantOf(document, encoding)
      if (variant instanceof Promise) return null
      const headers = [...typeHeaders(given, variant.encoding), ...documentHeaders(given, document)]
      const form = { head: renderHead(headers), bytes: variant.bytes }
      forms[encoding ?? 'plain'] = form
      return form
    }
  }
}
