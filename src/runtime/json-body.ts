import { ApiError } from './errors.ts'
import { decodeForeignDocument, decodeUtf8InSlices } from './foreign-text.ts'

/** The maximum nesting of arrays and objects in a body. */
export const maxJsonDepth = 64

/**
 * The most values in a body, unless its route takes more. Parsing and validating this many takes some 20 ms, in which no other request
 * is answered.
 */
export const maxJsonValues = 20_000

interface JsonOptions {
  readonly maxValues?: number | undefined
  readonly charset?: string | null | undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Whether a content type is JSON, with any parameters; an empty one counts as JSON. */
export function isJsonType(contentType: string): boolean {
  const [type = ''] = contentType.toLowerCase().split(';')
  return /^(application\/(json|[\w.-]+\+json))?$/.test(type.trim())
}

/**
 * Parses a JSON body; undefined if it is empty. It must be UTF-8, unless a charset or null (unknown) is given: then its texts
 * are decoded one by one, because playouts send titles as they receive them. Throws 400 if it is not JSON, is nested too
 * deeply, has too many values, or has a field `__proto__`, which could change the prototype of a copy.
 */
export function parseJsonBody(bytes: Uint8Array, { charset, ...options }: JsonOptions = {}): unknown {
  return parseText(
    charset === undefined ? decodeText(bytes) : decodeForeignDocument(bytes, '"', charset),
    options
  )
}

/** Parses a body of any size as `parseJsonBody` does, which must be UTF-8, while others have their turn. */
export async function parseLargeJsonBody(
  bytes: Uint8Array,
  options: Pick<JsonOptions, 'maxValues'> = {}
): Promise<unknown> {
  const text = await decodeUtf8InSlices(bytes)
  return parseText(text ?? decodeText(bytes), options)
}

function parseText(text: string, { maxValues = maxJsonValues }: Pick<JsonOptions, 'maxValues'>): unknown {
  if (text === '') return undefined
  limitStructure(text, maxValues)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  // Searching the text is faster than visiting all values. The name may be written with escapes.
  if (text.includes('__proto__') || text.includes('\\u')) refuseProtos(value)
  return value
}

/**
 * Counts values and levels before any of them is built. Throws 400 above the limits, which names the member of the body with too
 * many values; text that is not JSON may pass.
 */
function limitStructure(text: string, maxValues: number): void {
  let values = 1
  let depth = 0
  let name = [0, 0]
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '"') {
      const end = endOfString(text, index)
      if (depth === 1 && /^\s*:/.test(text.slice(end + 1, end + 20))) name = [index, end + 1]
      index = end
    } else if (character === ',') values++
    else if (character === '[' || character === '{') {
      values++
      depth++
    } else if (character === ']' || character === '}') depth--
    if (values > maxValues) throw tooManyValues(text.slice(name[0], name[1]), maxValues)
    if (depth > maxJsonDepth) throw malformed(`The body is nested more than ${maxJsonDepth} levels deep.`)
  }
}

const maxNameLength = 100

function tooManyValues(name: string, maxValues: number): ApiError {
  const message = `The body has more than ${maxValues.toLocaleString('en-US')} values.`
  const field = name.slice(1, -1).slice(0, maxNameLength)
  return ApiError.ofFields([{ field, code: 'too_long', message }])
}

/** The index of the quote at the end of a string, or of the last character. */
function endOfString(text: string, start: number): number {
  for (let from = start + 1; ;) {
    const end = text.indexOf('"', from)
    if (end === -1) return text.length - 1
    let first = end
    while (text[first - 1] === '\\' && first - 1 > start) first--
    if ((end - first) % 2 === 0) return end
    from = end + 1
  }
}

/** Throws 400 for bytes that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The body is not valid UTF-8.')
  }
}

/** A 400 for a body, or for a field of it. */
export function malformed(message: string, field = ''): ApiError {
  return ApiError.ofFields([{ field, code: 'invalid_format', message }])
}

function refuseProtos(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, '__proto__')) throw malformed('A field cannot be named __proto__.', '__proto__')
  for (const member of Object.values(value)) refuseProtos(member)
}
