import * as v from 'valibot'

import type { FieldError } from '../../platform/runtime/errors.ts'
import { type Field, type Fields, type JsonSchema, formatCheckMessage, type ValuesOf } from './field.ts'

/** A complete body: absent and null fields get their defaults. */
export function bodyValidator<F extends Fields>(fields: F): v.GenericSchema<unknown, ValuesOf<F>>
export function bodyValidator(fields: Fields): v.GenericSchema {
  return objectOf(fields, ({ input, fallback }) =>
    fallback === undefined ? input : v.nullish(input, copyOf(fallback))
  )
}

/** A body that changes a record: absent fields stay, null resets a field that has a default. */
export function changesValidator<F extends Fields>(fields: F): v.GenericSchema<unknown, Partial<ValuesOf<F>>>
export function changesValidator(fields: Fields): v.GenericSchema {
  return objectOf(fields, ({ input, fallback }) =>
    v.optional(fallback === undefined ? input : v.nullable(input, copyOf(fallback)))
  )
}

function objectOf(fields: Fields, entry: (field: Field<unknown>) => v.GenericSchema): v.GenericSchema {
  const accepted = Object.entries(fields).filter(([, { kind }]) => kind !== 'read-only')
  const entries = Object.fromEntries(accepted.map(([name, field]) => [name, entry(field)]))
  return v.pipe(
    v.unknown(),
    v.check(
      body => typeof body === 'object' && body !== null && !Array.isArray(body),
      formatCheckMessage('invalid_type', 'must be an object.')
    ),
    v.object(entries)
  )
}

/** A copy, because two bodies must not share a default list. */
const copyOf = (fallback: unknown) => () => structuredClone(fallback)

/** An example value of a field: its example, default, first option, or an empty value of its type. */
export function exampleOfField({ schema }: Field<unknown>): unknown {
  const { examples, default: fallback, enum: options, type } = schema
  if (Array.isArray(examples)) return examples[0]
  if (fallback !== undefined) return fallback
  if (Array.isArray(options)) return options[0]
  const empty = new Map<unknown, unknown>([
    ['integer', 0],
    ['number', 0],
    ['boolean', false],
    ['array', []],
    ['object', {}]
  ])
  return empty.get(type) ?? ''
}

interface BodyOptions {
  readonly isPartial?: boolean
  /** Further members of the record, which are ignored in a body. */
  readonly readOnly?: Readonly<Record<string, JsonSchema>>
}

/** The JSON Schema of a body. */
export function bodySchema(
  fields: Fields,
  { isPartial = false, readOnly = {} }: BodyOptions = {}
): JsonSchema {
  const accepted = Object.entries(fields).filter(([, { kind }]) => kind !== 'read-only')
  const required = accepted.filter(([, { fallback }]) => fallback === undefined).map(([name]) => name)
  const repeated = Object.entries(readOnly).map(([name, schema]) => [name, { ...schema, readOnly: true }])
  const described = Object.entries(fields).map(([name, { schema, accepts }]) => [name, accepts ?? schema])
  return {
    type: 'object',
    properties: Object.fromEntries([...repeated, ...described]),
    ...(isPartial || required.length === 0 ? {} : { required }),
    examples: [Object.fromEntries(accepted.map(([name, field]) => [name, exampleOfField(field)]))]
  }
}

/** Error codes of the library's own checks. */
const codes: Record<string, string> = {
  min_value: 'out_of_range',
  max_value: 'out_of_range',
  min_length: 'too_short',
  max_length: 'too_long',
  picklist: 'not_in_enum',
  partial_check: 'out_of_range',
  raw_check: 'required'
}

/** A hostile body may contain a million errors. */
const maxErrors = 100

/** The errors of failed checks; `at` is the dotted path of the input, empty for a body. */
export function toFieldErrors(issues: readonly v.BaseIssue<unknown>[], at = ''): FieldError[] {
  return issues.slice(0, maxErrors).map(issue => {
    const field = [at, v.getDotPath(issue) ?? ''].filter(part => part !== '').join('.')
    const isMissing = (issue.input === undefined || issue.input === null) && issue.kind === 'schema'
    const [, own, sentence] = /^([a-z_]+): (.*)$/s.exec(issue.message) ?? []
    const code = isMissing ? 'required' : (own ?? codes[issue.type] ?? 'invalid_type')
    const reason = isMissing ? 'is required.' : (sentence ?? issue.message)
    return { field, code, message: field === '' ? `The body ${reason}` : `${field} ${reason}` }
  })
}
