import qs from 'qs'

import { type JsonSchema, numberTextPattern } from '../model/fields/field.ts'
import { listSchemaAndAlternatives, isObjectOrArray } from '../model/fields/schema-alternatives.ts'
import { refuseBody, refuseField } from '../platform/runtime/errors.ts'
import { maxFormFields } from '../platform/text/percent-encoding.ts'

const maxDepth = 8
const maxNameLength = 500

/**
 * Reads the fields of a form as a record, as PHP does: `a[b]` is a member, `a[]` and `a[0]` are elements of a list.
 * Texts become what the schema declares: numbers, true and false, and null where they are empty. Throws 400 for a form
 * that is no record.
 */
export function parseRecordForm(fields: URLSearchParams, schema: JsonSchema): unknown {
  assertFieldCount(fields)
  return convert(nest(fields), listSchemaAndAlternatives(schema))
}

function assertFieldCount(fields: URLSearchParams): void {
  if (fields.size > maxFormFields)
    refuseBody('too_many', `The form has more than ${maxFormFields.toLocaleString('en-US')} fields.`)
  for (const name of fields.keys()) {
    if (name.length > maxNameLength)
      refuseBody(
        'too_long',
        `A name of the form has more than ${maxNameLength} characters: ${name.slice(0, 100)}...`
      )
    if (/(^|\[)__proto__(\W|$)/.test(name))
      refuseField(name, 'invalid_format', 'cannot have the name __proto__.')
    // The members of which element is not certain.
    if (name.includes('[][')) refuseField(name, 'invalid_format', 'must have a number in the empty brackets.')
  }
}

function nest(fields: URLSearchParams): unknown {
  const values = [...fields.values()]
  // Only names are parsed: encoding and decoding large texts takes long.
  const names = Array.from(fields.keys(), (name, index) => `${encodeURIComponent(name)}=${index}`)
  try {
    return qs.parse(names.join('&'), {
      allowPrototypes: true,
      allowSparse: true,
      depth: maxDepth,
      decoder: (part: string, decode: (text: string) => string, _charset: string, kind: string) =>
        kind === 'value' ? (values[Number(part)] ?? '') : decode(part),
      duplicates: 'last',
      parameterLimit: maxFormFields,
      strictDepth: true
    })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return refuseBody('invalid_format', `The form is nested more than ${maxDepth} levels deep.`)
  }
}

const words = new Map([
  ['', false],
  ['0', false],
  ['false', false],
  ['off', false],
  ['1', true],
  ['true', true],
  ['on', true]
])

/** Returns a value with the types of its schemas. */
function convert(value: unknown, schemas: readonly JsonSchema[]): unknown {
  if (typeof value === 'string') return convertText(value, schemas)
  if (!isObjectOrArray(value)) return value
  // A list has the numbers from 0 on, without a gap; a map may have numbers as names.
  const members = Object.entries(value)
  if (members.length > 0 && members.every(([name], index) => name === String(index))) {
    const items = schemas.flatMap(each => listSchemaAndAlternatives(each['items']))
    return members.map(([, element]) => convert(element, items))
  }
  return Object.fromEntries(
    members.map(([name, member]) => [name, convert(member, schemasOfMember(name, schemas))])
  )
}

function convertText(value: string, schemas: readonly JsonSchema[]): unknown {
  const types = new Set(schemas.flatMap(({ type = [] }) => type))
  if (types.size === 0 || types.has('string')) return value
  if (types.has('boolean') && words.has(value)) return words.get(value)
  if (value === '') return null
  const isNumeric = types.has('integer') || types.has('number')
  return isNumeric && numberTextPattern.test(value) ? Number(value) : value
}

function schemasOfMember(name: string, schemas: readonly JsonSchema[]): JsonSchema[] {
  const named = schemas.flatMap(({ properties }) =>
    isObjectOrArray(properties) && Object.hasOwn(properties, name)
      ? listSchemaAndAlternatives(properties[name])
      : []
  )
  return named.length > 0
    ? named
    : schemas.flatMap(each => listSchemaAndAlternatives(each['additionalProperties']))
}
