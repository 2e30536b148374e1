import type * as v from 'valibot'

import type { Fields } from '../../fields/field.ts'
import { ApiError, type FieldError } from '../../runtime/errors.ts'
import { parseBody } from './parse.ts'

/** A body as far as it makes sense, and what is wrong with the rest. */
export interface Accepted<Values> {
  readonly values: Values
  readonly problems: readonly FieldError[]
}

/**
 * Parses the body of a write. If optional fields are invalid, it is parsed without them, so that the rules of
 * the resource can add their problems to the response; then `problems` is not empty, and nothing may be
 * written. Throws 400 if a field is invalid that the rules depend on, or that is required.
 */
export function acceptBody<Values>(
  schema: v.GenericSchema<unknown, Values>,
  fields: Fields,
  body: unknown,
  { isPartial }: { isPartial: boolean }
): Accepted<Values> {
  try {
    return { values: parseBody(schema, body), problems: [] }
  } catch (error) {
    const problems = problemsIn(error)
    const rest = problems.length === 0 ? null : withoutBad(fields, body, problems, isPartial)
    if (rest === null) throw error
    try {
      return { values: parseBody(schema, rest), problems }
    } catch {
      throw error
    }
  }
}

/** All problems of a write: those of its fields, and those of the rules that are about other fields. */
export function allProblems(problems: readonly FieldError[], ofRules: readonly FieldError[]): FieldError[] {
  const bad = badFields(problems)
  return [...problems, ...ofRules.filter(({ field }) => !bad.has(rootOf(field)))]
}

/** The problems an error tells of; none where it is no 400. */
export function problemsIn(error: unknown): FieldError[] {
  if (!(error instanceof ApiError) || error.kind !== 'invalid') return []
  const { errors } = error.extraData
  return Array.isArray(errors) ? errors.filter(isFieldError) : []
}

function withoutBad(
  fields: Fields,
  body: unknown,
  problems: readonly FieldError[],
  isPartial: boolean
): object | null {
  if (typeof body !== 'object' || body === null) return null
  const bad = badFields(problems)
  const rest = Object.entries(body).filter(([name]) => !bad.has(name))
  for (const name of bad) {
    const field = fields[name]
    // What the record is decides what the rules ask of it.
    if (!field || field.isFixed || 'enum' in field.schema) return null
    if (field.fallback === undefined && !isPartial) return null
  }
  return Object.fromEntries(rest)
}

const rootOf = (field: string) => field.split('.')[0] ?? ''
const badFields = (problems: readonly FieldError[]) => new Set(problems.map(({ field }) => rootOf(field)))

function isFieldError(value: unknown): value is FieldError {
  return typeof value === 'object' && value !== null && 'field' in value && 'code' in value
}
