import { ApiError } from './errors.ts'
import { decodeForeignDocument } from './foreign-text.ts'

/** The maximum nesting of arrays and objects in a body. */
export const maxJsonDepth = 64

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Whether a content type is JSON, with any parameters; an empty one counts as JSON. */
export function isJsonType(contentType: string): boolean {
  const [type = ''] = contentType.toLowerCase().split(';')
  return /^(application\/(json|[\w.-]+\+json))?$/.test(type.trim())
}

/**
 * Parses a JSON body; undefined if it is empty. Texts that are not UTF-8 are decoded one by one, because playouts
 * send titles as they receive them. Throws 400 if it is not JSON, is nested too deeply, or has a field `__proto__`,
 * which could change the prototype of a copy.
 */
export function parseJsonBody(bytes: Uint8Array, charset: string | null = null): unknown {
  if (bytes.length === 0) return undefined
  const text = decodeForeignDocument(bytes, '"', charset)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  checkStructure(value, 1)
  return value
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

function checkStructure(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxJsonDepth) throw malformed(`The body is nested more than ${maxJsonDepth} levels deep.`)
  if (Object.hasOwn(value, '__proto__')) throw malformed('A field cannot be named __proto__.', '__proto__')
  for (const member of Object.values(value)) checkStructure(member, depth + 1)
}
