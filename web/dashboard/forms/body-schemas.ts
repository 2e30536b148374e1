import * as v from 'valibot'

import { callApi } from '../api/call-api.ts'
import { type BodySchema, bodySchema } from './form-field.ts'

const documentSchema = v.object({
  components: v.object({ schemas: v.record(v.string(), v.unknown()) }),
  paths: v.record(
    v.string(),
    v.record(
      v.string(),
      v.object({
        requestBody: v.optional(
          v.object({
            content: v.object({ 'application/json': v.optional(v.object({ schema: v.unknown() })) })
          })
        )
      })
    )
  )
})
type Document = v.InferOutput<typeof documentSchema>

let loading: Promise<Document> | null = null

/** Loads the description of the API once. */
function loadDocument(): Promise<Document> {
  loading ??= callApi(documentSchema, 'api/openapi.json').catch((error: unknown) => {
    loading = null
    throw error
  })
  return loading
}

/** Returns the JSON Schema of a body as the server describes it: `post`, `/api/admin/stations`. */
export async function loadRawSchema(method: 'post' | 'put', path: string): Promise<unknown> {
  const { paths, components } = await loadDocument()
  return resolveReferences(
    paths[path]?.[method]?.requestBody?.content['application/json']?.schema,
    components.schemas
  )
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

/** Returns the part of the schema of a body that forms use. */
export async function loadBodySchema(method: 'post' | 'put', path: string): Promise<BodySchema> {
  return v.parse(bodySchema, await loadRawSchema(method, path))
}
