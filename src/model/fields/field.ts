import * as v from 'valibot'

import { hasHeaderSafeHost, parseUrl } from '../../platform/outbound/networks.ts'
import { unstorablePattern } from '../../platform/text/foreign-text.ts'

/** A JSON Schema (draft 2020-12), as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** One field of a record or of a body: its validation, default and documentation. */
export interface Field<Value> {
  /** Validates an input that is present, and returns the value to store. */
  readonly input: v.GenericSchema<unknown, Value>
  /** The value of an absent or null input; undefined if the field is required. */
  readonly fallback: Value | undefined
  readonly schema: JsonSchema
  /** The schema of the input, if it differs from that of the output. */
  readonly accepts?: JsonSchema
  /**
   * `secret`: write-only, reads `""`. `private address`: redacted for callers who may not set it.
   * `read-only`: ignored in a body.
   */
  readonly kind: 'plain' | 'secret' | 'private address' | 'read-only'
  /** Whether the table has a column for it. */
  readonly isStored: boolean
  /** Whether the value cannot be changed after creation. */
  readonly isFixed: boolean
  /** Whether a secret is stored as a hash, which cannot be turned back, instead of sealed. */
  readonly isHashed?: boolean
  /** Whether the audit log says only that it changed, as for a secret. */
  readonly isUnaudited?: boolean
}

export type Fields = Readonly<Record<string, Field<unknown>>>

/** The values of declared fields, by name. */
export type ValuesOf<F extends Fields> = {
  -readonly [Name in keyof F]: F[Name] extends Field<infer Value> ? Value : never
}

/** The column of a field: `s3Bucket` is `s3_bucket`. */
export function toColumnName(field: string): string {
  return field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** The sealing purpose of a secret: its table and column. */
export const sealingPurpose = (table: string, field: string): string => `${table}.${toColumnName(field)}`

/** The documentation of a field, with an example if the default is not one. */
export interface FieldAbout {
  readonly about: string
  readonly example?: unknown
}

/** The message of a failed check: an error code, and a sentence that follows the field's name. */
export const formatCheckMessage = (code: string, sentence: string) => `${code}: ${sentence}`

const described = ({ about, example }: FieldAbout): JsonSchema =>
  example === undefined ? { description: about } : { description: about, examples: [example] }

function plain<Value>(
  input: v.GenericSchema<unknown, Value>,
  fallback: Value | undefined,
  schema: JsonSchema
): Field<Value> {
  const withDefault = fallback === undefined ? schema : { ...schema, default: fallback }
  return { input, fallback, schema: withDefault, kind: 'plain', isStored: true, isFixed: false }
}

const anyText = v.string(formatCheckMessage('invalid_type', 'must be text.'))

interface TextOptions extends FieldAbout {
  readonly max: number
  readonly min?: number
  readonly fallback?: string
  /** Allows line breaks and tabs. */
  readonly isLong?: boolean
  /** Removes blanks at both ends. */
  readonly isTrimmed?: boolean
  readonly pattern?: RegExp
  /** What `pattern` requires: "must be ..." */
  readonly says?: string
}

/** Text that may be stored: no NUL, lone surrogate or U+FFFD. Other controls are allowed in long texts only. */
export function textField(options: TextOptions): Field<string> {
  const { max, min = 0, fallback, isLong = false, isTrimmed = false, pattern } = options
  const forbidden = isLong ? /\0/ : /\p{Cc}/u
  const input = v.pipe(
    anyText,
    v.transform(value => (isTrimmed ? value.trim() : value)),
    v.check(
      value => !value.includes('\uFFFD'),
      formatCheckMessage('invalid_format', 'contains U+FFFD, which replaces a character that was lost.')
    ),
    v.check(
      value => !forbidden.test(value) && !unstorablePattern.test(value),
      formatCheckMessage('invalid_format', 'contains characters that are not allowed.')
    ),
    v.check(value => min === 0 || value !== '', formatCheckMessage('blank', 'must not be empty.')),
    v.minLength(min, formatCheckMessage('too_short', `must have at least ${min} characters.`)),
    v.check(
      value => isWithin(value, max),
      formatCheckMessage('too_long', `must have at most ${max} characters.`)
    ),
    v.check(
      value => !pattern || (value === '' && min === 0) || pattern.test(value),
      formatCheckMessage('invalid_format', options.says ?? 'is malformed.')
    )
  )
  const schema = {
    type: 'string',
    ...described(options),
    maxLength: max,
    ...(min > 0 ? { minLength: min } : {}),
    ...(pattern ? { pattern: min > 0 ? pattern.source : `^$|${pattern.source}` } : {})
  }
  return plain(input, fallback, schema)
}

/** Whether a text has at most `max` code points, as JSON Schema counts. */
function isWithin(value: string, max: number): boolean {
  return value.length <= max || (value.length <= 2 * max && Array.from(value).length <= max)
}

interface NumberOptions extends FieldAbout {
  readonly min: number
  readonly max: number
  readonly fallback?: number
}

function numeric(
  input: v.GenericSchema<unknown, number>,
  type: JsonSchema,
  { min, max, fallback, ...about }: NumberOptions
): Field<number> {
  const isInRange = v.check<number, string>(
    value => value >= min && value <= max,
    formatCheckMessage('out_of_range', `must be from ${min} to ${max}.`)
  )
  const schema = { ...type, ...described(about), minimum: min, maximum: max }
  return plain(v.pipe(input, isInRange), fallback, schema)
}

const notWhole = formatCheckMessage('invalid_type', 'must be a whole number.')
const wholeNumber = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.regex(/^-?\d{1,18}$/, notWhole), v.transform(Number))], notWhole),
  v.integer(notWhole),
  v.safeInteger(formatCheckMessage('out_of_range', 'is too large.'))
)
/** A number as text. */
export const numberTextPattern = /^-?\d{1,15}(\.\d{1,15})?$/

const anyNumber = v.union(
  [v.number(), v.pipe(v.string(), v.regex(numberTextPattern), v.transform(Number))],
  formatCheckMessage('invalid_type', 'must be a number.')
)

/** A whole number, or its digits as text. */
export const integerField = (options: NumberOptions) =>
  numeric(wholeNumber, { type: 'integer', format: 'int64' }, options)

/** A number, or text such as `2.5`. */
export const decimalField = (options: NumberOptions) =>
  numeric(anyNumber, { type: 'number', format: 'double' }, options)

const truthy = new Set<unknown>([true, 1, 'true'])
const falsy = new Set<unknown>([false, 0, 'false'])
const boolean = v.pipe(
  v.unknown(),
  v.check(
    value => truthy.has(value) || falsy.has(value),
    formatCheckMessage('invalid_type', 'must be true or false.')
  ),
  v.transform(value => truthy.has(value))
)

/** True or false, also as 0, 1 or text. */
export function flagField({
  fallback,
  ...about
}: FieldAbout & { readonly fallback?: boolean }): Field<boolean> {
  return plain(boolean, fallback, { type: 'boolean', ...described(about) })
}

/** One of several words. */
export function choiceField<const Option extends string>(
  options: readonly [Option, ...Option[]],
  { fallback, ...about }: FieldAbout & { readonly fallback?: NoInfer<Option> }
): Field<Option> {
  const isOption = v.picklist(
    options,
    formatCheckMessage('not_in_enum', `must be one of ${options.join(', ')}.`)
  )
  const schema = { type: 'string', enum: options, ...described(about) }
  return plain(v.pipe(anyText, isOption), fallback, schema)
}

/** Whether a text is an http or https URL without user and password. */
export function isWebAddress(value: string): boolean {
  const url = parseUrl(value)
  if (!url || /[\s\p{Cc}]/u.test(value) || unstorablePattern.test(value)) return false
  const { protocol, username, password } = url
  return (
    ['http:', 'https:'].includes(protocol) && hasHeaderSafeHost(url) && username === '' && password === ''
  )
}

/** An http or https URL, or empty text. */
export function webAddressField({ max, ...about }: FieldAbout & { readonly max: number }): Field<string> {
  const input = v.pipe(
    anyText,
    v.trim(),
    v.maxLength(max, formatCheckMessage('too_long', `must have at most ${max} characters.`)),
    v.check(
      value => value === '' || isWebAddress(value),
      formatCheckMessage('invalid_url', 'must be an address that begins with http:// or https://.')
    )
  )
  const pattern = '^$|^\\s*[hH][tT][tT][pP][sS]?://'
  return plain(input, '', { type: 'string', ...described(about), maxLength: max, pattern })
}

/** Refuses a list that is too long before its elements are validated. */
export function maxElementsCheck(max: number) {
  return v.check<unknown, string>(
    value => !Array.isArray(value) || value.length <= max,
    formatCheckMessage('too_long', `must have at most ${max} elements.`)
  )
}

/** A list. Empty elements (null, "", [], {}), as in bodies generated from the schema, are dropped. */
export function listField<Item>(
  item: v.GenericSchema<unknown, Item>,
  { max, items, ...about }: FieldAbout & { readonly max: number; readonly items: JsonSchema }
): Field<Item[]> {
  const input = v.pipe(
    v.array(v.unknown(), formatCheckMessage('invalid_type', 'must be a list.')),
    v.maxLength(max, formatCheckMessage('too_long', `must have at most ${max} elements.`)),
    v.transform(elements => elements.filter(element => !isEmptyValue(element))),
    v.array(item)
  )
  return plain<Item[]>(input, [], { type: 'array', items, ...described(about), maxItems: max })
}

/** Whether a value is null, `""`, `[]` or `{}`. */
export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** A field with its own validation and schema. */
export function validatedField<Value>(
  input: v.GenericSchema<unknown, Value>,
  {
    fallback,
    schema,
    accepts,
    ...about
  }: FieldAbout & { readonly fallback?: Value; readonly schema: JsonSchema; readonly accepts?: JsonSchema }
): Field<Value> {
  const field = plain(input, fallback, { ...schema, ...described(about) })
  return accepts ? { ...field, accepts: { ...accepts, ...described(about) } } : field
}

/** Write-only text: it reads `""`, and `""` in a body keeps the stored value. */
export const secretField = (options: TextOptions): Field<string> =>
  writeOnlyField(textField({ ...options, fallback: '' }))

/** Makes a field write-only. */
export function writeOnlyField<Value>(field: Field<Value>): Field<Value> {
  const noted = withNote(field, 'Write-only: reads "".')
  return { ...noted, schema: { ...noted.schema, writeOnly: true }, kind: 'secret' }
}

/** Makes a secret one of which only a hash is stored. */
export const hashedField = (field: Field<string>): Field<string> => ({ ...field, isHashed: true })

/** Keeps the values of a field, which may contain secrets, out of the audit log. */
export const unauditedField = <Value>(field: Field<Value>): Field<Value> => ({ ...field, isUnaudited: true })

/** Makes an address private, because it may contain a token: only callers who may set it read it whole. */
export function maskedAddressField(field: Field<string>): Field<string> {
  return { ...withNote(field, 'Keys that may not set it see its origin only.'), kind: 'private address' }
}

function withNote<Value>(field: Field<Value>, note: string): Field<Value> {
  const description = `${String(field.schema['description'])} ${note}`
  return { ...field, schema: { ...field.schema, description } }
}

/** A field that the server computes, and that is ignored in a body. `isStored`: read from its column. */
export function readOnlyField<Value>({
  schema,
  isStored = false,
  ...about
}: FieldAbout & { readonly schema: JsonSchema; readonly isStored?: boolean }): Field<Value | undefined> {
  const input = v.pipe(
    v.unknown(),
    v.transform(() => undefined)
  )
  const field = plain<Value | undefined>(input, undefined, { ...schema, ...described(about), readOnly: true })
  return { ...field, kind: 'read-only', isStored }
}

/** Makes a field constant after creation; `x-fixed` in its schema tells forms. */
export function fixedField<Value>(field: Field<Value>): Field<Value> {
  return { ...field, schema: { ...field.schema, 'x-fixed': true }, isFixed: true }
}
