import type { JsonSchema } from '../../model/fields/field.ts'
import { arrayOf, exactObject, int64, string } from '../core/schemas.ts'
import { isJsonBody } from './record-dialect.ts'

/** How the schema of an answer differs from the documented one. */
interface SchemaChanges {
  /** Members that may be null beside their documented values. */
  readonly nullable?: readonly string[]
  /** Members that the documented record does not have, or that differ. */
  readonly fields?: Readonly<Record<string, JsonSchema>>
  readonly omitted?: readonly string[]
}

/** Returns a function that changes the schema of an object. All new members are required. */
export const schemaChanger =
  ({ nullable = [], fields = {}, omitted = [] }: SchemaChanges) =>
  (documented: JsonSchema): JsonSchema => {
    const { examples: _examples, properties, required, ...others } = documented
    const known = isJsonBody(properties) ? properties : {}
    const changed = Object.fromEntries(
      Object.entries(known).map(([name, schema]) => [
        name,
        nullable.includes(name) ? toNullableSchema(schema) : schema
      ])
    )
    const names: string[] = [...(Array.isArray(required) ? required : []), ...Object.keys(fields)]
    return {
      ...others,
      properties: Object.fromEntries(
        Object.entries({ ...changed, ...fields }).filter(([name]) => !omitted.includes(name))
      ),
      required: [...new Set(names)].filter(name => !omitted.includes(name))
    }
  }

/** Returns a function that replaces the schema of an object by one with exactly these members. */
export const schemaReplacer =
  (fields: Readonly<Record<string, JsonSchema>>) =>
  ({ description }: JsonSchema): JsonSchema => ({ description, ...exactObject(fields) })

/** The schema of a member of an object. */
export function memberSchema({ properties }: JsonSchema, name: string): JsonSchema {
  const schema = isJsonBody(properties) ? properties[name] : undefined
  return isJsonBody(schema) ? schema : {}
}

export function toNullableSchema(schema: unknown): JsonSchema {
  if (!isJsonBody(schema)) return {}
  const { type } = schema
  const isPlain = typeof type === 'string' && !('const' in schema) && !('enum' in schema)
  return isPlain ? { ...schema, type: [type, 'null'] } : { anyOf: [schema, { type: 'null' }] }
}

export const nullSchema: JsonSchema = { type: 'null' }
export const nullableString: JsonSchema = { type: ['string', 'null'] }
export const selfLinkSchema = exactObject({ self: string })
/** Links by name; some depend on the record. */
export const linksSchema: JsonSchema = {
  type: 'object',
  properties: { self: string },
  additionalProperties: {}
}
/** A map, which PHP encodes as a list if it has no members. */
export const phpMapSchema: JsonSchema = {
  oneOf: [{ type: 'object' }, { type: 'array', items: {}, maxItems: 0 }]
}
export const isoTime: JsonSchema = { type: 'string', format: 'date-time' }
export const nullableIsoTime: JsonSchema = { type: ['string', 'null'], format: 'date-time' }

/** A playlist of a file or a folder. */
export const filePlaylistsSchema = arrayOf(
  exactObject({ id: int64, name: string, short_name: string, folder: nullableString, count: int64 })
)
