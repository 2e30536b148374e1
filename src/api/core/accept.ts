import type * as v from 'valibot'

import type { Fields } from '../../model/fields/field.ts'
import { ApiError, fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { parseBody } from './parse.ts'

/**
 * Parses the body of a write. If optional fields are invalid, it is parsed without them, so that the hooks
 * can add their problems to the response; then `problems` is not empty, and nothing may be written. Throws
 * 400 if a field is invalid that is required or that the hooks depend on.
 */
export function acceptBody<Values>(
  schema: v.GenericSchema<unknown, Values>,
  fields: Fields,
  body: unknown,
  { isPartial }: { isPartial: boolean }
): { readonly values: Values; readonly problems: readonly FieldError[] } {
  try {
    return { values: parseBody(schema, body), problems: [] }
  } catch (error) {
    const problems = problemsIn(error)
    const rest = problems.length === 0 ? null : withoutInvalid(fields, body, problems, isPartial)
    if (rest === null) throw error
    try {
      return { values: parseBody(schema, rest), problems }
    } catch {
      throw error
    }
  }
}

/** Returns the problems, and of the others those of other fields. */
export function mergeProblems(problems: readonly FieldError[], others: readonly FieldError[]): FieldError[] {
  const invalid = invalidFields(problems)
  return [...problems, ...others.filter(({ field }) => !invalid.has(rootOf(field)))]
}

/** Throws 400 with all problems, if there are any. */
export function assertNoProblems([first, ...others]: readonly FieldError[]): void {
  if (first) throw ApiError.ofFields([first, ...others])
}

/** Returns a problem for each unknown element of a list. `prefix` is its field without the index. */
export function findUnknown<Value>(
  list: readonly Value[],
  known: ReadonlySet<Value>,
  prefix: string,
  sentence: string
): FieldError[] {
  return list.flatMap((each, index) =>
    known.has(each) ? [] : [fieldError(`${prefix}${index}`, 'not_found', sentence)]
  )
}

/** Returns the problems that an error lists; none unless it is a 400. */
export function problemsIn(error: unknown): FieldError[] {
  if (!(error instanceof ApiError) || error.kind !== 'invalid') return []
  const { errors } = error.extraData
  return Array.isArray(errors) ? errors.filter(isFieldError) : []
}

function withoutInvalid(
  fields: Fields,
  body: unknown,
  problems: readonly FieldError[],
  isPartial: boolean
): object | null {
  if (typeof body !== 'object' || body === null) return null
  const invalid = invalidFields(problems)
  const rest = Object.entries(body).filter(([name]) => !invalid.has(name))
  for (const name of invalid) {
    const field = fields[name]
    // The hooks decide by these what else they require.
    if (!field || field.isFixed || 'enum' in field.schema) return null
    if (field.fallback === undefined && !isPartial) return null
  }
  return Object.fromEntries(rest)
}

const rootOf = (field: string) => field.split('.')[0] ?? ''
const invalidFields = (problems: readonly FieldError[]) => new Set(problems.map(({ field }) => rootOf(field)))

function isFieldError(value: unknown): value is FieldError {
  return typeof value === 'object' && value !== null && 'field' in value && 'code' in value
}
