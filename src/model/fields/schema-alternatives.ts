import type { JsonSchema } from './field.ts'

/** Returns a schema with the alternatives inside it; none for a value that is no schema. */
export function listSchemaAndAlternatives(schema: unknown): JsonSchema[] {
  if (schema === true) return [{}]
  if (!isObjectOrArray(schema)) return []
  const offered = [schema['oneOf'], schema['anyOf'], schema['allOf']]
  return [
    schema,
    ...offered.flatMap(choice => (Array.isArray(choice) ? choice.flatMap(listSchemaAndAlternatives) : []))
  ]
}

export function isObjectOrArray(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
