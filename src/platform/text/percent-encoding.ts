import { ApiError } from '../runtime/errors.ts'
import { decodeForeignTextAsSent } from './foreign-text.ts'

/** Decodes percent escapes of any encoding; null if an escape is malformed. Keeps U+FFFD. */
export function decodePercent(text: string): string | null {
  // Most texts have none.
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return /%(?![\da-f]{2})/i.test(text) ? null : decodeForeignTextAsSent(unescapeBytes(toBinary(text)))
  }
}

/** The most fields of a form. */
export const maxFormFields = 1_000

/**
 * Parses the query of a URL. Escapes may be in any encoding; a parameter `charset` or `_charset_` names it. Keeps
 * U+FFFD.
 */
export function parseQuery(query: string): URLSearchParams {
  const parameters = new URLSearchParams(query)
  const isPlain =
    !query.includes('%') || (!query.includes('charset') && !parameters.toString().includes('%EF%BF%BD'))
  return isPlain ? parameters : decodeFields(toBinary(query), null)
}

/**
 * Parses a URL-encoded form, whose bytes and escapes may be in any encoding; `charset` and the fields `charset` and
 * `_charset_` name it. Throws 400 for a form with more than 1,000 fields. Keeps U+FFFD.
 */
export const parseUrlEncodedForm = (bytes: Uint8Array, charset: string | null): URLSearchParams =>
  decodeFields(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'), charset)

/** The names of fields that name the charset of a form, as those of Icecast and of HTML do. */
export const charsetFieldNames: readonly string[] = ['charset', '_charset_']

/** The charset that a form or query names; null if it names none. */
export const findCharsetField = (fields: {
  readonly get: (name: string) => string | null | undefined
}): string | null =>
  charsetFieldNames.map(name => fields.get(name)).find(named => typeof named === 'string') ?? null

/** One character per byte. */
const toBinary = (text: string): string => Buffer.from(text).toString('latin1')

function decodeFields(binary: string, charset: string | null): URLSearchParams {
  const fields = binary.split('&', maxFormFields + 1).filter(field => field !== '')
  if (fields.length > maxFormFields) {
    const message = `The form has more than ${maxFormFields.toLocaleString('en-US')} fields.`
    throw ApiError.ofFields([{ field: '', code: 'too_many', message }])
  }
  const pairs = fields.map(field => {
    const at = field.indexOf('=')
    const parts = at < 0 ? [field, ''] : [field.slice(0, at), field.slice(at + 1)]
    return parts.map(part => unescapeBytes(part.replaceAll('+', ' ')))
  })
  const named = pairs.find(([name]) => charsetFieldNames.includes(name?.toString('latin1') ?? ''))?.[1]
  const encoding = named?.toString('latin1') ?? charset
  return new URLSearchParams(
    pairs.map(([name, value]): [string, string] => [decode(name, encoding), decode(value, encoding)])
  )
}

const decode = (bytes: Buffer | undefined, charset: string | null) =>
  bytes === undefined ? '' : decodeForeignTextAsSent(bytes, charset)

/** Malformed escapes remain, as browsers do it. */
function unescapeBytes(binary: string): Buffer {
  const bytes = Buffer.from(binary, 'latin1')
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const escaped = bytes[at] === percentSign ? 16 * hexValue(bytes[at + 1]) + hexValue(bytes[at + 2]) : NaN
    bytes[length] = Number.isNaN(escaped) ? (bytes[at] ?? 0) : escaped
    length += 1
    if (!Number.isNaN(escaped)) at += 2
  }
  return bytes.subarray(0, length)
}

const percentSign = 0x25

/** The value of an ASCII hex digit; NaN for any other byte. */
const hexValue = (byte = 0) => hexValues[byte] ?? NaN

const hexValues = Array.from({ length: 128 }, (_, code) =>
  /[\da-f]/i.test(String.fromCharCode(code)) ? Number.parseInt(String.fromCharCode(code), 16) : NaN
)
