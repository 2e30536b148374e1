import { expect, test } from 'vitest'

import {
  declareChangedRecord,
  computedMember,
  constantMember
} from '../../../src/api/azuracast/declare-record.ts'
import {
  operationDialects,
  partSchemaChanges,
  recordDialects
} from '../../../src/api/azuracast/dialect-table.ts'
import type { DialectContext } from '../../../src/api/azuracast/record-dialect.ts'
import { translateRoute } from '../../../src/api/azuracast/translate-route.ts'
import {
  assertDialectMatchesRoutes,
  azuracastOpenApiDialect
} from '../../../src/api/azuracast/with-dialects.ts'
import { describeApi } from '../../../src/api/core/openapi.ts'
import { type ApiRoute, apiRoute, jsonReply, type ApiOperation } from '../../../src/api/core/route.ts'
import { exactObject, int64, schemaRef, string } from '../../../src/api/core/schemas.ts'
import { apiRoutes } from '../../../src/api/routes.ts'

const routes = apiRoutes.filter((route): route is ApiRoute => route.operation !== undefined)
const declared = { records: recordDialects, operations: operationDialects, parts: partSchemaChanges }

function aRoute(operation: Pick<ApiOperation, 'id'> & Partial<ApiOperation>): ApiRoute {
  const described = {
    tag: 'Any',
    summary: 'Any',
    response: null,
    handle: () => jsonReply(null),
    ...operation
  }
  return apiRoute('GET', `/api/${operation.id}`, 'public', described)
}

/** A route with a name that TypeScript would refuse. */
const withRecord = (member: 'responseRecord' | 'bodyRecord', name: string): ApiRoute =>
  aRoute({ id: 'getThing', ...Object.fromEntries([[member, name]]) })

test('every record, operation and part that the dialect declares has a route, and the other way round', () => {
  expect(() => assertDialectMatchesRoutes(routes, declared)).not.toThrow()
})

test.for([
  [
    'a record that no route answers',
    { records: { ...recordDialects, Playlst: { render: () => [] } } },
    'answers the record Playlst'
  ],
  [
    'a record that no route takes',
    { records: { ...recordDialects, QueueItem: { constants: () => ({}) } } },
    'takes the record QueueItem'
  ],
  [
    'an operation of no route',
    { operations: { ...operationDialects, listHistroy: {} } },
    'has the operation listHistroy'
  ],
  ['a part of no record', { parts: { ...partSchemaChanges, Sing: () => ({}) } }, 'no shared schema Sing']
] as const)('the start fails for %s, with its name', ([, changed, message]) => {
  expect(() => assertDialectMatchesRoutes(routes, { ...declared, ...changed })).toThrow(message)
})

test('the start fails for a route with a record that the dialect does not declare, with its name', () => {
  const check = (route: ApiRoute) => assertDialectMatchesRoutes([...routes, route], declared)
  expect(() => check(withRecord('responseRecord', 'Playlst'))).toThrow('the record Playlst of a route')
  expect(() => check(withRecord('bodyRecord', 'Streamr'))).toThrow('the record Streamr of a route')
})

test('a route without declared records is not translated, whatever its id and its schema', () => {
  const route = aRoute({ id: 'editStation', response: schemaRef('QueueItem') })
  expect(translateRoute(route)).toBe(route)
  const { variants } = translateRoute({
    ...route,
    operation: { ...route.operation, responseRecord: 'QueueItem' }
  })
  expect(Object.keys(variants ?? {})).toEqual(['azuracast'])
})

test('each record whose schema differs is a schema of the document', async () => {
  const { components } = await describeApi(routes, 'http://localhost', azuracastOpenApiDialect)
  const names = Object.entries(recordDialects).flatMap(([name, { response }]) => (response ? [name] : []))
  expect(names.filter(name => !Object.hasOwn(components.schemas, name))).toEqual([])
})

test('the schema, the value and the place in bodies of a member follow from its declaration', async () => {
  const record = declareChangedRecord<
    { readonly id: number; readonly url: string },
    ReadonlyMap<number, string>
  >({
    emptyAsNull: ['url'],
    members: {
      station_id: computedMember(int64, (_, { stationId }) => stationId),
      label: computedMember(string, ({ id }, { extras }) => extras.get(id) ?? ''),
      genre: constantMember(string, 'any')
    },
    read: rows => new Map(rows.map(({ id }) => [id, `#${id}`]))
  })
  const context: DialectContext = Object.assign(Object.create(null), { stationId: 3 })
  expect(await record.render?.([{ id: 7, url: '' }], context)).toEqual([
    { id: 7, url: null, station_id: 3, label: '#7', genre: 'any' }
  ])
  expect(record.response?.(exactObject({ id: int64, url: string }))).toMatchObject({
    properties: { id: int64, url: { type: ['string', 'null'] }, station_id: int64, label: string },
    required: ['id', 'url', 'station_id', 'label', 'genre']
  })
  expect(record.computed).toEqual(['station_id', 'label'])
  expect(record.constants?.({})).toEqual({ genre: 'any' })
})
