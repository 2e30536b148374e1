import type { JsonSchema } from '../../fields/field.ts'

const mostNames = 20
const mostCharacters = 1_000

/**
 * Returns a function from a body to the value of `X-Ignored-Fields`: the fields that the schema does not
 * describe, as dotted paths (`items.0.name`), and `...` where there are more than fit; empty if there are
 * none. Whatever the names are, the value is printable ASCII: other characters, commas and blanks in names
 * are percent-encoded.
 *
 * Without a schema no field is known. A schema refers to no other one, and one without fields takes an object
 * as it is.
 */
export function ignoredFieldsFor(schema: JsonSchema = { properties: {} }): (body: unknown) => string {
  const known = compile(alternativesOf(schema))
  return body => {
    const names: string[] = []
    collect(body, known, '', names)
    return join(names)
  }
}

/**
 * What a schema describes of a value, made once, as lists may be long. Null: nothing, the value is taken as
 * it is.
 */
interface Known {
  /** The fields of an object by name. */
  readonly fields: ReadonlyMap<string, Known | null>
  /** Fields of all other names; undefined: there may be none. */
  readonly others: Known | null | undefined
  /** The elements of a list. */
  readonly items: Known | null
}

/** What alternatives describe together; null without any. */
function compile(schemas: readonly JsonSchema[]): Known | null {
  if (schemas.length === 0) return null
  const named = schemas.flatMap(({ properties }) => (isObject(properties) ? Object.entries(properties) : []))
  const others = schemas.flatMap(({ additionalProperties }) => alternativesOf(additionalProperties))
  const items = compile(schemas.flatMap(({ items: item }) => alternativesOf(item)))
  const isObjectKnown = schemas.some(each => 'properties' in each || 'additionalProperties' in each)
  if (!isObjectKnown) return items && { fields: new Map(), others: null, items }
  const byName = new Map<string, JsonSchema[]>()
  for (const [name, schema] of named)
    byName.set(name, [...(byName.get(name) ?? []), ...alternativesOf(schema)])
  return {
    fields: new Map([...byName].map(([name, alternatives]) => [name, compile(alternatives)])),
    others: others.length === 0 ? undefined : compile(others),
    items
  }
}

/** A schema and those that it offers a choice of; none for what is no schema. */
function alternativesOf(schema: unknown): JsonSchema[] {
  if (schema === true) return [{}]
  if (!isObject(schema)) return []
  const offered = [schema['oneOf'], schema['anyOf'], schema['allOf']]
  return [schema, ...offered.flatMap(choice => (Array.isArray(choice) ? choice.flatMap(alternativesOf) : []))]
}

/** Adds the names of unknown fields inside a value; stops when one is too many. */
function collect(value: unknown, known: Known | null, path: string, names: string[]): void {
  if (known === null || !isObject(value)) return
  if (Array.isArray(value)) {
    for (let index = 0; known.items !== null && index < value.length && names.length <= mostNames; index++)
      if (isObject(value[index])) collect(value[index], known.items, `${path}${index}.`, names)
    return
  }
  for (const name of Object.keys(value)) {
    const field = known.fields.get(name)
    const described = field === undefined ? known.others : field
    if (described === undefined) names.push(path + encodeName(name))
    else if (described !== null && isObject(value[name]))
      collect(value[name], described, `${path}${encodeName(name)}.`, names)
    if (names.length > mostNames) return
  }
}

function join(names: readonly string[]): string {
  let list = ''
  for (const [index, name] of names.entries()) {
    const longer = index === 0 ? name : `${list}, ${name}`
    if (index === mostNames || longer.length > mostCharacters) return list === '' ? '...' : `${list}, ...`
    list = longer
  }
  return list
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** A name that is too long stays too long, so that no part of it passes for the whole. */
function encodeName(name: string): string {
  if (name === '') return '""'
  return encodeURIComponent(name.slice(0, mostCharacters + 1).replace(/\p{Surrogate}/gu, '\uFFFD'))
}
