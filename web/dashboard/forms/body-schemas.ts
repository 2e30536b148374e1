import { requestJson } from '../api/call-api.ts'
import type { PropertySchema } from './form-field.ts'

/** The part of the OpenAPI document that forms use. */
interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, PropertySchema>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | undefined>> | undefined>>
}

interface Operation {
  readonly requestBody?: {
    readonly content: { readonly 'application/json'?: { readonly schema: PropertySchema } }
  }
}

let loading: Promise<OpenApiDocument> | null = null

/** Loads the description of the API once. */
function loadDocument(): Promise<OpenApiDocument> {
  loading ??= requestJson<OpenApiDocument>('GET', 'api/openapi.json').catch((error: unknown) => {
    loading = null
    throw error
  })
  return loading
}

/** Returns the schema of a body as the server describes it: `post`, `/api/admin/stations`. */
export async function loadBodySchema(method: 'post' | 'put', path: string): Promise<PropertySchema> {
  const { paths, components } = await loadDocument()
  const schema = paths[path]?.[method]?.requestBody?.content['application/json']?.schema
  return Object(resolveReferences(schema, components.schemas))
}

/** Puts the schemas of the document in the place of references to them. Bodies do not contain themselves. */
function resolveReferences(schema: unknown, schemas: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(schema)) return schema.map(each => resolveReferences(each, schemas))
  if (typeof schema !== 'object' || schema === null) return schema
  if ('$ref' in schema)
    return resolveReferences(schemas[String(schema.$ref).replace('#/components/schemas/', '')], schemas)
  return Object.fromEntries(
    Object.entries(schema).map(([name, each]) => [name, resolveReferences(each, schemas)])
  )
}
