import * as v from 'valibot'

import { type Field, type Fields, type JsonSchema, problem, type ValuesOf } from './field.ts'

/** A body in which every field has a value at the end: its own, or what absence and null stand for. */
export function formOf<F extends Fields>(fields: F): v.GenericSchema<unknown, ValuesOf<F>>
export function formOf(fields: Fields): v.GenericSchema {
  return objectOf(fields, ({ input, fallback }) =>
    fallback === undefined ? input : v.nullish(input, copyOf(fallback))
  )
}

/** A body that changes a record: what is absent stays as it is, null resets a field that may be absent. */
export function changesOf<F extends Fields>(fields: F): v.GenericSchema<unknown, Partial<ValuesOf<F>>>
export function changesOf(fields: Fields): v.GenericSchema {
  return objectOf(fields, ({ input, fallback }) =>
    v.optional(fallback === undefined ? input : v.nullable(input, copyOf(fallback)))
  )
}

function objectOf(fields: Fields, entry: (field: Field<unknown>) => v.GenericSchema): v.GenericSchema {
  const accepted = Object.entries(fields).filter(([, { kind }]) => kind !== 'given')
  const entries = Object.fromEntries(accepted.map(([name, field]) => [name, entry(field)]))
  return v.pipe(
    v.unknown(),
    v.check(
      body => typeof body === 'object' && body !== null && !Array.isArray(body),
      problem('invalid_type', 'must be an object.')
    ),
    v.object(entries)
  )
}

/** A list must not be shared between two bodies that were sent without it. */
function copyOf(fallback: unknown) {
  return () => structuredClone(fallback)
}

/** A value of a field that shows a reader what is meant. */
export function exampleOf({ schema }: Field<unknown>): unknown {
  const { examples, default: fallback, enum: options, type } = schema
  if (Array.isArray(examples)) return examples[0]
  if (fallback !== undefined) return fallback
  if (Array.isArray(options)) return options[0]
  const empty: Readonly<Record<string, unknown>> = {
    integer: 0,
    number: 0,
    boolean: false,
    array: [],
    object: {}
  }
  return empty[String(type)] ?? ''
}

export interface BodyOptions {
  readonly isPartial?: boolean
  /** What else the record has: a body may repeat it, without effect. */
  readonly readOnly?: Readonly<Record<string, JsonSchema>>
}

/** The JSON Schema of a body of these fields. */
export function bodySchema(
  fields: Fields,
  { isPartial = false, readOnly = {} }: BodyOptions = {}
): JsonSchema {
  const accepted = Object.entries(fields).filter(([, { kind }]) => kind !== 'given')
  const required = accepted.filter(([, { fallback }]) => fallback === undefined).map(([name]) => name)
  const repeated = Object.entries(readOnly).map(([name, schema]) => [name, { ...schema, readOnly: true }])
  const described = Object.entries(fields).map(([name, { schema, accepts }]) => [name, accepts ?? schema])
  return {
    type: 'object',
    properties: Object.fromEntries([...repeated, ...described]),
    ...(isPartial || required.length === 0 ? {} : { required }),
    examples: [Object.fromEntries(accepted.map(([name, field]) => [name, exampleOf(field)]))]
  }
}
