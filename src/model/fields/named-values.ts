import * as v from 'valibot'

import { unstorablePattern } from '../../platform/text/foreign-text.ts'
import {
  type FieldAbout,
  type Field,
  isEmptyValue,
  type JsonSchema,
  listField,
  formatCheckMessage
} from './field.ts'

/** An element of a list of named values. A body may contain an object `{key: value}` instead of the list. */
export interface NamedValue {
  readonly key: string
  readonly value: string | number | boolean
}

export const namedValueSchema: JsonSchema = {
  type: 'object',
  properties: { key: { type: 'string' }, value: { type: ['string', 'number', 'boolean'] } },
  required: ['key', 'value'],
  additionalProperties: false
}

/** A named value in a body that is merged with a record: null unsets it. */
export interface NamedChange {
  readonly key: string
  readonly value: NamedValue['value'] | null
}

const withoutNul = v.check<string, string>(
  value => !unstorablePattern.test(value),
  formatCheckMessage('invalid_format', 'contains characters that are not allowed.')
)
const key = v.pipe(
  v.string(formatCheckMessage('invalid_type', 'must be text.')),
  v.minLength(1, formatCheckMessage('blank', 'must not be empty.')),
  v.maxLength(255, formatCheckMessage('too_long', 'must have at most 255 characters.')),
  withoutNul
)
const longText = v.pipe(
  v.string(),
  v.maxLength(20_000, formatCheckMessage('too_long', 'must have at most 20000 characters.')),
  withoutNul
)
const scalar = v.union(
  [longText, v.pipe(v.number(), v.finite(formatCheckMessage('out_of_range', 'is too large.'))), v.boolean()],
  formatCheckMessage('invalid_type', 'must be text, a number, true or false.')
)
const notNamed = formatCheckMessage('invalid_type', 'must be an object with key and value.')
const namedValue = v.object({ key, value: scalar }, notNamed)
const namedChange = v.object({ key, value: v.nullable(scalar) }, notNamed)

/** Named values with distinct names. Empty members of an object are dropped. */
export function namedValuesField(options: FieldAbout & { readonly max: number }): Field<NamedValue[]> {
  return distinctNames(namedValue, options, isEmptyValue)
}

/** Named values to be merged with a record: null unsets one, and empty text is a value. */
export function namedChangesField(options: FieldAbout & { readonly max: number }): Field<NamedChange[]> {
  return distinctNames(namedChange, options, value => value !== null && value !== '' && isEmptyValue(value))
}

function distinctNames<Item extends NamedChange>(
  item: v.GenericSchema<unknown, Item>,
  options: FieldAbout & { readonly max: number },
  isDropped: (value: unknown) => boolean
): Field<Item[]> {
  const list = listField(item, { items: namedValueSchema, ...options })
  const toList = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value)
          .filter(([, member]) => !isDropped(member))
          .map(([name, member]) => ({ key: name, value: member }))
      : value
  const input = v.pipe(
    v.unknown(),
    v.transform(toList),
    list.input,
    v.check(
      values => new Set(values.map(each => each.key)).size === values.length,
      formatCheckMessage('duplicate', 'contains a name twice.')
    )
  )
  const { description, ...listSchema } = list.schema
  const object = { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } }
  return { ...list, input, accepts: { description, anyOf: [listSchema, object] } }
}
