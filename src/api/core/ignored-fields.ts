import type { JsonSchema } from '../../model/fields/field.ts'
import { listSchemaAndAlternatives, isObjectOrArray } from '../../model/fields/schema-alternatives.ts'

const maxNames = 20
const maxCharacters = 1_000

/**
 * Returns a function from a body to the value of `X-Ignored-Fields`: the fields that the schema does not
 * describe, as dotted paths (`items.0.name`), and `...` if there are more than fit; empty if there are none.
 * Names are percent-encoded, so the value is printable ASCII.
 *
 * Without a schema no field is known. A schema has no references; one without fields accepts any field.
 */
export function openIgnoredFieldFinder(schema: JsonSchema = { properties: {} }): (body: unknown) => string {
  let compiled: { readonly known: Known | null } | undefined
  return body => {
    // Most schemas are not needed soon, and compiling all takes a tenth of the time of a start.
    compiled ??= { known: compileSchema(listSchemaAndAlternatives(schema)) }
    const names: string[] = []
    collect(body, compiled.known, '', names)
    return join(names)
  }
}

/** A schema, compiled once because lists may be long. Where it is null, every value is accepted. */
interface Known {
  /** The fields of an object by name. */
  readonly fields: ReadonlyMap<string, Known | null>
  /** Fields of all other names; undefined: they are unknown. */
  readonly others: Known | null | undefined
  /** The elements of a list. */
  readonly items: Known | null
}

/** Compiles alternatives into one schema; null without any. */
function compileSchema(schemas: readonly JsonSchema[]): Known | null {
  if (schemas.length === 0) return null
  const named = schemas.flatMap(({ properties }) =>
    isObjectOrArray(properties) ? Object.entries(properties) : []
  )
  const others = schemas.flatMap(({ additionalProperties }) =>
    listSchemaAndAlternatives(additionalProperties)
  )
  const items = compileSchema(schemas.flatMap(({ items: item }) => listSchemaAndAlternatives(item)))
  const isObjectKnown = schemas.some(each => 'properties' in each || 'additionalProperties' in each)
  if (!isObjectKnown) return items && { fields: new Map(), others: null, items }
  const byName = new Map<string, JsonSchema[]>()
  for (const [name, schema] of named)
    byName.set(name, [...(byName.get(name) ?? []), ...listSchemaAndAlternatives(schema)])
  return {
    fields: new Map([...byName].map(([name, alternatives]) => [name, compileSchema(alternatives)])),
    others: others.length === 0 ? undefined : compileSchema(others),
    items
  }
}

/** Adds the names of unknown fields inside a value, until there is one too many. */
function collect(value: unknown, known: Known | null, path: string, names: string[]): void {
  if (known === null || !isObjectOrArray(value)) return
  if (Array.isArray(value)) {
    for (let index = 0; known.items !== null && index < value.length && names.length <= maxNames; index++)
      if (isObjectOrArray(value[index])) collect(value[index], known.items, `${path}${index}.`, names)
    return
  }
  for (const name of Object.keys(value)) {
    const field = known.fields.get(name)
    const described = field === undefined ? known.others : field
    if (described === undefined) names.push(path + encodeName(name))
    else if (described !== null && isObjectOrArray(value[name]))
      collect(value[name], described, `${path}${encodeName(name)}.`, names)
    if (names.length > maxNames) return
  }
}

function join(names: readonly string[]): string {
  let list = ''
  for (const [index, name] of names.entries()) {
    const longer = index === 0 ? name : `${list}, ${name}`
    if (index === maxNames || longer.length > maxCharacters) return list === '' ? '...' : `${list}, ...`
    list = longer
  }
  return list
}

/** Encodes a name. One that is too long remains too long, so that it is not listed in part. */
function encodeName(name: string): string {
  if (name === '') return '""'
  return encodeURIComponent(name.slice(0, maxCharacters + 1).replace(/\p{Surrogate}/gu, '\uFFFD'))
}
