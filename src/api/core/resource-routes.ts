import type { Field, Fields, JsonSchema } from '../../fields/field.ts'
import { bodySchema, exampleOf } from '../../fields/form.ts'
import { listParameters, listReply, listSchema, parseListQuery } from './list.ts'
import { filtersOf, parseId } from './parse.ts'
import { openStore } from './resource-store.ts'
import type { DeclaredResource, Resource, ResourceRules } from './resource.ts'
import { actionResult, type ApiRequest, type ApiRoute, json, type StationRow } from './route.ts'

/** The five routes of a resource. */
export function resourceRoutes<F extends Fields>(
  resource: Resource<F>,
  rules: ResourceRules<F> = {}
): ApiRoute[] {
  const store = openStore(resource, rules)
  const { name, tag, title, paths, access, fields, sort, filters = [] } = resource
  const record = { $ref: `#/components/schemas/${name}` }
  const done = { $ref: '#/components/schemas/ActionResult' }
  const conflicts = resource.unique ? [409] : []
  const filterFields = Object.fromEntries(filters.flatMap(key => (fields[key] ? [[key, fields[key]]] : [])))
  const filter = filtersOf(filterFields)
  const filterSchemas = Object.fromEntries(
    Object.entries(filter.schemas).map(([key, schema]) => [key, { ...schema, description: onlyThese }])
  )

  return [
    {
      method: 'GET',
      path: paths.list,
      access: access.read,
      operation: {
        id: `list${name}s`,
        tag,
        summary: `All records: ${tag.toLowerCase()}`,
        query: { ...listParameters(sort), ...filterSchemas },
        answer: listSchema(record)
      },
      async handle(request, services) {
        const query = parseListQuery(request.query, sort)
        const wanted = filter.parse(request.query)
        const rows = await store.list(services, request, stationNamed(request), query, wanted)
        return listReply(rows, query, request, services.config.BASE_URL)
      }
    },
    {
      method: 'POST',
      path: paths.list,
      access: access.write,
      operation: {
        id: `create${name}`,
        tag,
        summary: `Create a ${title}`,
        body: bodySchema(fields, { readOnly: { id: idSchema } }),
        answer: record,
        errors: conflicts
      },
      handle: async (request, services) => json(await store.create(services, request, stationNamed(request)))
    },
    {
      method: 'GET',
      path: paths.one,
      access: access.read,
      operation: { id: `get${name}`, tag, summary: `Read a ${title}`, answer: record },
      handle: async (request, services) =>
        json(await store.read(services, request, stationNamed(request), parseId(request.params['id'])))
    },
    {
      method: 'PUT',
      path: paths.one,
      access: access.write,
      operation: {
        id: `edit${name}`,
        tag,
        summary: `Change a ${title}; what the body leaves out stays`,
        body: bodySchema(fields, { isPartial: true, readOnly: { id: idSchema } }),
        answer: done,
        errors: conflicts
      },
      async handle(request, services) {
        await store.update(services, request, stationNamed(request), parseId(request.params['id']))
        return actionResult('Record updated successfully.')
      }
    },
    {
      method: 'DELETE',
      path: paths.one,
      access: access.write,
      operation: { id: `delete${name}`, tag, summary: `Delete a ${title}`, answer: done, errors: [409] },
      async handle(request, services) {
        await store.remove(services, request, stationNamed(request), parseId(request.params['id']))
        return actionResult('Record deleted successfully.')
      }
    }
  ]
}

const onlyThese = 'Only records with this value.'
const stationNamed = ({ caller }: ApiRequest): StationRow | null => caller?.station ?? null

const idSchema = { type: 'integer', format: 'int64', readOnly: true, examples: [1] }

/** The JSON Schema of a record: exactly its keys, all of them there. */
export function recordSchema({ fields, title }: DeclaredResource): JsonSchema {
  const shown = Object.entries(fields).map(([name, { schema, kind }]) => [name, shownSchema(schema, kind)])
  return {
    type: 'object',
    title,
    properties: { id: idSchema, ...Object.fromEntries(shown) },
    required: ['id', ...Object.keys(fields)],
    additionalProperties: false,
    examples: [{ id: 1, ...Object.fromEntries(Object.entries(fields).map(exampleEntry)) }]
  }
}

const exampleEntry = ([name, field]: [string, Field<unknown>]) =>
  [name, field.kind === 'secret' ? '' : exampleOf(field)] as const

/** What limits an input need not hold for what is shown: a secret reads "". */
function shownSchema({ default: _default, ...schema }: JsonSchema, kind: string): JsonSchema {
  return kind === 'secret' ? { type: 'string', description: schema['description'], const: '' } : schema
}
