import { ApiError } from '../platform/runtime/errors.ts'
import { decodeForeignLinesInSlices, findCharset } from '../platform/text/foreign-text.ts'
import { isJsonType, parseLargeJsonBody } from '../platform/text/json-body.ts'
import { findCharsetField, parseForm } from '../platform/text/percent-encoding.ts'
import type { IncomingBody } from './body.ts'
import { getFile, parseFields, parseMultipart } from './form-body.ts'
import { isMultipart } from './multipart-body.ts'
import { parseRecordForm } from './record-form.ts'
import { type Admitted, formContentType, type Route } from './route.ts'

/** The body of a request that is read as a whole. */
export interface ReceivedBody {
  readonly contentType: string
  readonly incoming: IncomingBody
  readonly query: URLSearchParams
}

/** Parses a body. `form`: as of `Admitted`. */
export async function readBody(
  { contentType, incoming, query }: ReceivedBody,
  { textTypes = [], takesForm = false, byteTypes, maxBodyValues }: Route,
  form: Admitted['form']
): Promise<unknown> {
  const [typeName = ''] = contentType.toLowerCase().split(';')
  const type = typeName.trim()
  const charset = findCharset(contentType) ?? findCharsetField(query)
  if (isMultipart(contentType) && (byteTypes || textTypes.length > 0 || takesForm)) {
    const parts = await parseMultipart(await incoming.bytes, contentType, { charset })
    if (takesForm) return Object.fromEntries(parts.fields)
    return byteTypes ? getFile(parts) : decodeForeignLinesInSlices(getFile(parts), parts.charset)
  }
  if (byteTypes) {
    if (byteTypes.includes(type)) return incoming.bytes
    throw new ApiError('wrong-media-type', `The body must be one of ${byteTypes.join(', ')}.`)
  }
  if (isJsonType(contentType)) {
    // Forms come from radio programs, which do not know the encoding of their titles.
    return parseLargeJsonBody(await incoming.bytes, {
      maxValues: maxBodyValues,
      ...(takesForm && { charset })
    })
  }
  if (textTypes.includes(type)) return decodeForeignLinesInSlices(await incoming.bytes, charset)
  if (type === formContentType) assertFormSize(await incoming.bytes)
  if (takesForm && type === formContentType)
    return Object.fromEntries(parseForm(await incoming.bytes, charset))
  if (form && isMultipart(contentType))
    return parseRecordForm(await parseFields(await incoming.bytes, contentType), form)
  if (form && type === formContentType) return parseRecordForm(parseForm(await incoming.bytes, charset), form)
  throw new ApiError('wrong-media-type')
}

/** Forms are read at once, and text in them is encoded up to three times as long as in JSON. */
const maxFormBytes = 1024 * 1024

function assertFormSize({ length }: Uint8Array): void {
  if (length > maxFormBytes)
    throw new ApiError('too-large', `A form may have at most ${maxFormBytes} bytes: send JSON.`)
}
