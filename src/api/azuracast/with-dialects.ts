import type { Dialect } from '../../model/station/dialect.ts'
import type { ApiRoute } from '../core/route.ts'
import type { OpenApiDialect } from '../core/schema-components.ts'
import { sharedSchemas } from '../core/schemas.ts'
import { operationDialects, partSchemaChanges, recordDialects } from './dialect-table.ts'
import type { OperationDialect, RecordDialect } from './record-dialect.ts'
import { translateRoute } from './translate-route.ts'

/** The same routes in both dialects. Throws if they do not match what the dialect declares. */
export function withDialects(routes: readonly ApiRoute[]): readonly ApiRoute[] {
  assertDialectMatchesRoutes(routes, {
    records: recordDialects,
    operations: operationDialects,
    parts: partSchemaChanges
  })
  return routes.map(translateRoute)
}

/** AzuraCast takes keys in the query of what does not change anything. */
export const takesKeysInQuery = (installed: Dialect) => installed === 'azuracast'

interface Declarations {
  readonly records: Readonly<Record<string, RecordDialect>>
  readonly operations: Readonly<Record<string, OperationDialect>>
  readonly parts: Readonly<Record<string, unknown>>
}

/**
 * Throws an error that names all records, operations and parts that the dialect declares and no route has, and all
 * records of routes that the dialect does not declare.
 */
export function assertDialectMatchesRoutes(routes: readonly ApiRoute[], declared: Declarations): void {
  const ids = new Set(routes.map(({ operation }) => operation.id))
  const returned = new Set<string>(routes.flatMap(({ operation }) => operation.responseRecord ?? []))
  const taken = new Set<string>(routes.flatMap(({ operation }) => operation.bodyRecord ?? []))
  const problems = [
    ...Object.keys(declared.operations)
      .filter(id => !ids.has(id))
      .map(id => `no route has the operation ${id}`),
    ...Object.entries(declared.records).flatMap(([name, record]) => [
      ...(describesResponse(record) && !returned.has(name) ? [`no route answers the record ${name}`] : []),
      ...(isTaken(record) && !taken.has(name) ? [`no route takes the record ${name}`] : [])
    ]),
    ...[...new Set([...returned, ...taken])]
      .filter(name => !Object.hasOwn(declared.records, name))
      .map(name => `the record ${name} of a route is not declared`),
    ...Object.keys(declared.parts)
      .filter(name => !Object.hasOwn(sharedSchemas, name))
      .map(name => `there is no shared schema ${name}`)
  ]
  if (problems.length > 0)
    throw new Error(`the dialect of AzuraCast does not match the routes: ${problems.join(', ')}`)
}

const describesResponse = (record: RecordDialect) =>
  ['render', 'response', 'isRenderedLive'].some(member => member in record)

const isTaken = (record: RecordDialect) =>
  ['parse', 'fields', 'computed', 'constants'].some(member => member in record)

/** How the OpenAPI document describes this dialect, for `describeApi`. */
export const azuracastOpenApiDialect: OpenApiDialect = {
  name: 'azuracast',
  changeSchema: (name, documented) => schemaChanges.get(name)?.(documented) ?? documented
}

/** By the name of the schema. */
const schemaChanges = new Map([
  ...Object.entries(partSchemaChanges),
  ...Object.entries(recordDialects).flatMap(([name, { response }]) =>
    response ? [[name, response] as const] : []
  )
])
