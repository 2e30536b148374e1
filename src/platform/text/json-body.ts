import { isUtf8 } from 'node:buffer'

import { ApiError } from '../runtime/errors.ts'
import { runInTimeSlices } from '../runtime/time-slices.ts'
import { decodeForeignDocument, decodeUtf8InSlices } from './foreign-text.ts'
import { JsonProblem, maxJsonDepth, maxJsonMembers, maxTokenLength, parseJsonInParts } from './json-parts.ts'
import { findCharsetField } from './percent-encoding.ts'

/**
 * The most values in a body, unless its route takes more. Parsing and validating this many takes some 20 ms, in which
 * no other request is answered.
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
 * Parses a JSON body; undefined if it is empty. It must be UTF-8, unless a charset or null (unknown) is given: then its
 * texts are decoded one by one, also in the charset that a member names, because playouts send titles as they
 * receive them. Throws 400 if it is not JSON, is nested too deeply, has too many values, or has a field
 * `__proto__`, which could change the prototype of a copy.
 */
export function parseJsonBody(bytes: Uint8Array, { charset, ...options }: JsonOptions = {}): unknown {
  return parseText(charset === undefined ? decodeUtf8Body(bytes) : decodeForeignJson(bytes, charset), options)
}

/** Parses a body of any size as `parseJsonBody` does, and yields to the event loop between slices. */
export async function parseLargeJsonBody(
  bytes: Uint8Array,
  { charset, ...options }: JsonOptions = {}
): Promise<unknown> {
  if (bytes.length < largeBytes) return parseJsonBody(bytes, { charset, ...options })
  const text =
    charset === undefined
      ? ((await decodeUtf8InSlices(bytes)) ?? decodeUtf8Body(bytes))
      : decodeForeignJson(bytes, charset)
  const parts = parseParts(text, options)
  let value: unknown
  await runInTimeSlices(sliceMs, () => {
    const step = parts.next()
    value = step.value
    return step.done !== true
  })
  return value
}

/** A member `charset` or `_charset_` names the charset, as such a field of a form does. */
function decodeForeignJson(bytes: Uint8Array, charset: string | null): string {
  return decodeForeignDocument(bytes, '"', (isUtf8(bytes) ? null : findCharsetMember(bytes)) ?? charset)
}

/** Names of charsets are ASCII, so the other texts may be wrong here. */
function findCharsetMember(bytes: Uint8Array): string | null {
  if (bytes.length > largeBytes) return null
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  try {
    const members = new Map(Object.entries(Object(JSON.parse(text))))
    return findCharsetField({ get: name => textOf(members.get(name)) })
  } catch {
    return null
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)

const largeBytes = 64 * 1024
const sliceMs = 8

function parseText(text: string, options: Pick<JsonOptions, 'maxValues'>): unknown {
  if (text === '') return undefined
  const parts = parseParts(text, options)
  for (;;) {
    const step = parts.next()
    if (step.done) return step.value
  }
}

/** Throws 400 above the limits, which names the member of the body with too many values. */
function* parseParts(
  text: string,
  { maxValues = maxJsonValues }: Pick<JsonOptions, 'maxValues'>
): Generator<void, unknown> {
  try {
    return yield* parseJsonInParts(text, { maxValues, check: refuseProtos })
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error
    if (error.kind === 'malformed') throw createMalformedError('The body is not valid JSON.')
    if (error.kind === 'too-deep')
      throw createMalformedError(`The body is nested more than ${maxJsonDepth} levels deep.`)
    if (error.kind === 'too-many-members')
      throw createMalformedError(`The body has an object with more than ${maxJsonMembers} members.`, '')
    const message =
      error.kind === 'too-long'
        ? `The body has a text, number or white space of more than ${maxTokenLength} characters.`
        : `The body has more than ${maxValues.toLocaleString('en-US')} values.`
    throw ApiError.ofFields([{ field: error.member, code: 'too_long', message }])
  }
}

/** Throws 400 for bytes that are not UTF-8. */
export function decodeUtf8Body(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw createMalformedError('The body is not valid UTF-8.')
  }
}

/** A 400 for a body, or for a field of it. */
export function createMalformedError(message: string, field = ''): ApiError {
  return ApiError.ofFields([{ field, code: 'invalid_format', message }])
}

function refuseProtos(value: unknown, text: string): void {
  // Searching the text is faster than visiting all values. The name may be written with escapes.
  if (text.includes('__proto__') || text.includes('\\u')) visitProtos(value)
}

function visitProtos(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, '__proto__'))
    throw createMalformedError('A field cannot be named __proto__.', '__proto__')
  for (const member of Object.values(value)) visitProtos(member)
}
