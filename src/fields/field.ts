import * as v from 'valibot'

import { hasPlainHost, parsedUrl } from '../outbound/networks.ts'

/** A JSON Schema (draft 2020-12), as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** One field of a record or of a body: how it is checked, kept and described. */
export interface Field<Value> {
  /** Checks an input that is there and gives it in the form in which it is kept. */
  readonly input: v.GenericSchema<unknown, Value>
  /** What an absent or null input stands for; undefined: it must be there. */
  readonly fallback: Value | undefined
  readonly schema: JsonSchema
  /** What a body may hold, where that is more than what is given out. */
  readonly accepts?: JsonSchema
  /**
   * `secret`: taken in, reads `""`. `private address`: redacted for callers who may not set it. `given`:
   * given out, ignored in a body.
   */
  readonly kind: 'plain' | 'secret' | 'private address' | 'given'
  /** Whether the table has a column for it. */
  readonly isStored: boolean
  /** Another value than at creation is refused. */
  readonly isFixed: boolean
}

export type Fields = Readonly<Record<string, Field<unknown>>>

/** The values of declared fields, by name. */
export type ValuesOf<F extends Fields> = {
  -readonly [Name in keyof F]: F[Name] extends Field<infer Value> ? Value : never
}

/** Said of every field: what it is for, and a value that a reader understands. */
export interface About {
  readonly about: string
  readonly example?: unknown
}

/**
 * The message of a failed check: a code word of the error body and a sentence that follows the field's name.
 */
export const problem = (code: string, sentence: string) => `${code}: ${sentence}`

const described = ({ about, example }: About): JsonSchema =>
  example === undefined ? { description: about } : { description: about, examples: [example] }

function plain<Value>(
  input: v.GenericSchema<unknown, Value>,
  fallback: Value | undefined,
  schema: JsonSchema
): Field<Value> {
  const withDefault = fallback === undefined ? schema : { ...schema, default: fallback }
  return { input, fallback, schema: withDefault, kind: 'plain', isStored: true, isFixed: false }
}

export interface TextOptions extends About {
  readonly max: number
  readonly min?: number
  readonly fallback?: string
  /** Line breaks and tabs are welcome. */
  readonly isLong?: boolean
  /** Blanks at both ends are dropped. */
  readonly isTrimmed?: boolean
  readonly pattern?: RegExp
  /** What `pattern` asks for: "must be ..." */
  readonly says?: string
}

/**
 * Text as Postgres keeps it: no NUL, no half of a surrogate pair; other control characters only in long
 * texts.
 */
export function text(options: TextOptions): Field<string> {
  const {
    max,
    min = 0,
    fallback,
    isLong = false,
    isTrimmed = false,
    pattern,
    says = 'is malformed.'
  } = options
  const forbidden = isLong ? /\0|\p{Surrogate}/u : /\p{Cc}|\p{Surrogate}/u
  const input = v.pipe(
    v.string(problem('invalid_type', 'must be text.')),
    v.transform(value => (isTrimmed ? value.trim() : value)),
    v.check(
      value => !forbidden.test(value),
      problem('invalid_format', 'holds characters that are not allowed.')
    ),
    v.check(value => min === 0 || value !== '', problem('blank', 'must not be empty.')),
    v.minLength(min, problem('too_short', `must have at least ${min} characters.`)),
    v.check(value => isWithin(value, max), problem('too_long', `must have at most ${max} characters.`)),
    v.check(
      value => !pattern || (value === '' && min === 0) || pattern.test(value),
      problem('invalid_format', says)
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

/** Whether a text has at most so many characters, as JSON Schema counts them: code points. */
function isWithin(value: string, max: number): boolean {
  return value.length <= max || (value.length <= 2 * max && Array.from(value).length <= max)
}

export interface NumberOptions extends About {
  readonly min: number
  readonly max: number
  readonly fallback?: number
}

/** A whole number, or digits that spell one. */
export function integer({ min, max, fallback, ...about }: NumberOptions): Field<number> {
  const input = v.pipe(wholeNumber, between(min, max))
  return plain(input, fallback, {
    type: 'integer',
    format: 'int64',
    ...described(about),
    minimum: min,
    maximum: max
  })
}

const wholeNumber = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.regex(/^-?\d{1,18}$/, whole()), v.transform(Number))], whole()),
  v.integer(whole()),
  v.safeInteger(problem('out_of_range', 'is too large.'))
)

function whole() {
  return problem('invalid_type', 'must be a whole number.')
}

/** A number, with a fraction or without, or text that spells one: `2.5`. */
export function decimal({ min, max, fallback, ...about }: NumberOptions): Field<number> {
  const input = v.pipe(anyNumber, between(min, max))
  return plain(input, fallback, {
    type: 'number',
    format: 'double',
    ...described(about),
    minimum: min,
    maximum: max
  })
}

const anyNumber = v.union(
  [v.number(), v.pipe(v.string(), v.regex(/^-?\d{1,15}(\.\d{1,15})?$/), v.transform(Number))],
  problem('invalid_type', 'must be a number.')
)

function between(min: number, max: number) {
  return v.check<number, string>(
    value => value >= min && value <= max,
    problem('out_of_range', `must be from ${min} to ${max}.`)
  )
}

/** True or false, also as 0, 1 or text. */
export function flag({ fallback, ...about }: About & { readonly fallback?: boolean }): Field<boolean> {
  return plain(truth, fallback, { type: 'boolean', ...described(about) })
}

const truths = new Map<unknown, boolean>([
  [true, true],
  [1, true],
  ['true', true],
  [false, false],
  [0, false],
  ['false', false]
])
const truth = v.pipe(
  v.unknown(),
  v.check(value => truths.has(value), problem('invalid_type', 'must be true or false.')),
  v.transform(value => truths.get(value) ?? false)
)

/** One of a few words. */
export function choice<const Option extends string>(
  options: readonly [Option, ...Option[]],
  { fallback, ...about }: About & { readonly fallback?: NoInfer<Option> }
): Field<Option> {
  const input = v.pipe(
    v.string(problem('invalid_type', 'must be text.')),
    v.picklist(options, problem('not_in_enum', `must be one of ${options.join(', ')}.`))
  )
  return plain(input, fallback, { type: 'string', enum: options, ...described(about) })
}

/** Whether a text is an http or https address without user and password. */
export function isWebAddress(value: string): boolean {
  const url = parsedUrl(value)
  if (!url || /[\s\p{Cc}\p{Surrogate}]/u.test(value)) return false
  const { protocol, username, password } = url
  return ['http:', 'https:'].includes(protocol) && hasPlainHost(url) && username === '' && password === ''
}

/** An http or https address, or nothing. */
export function webAddress({ max, ...about }: About & { readonly max: number }): Field<string> {
  const input = v.pipe(
    v.string(problem('invalid_type', 'must be text.')),
    v.trim(),
    v.maxLength(max, problem('too_long', `must have at most ${max} characters.`)),
    v.check(
      value => value === '' || isWebAddress(value),
      problem('invalid_url', 'must be an address that begins with http:// or https://.')
    )
  )
  return plain(input, '', {
    type: 'string',
    ...described(about),
    maxLength: max,
    pattern: '^$|^\\s*[hH][tT][tT][pP][sS]?://'
  })
}

/** Says no to a list that is too long before anybody looks at its elements. */
export function maxLength(max: number) {
  return v.check<unknown, string>(
    value => !Array.isArray(value) || value.length <= max,
    problem('too_long', `must have at most ${max} elements.`)
  )
}

/**
 * A list whose empty elements (null, "", [], {}), which example bodies made from a schema contain, are
 * dropped.
 */
export function listOf<Item>(
  item: v.GenericSchema<unknown, Item>,
  { max, items, ...about }: About & { readonly max: number; readonly items: JsonSchema }
): Field<Item[]> {
  const input = v.pipe(
    v.array(v.unknown(), problem('invalid_type', 'must be a list.')),
    v.maxLength(max, problem('too_long', `must have at most ${max} elements.`)),
    v.transform(elements => elements.filter(element => !isEmpty(element))),
    v.array(item)
  )
  return plain<Item[]>(input, [], { type: 'array', items, ...described(about), maxItems: max })
}

/** Named values are elements `{key, value}`; on the way in an object `{key: value}` means the same. */
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

/** A named value on its way in: null unsets it. */
export interface NamedChange {
  readonly key: string
  readonly value: NamedValue['value'] | null
}

const noNul = v.check<string, string>(
  value => !/[\0\p{Surrogate}]/u.test(value),
  problem('invalid_format', 'holds characters that are not allowed.')
)
const nameOfValue = v.pipe(
  v.string(problem('invalid_type', 'must be text.')),
  v.minLength(1, problem('blank', 'must not be empty.')),
  v.maxLength(255, problem('too_long', 'must have at most 255 characters.')),
  noNul
)
const scalar = v.union(
  [
    v.pipe(
      v.string(),
      v.maxLength(20_000, problem('too_long', 'must have at most 20000 characters.')),
      noNul
    ),
    v.pipe(v.number(), v.finite(problem('out_of_range', 'is too large.'))),
    v.boolean()
  ],
  problem('invalid_type', 'must be text, a number, true or false.')
)
const noObject = problem('invalid_type', 'must be an object with key and value.')
const namedValue = v.object({ key: nameOfValue, value: scalar }, noObject)
const namedChange = v.object({ key: nameOfValue, value: v.nullable(scalar) }, noObject)

/** Named values with distinct names. In an object in their place, what is empty is dropped. */
export function namedValues(options: About & { readonly max: number }): Field<NamedValue[]> {
  return distinctNames(namedValue, options, isEmpty)
}

/** The same on the way to a record that merges them: null unsets one, and empty text is a value. */
export function namedChanges(options: About & { readonly max: number }): Field<NamedChange[]> {
  return distinctNames(
    namedChange,
    options,
    value => typeof value === 'object' && value !== null && isEmpty(value)
  )
}

function distinctNames<Item extends NamedChange>(
  item: v.GenericSchema<unknown, Item>,
  options: About & { readonly max: number },
  isDropped: (value: unknown) => boolean
): Field<Item[]> {
  const { input, schema } = listOf(item, { items: namedValueSchema, ...options })
  const accepted = v.pipe(
    v.unknown(),
    v.transform(value => (isObject(value) ? namedItemsOf(value, isDropped) : value)),
    input,
    v.check(
      values => new Set(values.map(({ key }) => key)).size === values.length,
      problem('duplicate', 'holds a name twice.')
    )
  )
  const { description, ...list } = schema
  const object = { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } }
  return { ...plain<Item[]>(accepted, [], schema), accepts: { description, anyOf: [list, object] } }
}

/** A field checked by a schema of its own. */
export function custom<Value>(
  input: v.GenericSchema<unknown, Value>,
  {
    fallback,
    schema,
    accepts,
    ...about
  }: About & { readonly fallback?: Value; readonly schema: JsonSchema; readonly accepts?: JsonSchema }
): Field<Value> {
  const field = plain(input, fallback, { ...schema, ...described(about) })
  return accepts ? { ...field, accepts: { ...accepts, ...described(about) } } : field
}

/** Text that is taken in and never given out: it reads `""`, and `""` in a body keeps what is stored. */
export function secret(options: TextOptions): Field<string> {
  return hidden(text({ ...options, fallback: '' }))
}

/** The same field as a secret. */
export function hidden<Value>(field: Field<Value>): Field<Value> {
  const description = `${String(field.schema['description'])} Write-only: reads "".`
  return { ...field, schema: { ...field.schema, description }, kind: 'secret' }
}

/** An address that may hold a token: only callers who may set it see it whole. */
export function privateAddress(field: Field<string>): Field<string> {
  const description = `${String(field.schema['description'])} Keys that may not set it see its origin only.`
  return { ...field, schema: { ...field.schema, description }, kind: 'private address' }
}

/** A field the server computes; what a body says of it is ignored. `isStored`: from a column of that name. */
export function readOnly<Value>(
  about: About & { readonly schema: JsonSchema; readonly isStored?: boolean }
): Field<Value | undefined> {
  const schema = { ...about.schema, ...described(about), readOnly: true }
  const input = v.pipe(
    v.unknown(),
    v.transform(() => undefined)
  )
  return {
    input,
    fallback: undefined,
    schema,
    kind: 'given',
    isStored: about.isStored ?? false,
    isFixed: false
  }
}

/** The same field, fixed once the record is there. */
export function fixed<Value>(field: Field<Value>): Field<Value> {
  return { ...field, isFixed: true }
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function namedItemsOf(values: Readonly<Record<string, unknown>>, isDropped: (value: unknown) => boolean) {
  return Object.entries(values)
    .filter(([, value]) => !isDropped(value))
    .map(([key, value]) => ({ key, value }))
}
