import { isDeepStrictEqual } from 'node:util'

import type { JsonSchema } from '../../model/fields/field.ts'
import { isObjectOrArray } from '../../model/fields/schema-alternatives.ts'
import type { Dialect } from '../../model/station/dialect.ts'
import { schemaRef, schemaName } from './schemas.ts'

/** A dialect to describe: the variants of routes, and how schemas with names differ. */
export interface OpenApiDialect {
  readonly name: Dialect
  readonly changeSchema: (name: string, documented: JsonSchema) => JsonSchema
}

/**
 * Collects the schemas of an OpenAPI document. Each has a name of its own and a description. Throws for two different
 * schemas of one name, also if the names differ in case only: generators write a file for each.
 */
export function openSchemaCollector(
  shared: Readonly<Record<string, JsonSchema>>,
  changeSchema: OpenApiDialect['changeSchema']
) {
  const schemas = new Map<string, JsonSchema>()
  const namesInLowerCase = new Map<string, string>()
  const referred = new Set<string>()
  const references = new Map<JsonSchema, JsonSchema>()
  for (const [name, schema] of Object.entries(shared)) add(name, schema)

  /** Adds a schema, and those in it that have names. Returns the reference to it. */
  function add(name: string, schema: JsonSchema): JsonSchema {
    const reference = references.get(schema) ?? schemaRef(name)
    if (references.has(schema)) return reference
    references.set(schema, reference)
    const { description } = schema
    if (typeof description !== 'string') throw new Error(`the schema ${name} has no description`)
    const added = Object.fromEntries(
      Object.entries(changeSchema(name, schema)).map(([key, value]) => [key, refer(value)])
    )
    const same = namesInLowerCase.get(name.toLowerCase()) ?? name
    const known = schemas.get(same)
    if (known !== undefined && (same !== name || !isDeepStrictEqual(known, added)))
      throw new Error(`two different schemas of the OpenAPI document are named ${name}`)
    schemas.set(name, added)
    namesInLowerCase.set(name.toLowerCase(), name)
    return reference
  }

  /** Copies a part of a schema, with references in place of schemas that have names. */
  function refer(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(refer)
    if (!isObjectOrArray(value)) return value
    const name = schemaName(value)
    if (name === null)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, refer(inner)]))
    if (!('$ref' in value)) return add(name, value)
    referred.add(name)
    return value
  }

  return {
    /**
     * Returns the reference to a schema, which is added. `name` and `description` are those of a schema that has none
     * of its own.
     */
    refer(schema: JsonSchema, name: string, description: string): JsonSchema {
      const own = schemaName(schema)
      if (own === null) return add(name, { description, ...schema })
      referred.add(own)
      return '$ref' in schema ? schema : add(own, schema)
    },
    /** Returns all schemas by name. Throws for a reference to a schema that was not added. */
    finish(): Readonly<Record<string, JsonSchema>> {
      const unknown = [...referred].find(name => !schemas.has(name))
      if (unknown !== undefined) throw new Error(`no schema of the OpenAPI document is named ${unknown}`)
      return Object.fromEntries(schemas)
    }
  }
}
