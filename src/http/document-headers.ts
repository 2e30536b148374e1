import { type HeldDocument, positionHeaders, type Reply } from '../api/route.ts'
import type { Encoding } from './encoding.ts'
import { type Headers, jsonType } from './headers.ts'

type Given = NonNullable<Reply['headers']>

/** Headers of a document and of a 304 that stands for it: its tag, its position, and what is `given`. */
export function documentHeaders(given: Given, { etag, position }: HeldDocument): Headers {
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
