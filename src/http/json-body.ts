import { ApiError } from '../errors.ts'

/** How deep arrays and objects of a body may be nested. */
export const maxDepth = 64

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** True for JSON media types, with any parameters; no content type counts as JSON. */
export function isJsonType(contentType: string): boolean {
  const [type = ''] = contentType.toLowerCase().split(';')
  return /^(application\/(json|[\w.-]+\+json))?$/.test(type.trim())
}

/**
 * Parses a request body; undefined if there is none. Throws a 400 for text that is not UTF-8 or not JSON, that
 * is nested too deeply, or that has a field named `__proto__`: a later copy of the object could change its prototype.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined
  const value = parseText(decodeText(bytes))
  check(value, 1)
  return value
}

/** Throws a 400 for bytes that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The body is not valid UTF-8.')
  }
}

function malformed(message: string, field = ''): ApiError {
  return ApiError.ofFields([{ field, code: 'invalid_format', message }])
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
}

function check(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth) throw malformed(`The body is nested more than ${maxDepth} levels deep.`)
  if (Object.hasOwn(value, '__proto__')) throw malformed('A field cannot be named __proto__.', '__proto__')
  for (const member of Object.values(value)) check(member, depth + 1)
}
