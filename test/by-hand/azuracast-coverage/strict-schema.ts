import type { Json, Schema } from './document.ts'

/**
 * Converts a schema of OpenAPI 3.0 into JSON Schema in which every documented key is required, and that
 * allows other keys. References lead to `#/$defs`; those that lead nowhere are dropped.
 */
export function strictSchema(schema: Schema, names: ReadonlySet<string>): Schema {
  const { nullable = false, ...rest } = schema
  const strict = withoutNull(rest, names)
  // With `if`, the problems of the other branch are those of the schema itself.
  return nullable && Object.keys(strict).length > 0 ? { if: { type: 'null' }, else: strict } : strict
}

function withoutNull(schema: Schema, names: ReadonlySet<string>): Schema {
  const convert = (each: Schema) => strictSchema(each, names)
  if (typeof schema['$ref'] === 'string') {
    const name = schemaName(schema['$ref'])
    return names.has(name) ? { $ref: `#/$defs/${name}` } : {}
  }
  const { type, format, enum: values, items, properties, additionalProperties } = schema
  const strict: Record<string, Json> = {}
  if (types.includes(type) || Array.isArray(type)) strict['type'] = type
  if (typeof format === 'string' && checkedFormats.includes(format)) strict['format'] = format
  if (values !== undefined) strict['enum'] = values
  if (items !== undefined) strict['items'] = convert(items)
  if (properties !== undefined) {
    strict['properties'] = Object.fromEntries(
      Object.entries<Schema>(properties).map(([key, value]) => [key, convert(value)])
    )
    strict['required'] = Object.keys(properties)
  }
  if (typeof additionalProperties === 'object') strict['additionalProperties'] = convert(additionalProperties)
  if (schema['allOf'] !== undefined) strict['allOf'] = schema['allOf'].map(convert)
  const choices: Schema[] | undefined = schema['oneOf'] ?? schema['anyOf']
  if (choices?.length === 1) strict['allOf'] = [...(strict['allOf'] ?? []), ...choices.map(convert)]
  else if (choices !== undefined) strict['anyOf'] = choices.map(convert)
  return strict
}

/** Those of JSON Schema; the others (`int64`, `float`, `binary`) say nothing about the JSON. */
const checkedFormats = ['date-time', 'date', 'uri', 'email', 'uuid']

/** Others in the document, such as `any`, say nothing. */
const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

const schemaName = (reference: string) => reference.split('/').at(-1) ?? ''
