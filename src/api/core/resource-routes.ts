import type { Field, Fields, JsonSchema } from '../../model/fields/field.ts'
import { bodySchema, exampleOfField } from '../../model/fields/validators.ts'
import { listRoute } from './list-route.ts'
import type { ListQuery, ListSource } from './list.ts'
import { openQueryFilters, parsePathId } from './parse.ts'
import { openResourceReads } from './resource-reads.ts'
import { openResourceWrites } from './resource-writes.ts'
import {
  type ResourceBase,
  type Resource,
  type ResourceHooks,
  stationIn,
  type StoredRecord
} from './resource.ts'
import { actionReply, type ApiRequest, apiRoute, type ApiRoute, jsonReply } from './route.ts'
import { int64, namedSchema, schemaRef } from './schemas.ts'
import type { ApiServices } from './services.ts'

/** What the routes of a resource do. With an id: throws 404 if the record does not exist. */
export interface ResourceOperations<F extends Fields> {
  readonly open: (query: ListQuery, request: ApiRequest, services: ApiServices) => ListSource<StoredRecord<F>>
  readonly create: (request: ApiRequest, services: ApiServices) => Promise<{ readonly id: number }>
  readonly read: (request: ApiRequest, services: ApiServices, id: number) => Promise<unknown>
  readonly update: (request: ApiRequest, services: ApiServices, id: number) => Promise<void>
  readonly remove: (request: ApiRequest, services: ApiServices, id: number) => Promise<void>
}

/** Opens the operations of a resource. */
export function openResourceOperations<F extends Fields>(
  resource: Resource<F>,
  hooks: ResourceHooks<F> = {}
): ResourceOperations<F> {
  const reads = openResourceReads(resource, hooks)
  const writes = openResourceWrites(resource, hooks, reads)
  const filter = filterOf(resource)
  return {
    open: (query, request, services) =>
      reads.list(services, request, stationIn(request), query, filter.parse(request.query)),
    ...writes,
    read: async (request, services, id) => reads.read(services, request, stationIn(request), id)
  }
}

type ResourceRoutes = [list: ApiRoute, create: ApiRoute, read: ApiRoute, update: ApiRoute, remove: ApiRoute]

/** The five routes of a resource. */
export const resourceRoutes = <F extends Fields>(
  resource: Resource<F>,
  hooks: ResourceHooks<F> = {}
): ResourceRoutes => resourceOperationRoutes(resource, openResourceOperations(resource, hooks))

/** The five routes of a resource with operations of its own. */
export function resourceOperationRoutes<F extends Fields>(
  resource: Resource<F>,
  operations: ResourceOperations<F>
): ResourceRoutes {
  const { name, tag, title, paths, access, fields, sort } = resource
  const record = resourceRecordSchema(resource)
  const done = schemaRef('ActionResult')
  const conflicts = resource.unique ? [409] : []
  const filterSchemas = Object.entries(filterOf(resource).schemas).map(([key, schema]) => [
    key,
    describeFilter(schema)
  ])
  return [
    listRoute(paths.list, access.read, {
      id: `list${name}s`,
      tag,
      summary: `All records: ${tag.toLowerCase()}`,
      record,
      responseRecord: name,
      sort,
      filters: Object.fromEntries(filterSchemas),
      open: operations.open
    }),
    apiRoute('POST', paths.list, access.write, {
      id: `create${name}`,
      tag,
      summary: `Create a ${title}`,
      body: bodySchema(fields, { readOnly: { id: idSchema } }),
      bodyRecord: name,
      response: record,
      responseRecord: name,
      errors: conflicts,
      handle: async (request, services) => jsonReply(await operations.create(request, services))
    }),
    apiRoute('GET', paths.one, access.read, {
      id: `get${name}`,
      tag,
      summary: `Read a ${title}`,
      response: record,
      responseRecord: name,
      handle: async (request, services) => jsonReply(await operations.read(request, services, idIn(request)))
    }),
    apiRoute('PUT', paths.one, access.write, {
      id: `edit${name}`,
      tag,
      summary: `Change a ${title}; fields that the body omits keep their values`,
      body: bodySchema(fields, { isPartial: true, readOnly: { id: idSchema } }),
      bodyRecord: name,
      response: done,
      errors: conflicts,
      async handle(request, services) {
        await operations.update(request, services, idIn(request))
        return actionReply('Record updated successfully.')
      }
    }),
    apiRoute('DELETE', paths.one, access.write, {
      id: `delete${name}`,
      tag,
      summary: `Delete a ${title}`,
      response: done,
      errors: [409],
      async handle(request, services) {
        await operations.remove(request, services, idIn(request))
        return actionReply('Record deleted successfully.')
      }
    })
  ]
}

/** The filters of the list of a resource. */
function filterOf<F extends Fields>({ fields, filters = [] }: Resource<F>) {
  return openQueryFilters(
    Object.fromEntries(filters.flatMap(key => (fields[key] ? [[key, fields[key]]] : [])))
  )
}

const describeFilter = (schema: JsonSchema) => ({ ...schema, description: 'Only records with this value.' })
const idIn = ({ params }: ApiRequest) => parsePathId(params['id'])

const idSchema = { ...int64, readOnly: true, examples: [1] }

/** The JSON Schema of a record, which has exactly these properties. */
export function resourceRecordSchema({ name, fields, title }: ResourceBase): JsonSchema {
  const examples = Object.entries(fields).map(([key, field]) => [key, renderedExample(field)])
  return namedSchema(name, `One ${title}.`, {
    type: 'object',
    title,
    properties: { id: idSchema, ...renderedFieldSchemas(fields) },
    required: ['id', ...Object.keys(fields)],
    additionalProperties: false,
    examples: [{ id: 1, ...Object.fromEntries(examples) }]
  })
}

/** The JSON Schemas of the values of fields in a record. */
export function renderedFieldSchemas(fields: Fields): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, renderedSchema(field)]))
}

const renderedExample = (field: Field<unknown>) => (field.kind === 'secret' ? '' : exampleOfField(field))

/** Limits of an input do not apply to a rendered value: a secret is "". */
function renderedSchema({ schema, kind }: Field<unknown>): JsonSchema {
  const { default: _default, ...rendered } = schema
  return kind === 'secret' ? { type: 'string', description: schema['description'], const: '' } : rendered
}
