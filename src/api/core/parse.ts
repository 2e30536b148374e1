import * as v from 'valibot'

import type { Fields, JsonSchema, ValuesOf } from '../../model/fields/field.ts'
import { changesValidator, toFieldErrors } from '../../model/fields/validators.ts'
import {
  ApiError,
  assertNoFieldErrors,
  type FieldError,
  fieldError,
  refuseField
} from '../../platform/runtime/errors.ts'
import { visitInTimeSlices } from '../../platform/runtime/time-slices.ts'

/** Parses a body. Throws 400 with the first problem of every invalid field. */
export function parseBody<const T extends v.GenericSchema>(schema: T, body: unknown): v.InferOutput<T> {
  const result = v.safeParse(schema, body === undefined ? {} : body, { abortPipeEarly: true })
  if (result.success) return result.output
  assertNoFieldErrors(toFieldErrors(result.issues))
  throw new ApiError('invalid')
}

/**
 * Parses the body of a write. If optional fields are invalid, it is parsed without them, so that the hooks
 * can add their problems to the response; then `problems` is not empty, and nothing may be written. Throws
 * 400 if a field is invalid that is required or that the hooks depend on.
 */
export function parseBodyWithProblems<Values>(
  schema: v.GenericSchema<unknown, Values>,
  fields: Fields,
  body: unknown,
  { isPartial }: { isPartial: boolean }
): { readonly values: Values; readonly problems: readonly FieldError[] } {
  try {
    return { values: parseBody(schema, body), problems: [] }
  } catch (error) {
    const problems = fieldErrorsOf(error)
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
export function mergeFieldErrors(
  problems: readonly FieldError[],
  others: readonly FieldError[]
): FieldError[] {
  const invalid = invalidFields(problems)
  return [...problems, ...others.filter(({ field }) => !invalid.has(rootOf(field)))]
}

/** Returns a problem for each unknown element of a list. `prefix` is its field without the index. */
export function findUnknownElements<Value>(
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
export function fieldErrorsOf(error: unknown): FieldError[] {
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

const maxProblems = 100
const sliceMs = 8

/**
 * Parses the elements of a list that may be long, in time slices. Throws 400 with the first problems; `at` is the field
 * of the list, empty for a body.
 */
export async function parseListElements<const T extends v.GenericSchema>(
  schema: T,
  elements: readonly unknown[],
  at: string
): Promise<v.InferOutput<T>[]> {
  const outputs: v.InferOutput<T>[] = []
  const problems: FieldError[] = []
  await visitInTimeSlices(sliceMs, elements, (element, index) => {
    const result = v.safeParse(schema, element, { abortPipeEarly: true })
    const place = at === '' ? String(index) : `${at}.${index}`
    if (result.success) outputs.push(result.output)
    else problems.push(...toFieldErrors(result.issues, place))
    // Each costs some microseconds.
    if (problems.length >= maxProblems) assertNoFieldErrors(problems.slice(0, maxProblems))
  })
  assertNoFieldErrors(problems)
  return outputs
}

/** Parses an id in a path. Throws 404 unless it is a canonical int64: `007` is not. */
export function parsePathId(text: string | undefined): number {
  const id = /^(0|[1-9]\d{0,18})$/.test(text ?? '') ? Number(text) : NaN
  if (!Number.isSafeInteger(id)) throw new ApiError('not-found')
  return id
}

/** Returns an id in a path. Throws 404 unless it matches the pattern. */
export function parsePathTextId(id = '', pattern: RegExp): string {
  if (!pattern.test(id)) throw new ApiError('not-found')
  return id
}

/** Parses an integer of a query; `fallback` if it is absent. Throws 400 with the name of the parameter. */
export function parseQueryInteger(
  query: URLSearchParams,
  name: string,
  { least, most, fallback }: { least: number; most: number; fallback: number }
): number {
  const text = query.get(name)
  if (text === null || text === '') return fallback
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1
  if (value >= least && value <= most) return value
  return refuseField(name, 'out_of_range', `must be a whole number from ${least} to ${most}.`)
}

/** Query parameters that filter a list; each has the name of its field. */
export function openQueryFilters<F extends Fields>(fields: F) {
  const queryValidator = changesValidator(fields)
  return {
    /** Ignores empty parameters. Throws 400 with the name of the parameter. */
    parse: (query: URLSearchParams): Partial<ValuesOf<F>> => {
      const present = [...query].filter(([name, value]) => value !== '' && Object.hasOwn(fields, name))
      return parseBody(queryValidator, Object.fromEntries(present))
    },
    schemas: Object.fromEntries<JsonSchema>(
      Object.entries(fields).map(([name, { schema }]) => {
        const { default: _default, ...withoutDefault } = schema
        return [name, withoutDefault]
      })
    )
  }
}
