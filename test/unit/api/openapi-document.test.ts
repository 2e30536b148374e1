import { describe, expect, test } from 'vitest'

import { azuracastOpenApiDialect } from '../../../src/api/azuracast/with-dialects.ts'
import { describeApi } from '../../../src/api/core/openapi.ts'
import type { ApiRoute } from '../../../src/api/core/route.ts'
import { apiRoute, jsonReply } from '../../../src/api/core/route.ts'
import { exactObject, int64, namedSchema, schemaRef, string } from '../../../src/api/core/schemas.ts'
import { apiRoutes } from '../../../src/api/routes.ts'

const routes = apiRoutes.filter((route): route is ApiRoute => route.operation !== undefined)

function read(id: string, response: ApiRoute['operation']['response']): ApiRoute {
  const operation = { id, tag: 'Any', summary: 'Any', response, handle: () => jsonReply(null) }
  return apiRoute('GET', `/api/${id}`, 'public', operation)
}

const describeOne = async (...given: ApiRoute[]) => describeApi(given, 'http://localhost')

describe.for([
  ['documented', undefined],
  ['azuracast', azuracastOpenApiDialect]
] as const)('the document of the dialect %s', ([, schemas]) => {
  test('refers to a schema with a name and a description in every body and every answer', async () => {
    const { paths, components } = await describeApi(routes, 'http://localhost', schemas)
    const contents = JSON.stringify(paths).match(/"schema":\{"\$ref":"[^"]*"\}/g) ?? []
    expect(contents.length).toBeGreaterThan(400)
    for (const [path, methods] of Object.entries(paths))
      for (const operation of Object.values(methods)) {
        const { requestBody, responses } = Object(operation)
        for (const { content = {} } of [requestBody ?? {}, ...Object.values<{ content?: object }>(responses)])
          for (const { schema } of Object.values<{ schema: object }>(Object(content)))
            expect([path, Object.keys(schema)]).toEqual([path, ['$ref']])
      }
    for (const [name, schema] of Object.entries(components.schemas))
      expect([name, schema['description']]).toEqual([name, expect.stringMatching(/^.{8,}$/s)])
  })
})

describe('the schemas of a document', () => {
  test('have the name of their operation if they have none of their own', async () => {
    const { components } = await describeOne(read('readThing', exactObject({ id: int64 })))
    expect(Object.keys(components.schemas)).toContain('ReadThingAnswer')
  })

  test('may be the same for several answers', async () => {
    const thing = () => namedSchema('Thing', 'A thing.', exactObject({ id: int64 }))
    const { paths } = await describeOne(read('readOne', thing()), read('readOther', thing()))
    expect(JSON.stringify(paths).match(/schemas\/Thing"/g)).toHaveLength(2)
  })

  test.for([
    ['the same name', namedSchema('Thing', 'A thing.', exactObject({ id: string }))],
    ['a name that differs in case only', namedSchema('thing', 'A thing.', exactObject({ id: int64 }))],
    ['the name of a shared schema', namedSchema('Song', 'A song.', exactObject({ id: int64 }))]
  ] as const)('must differ in their names: %s', async ([, other]) => {
    const thing = namedSchema('Thing', 'A thing.', exactObject({ id: int64 }))
    await expect(describeOne(read('readOne', thing), read('readOther', other))).rejects.toThrow(
      /two different schemas of the OpenAPI document are named/
    )
  })

  test('must exist if another refers to them', async () => {
    await expect(describeOne(read('readOne', exactObject({ other: schemaRef('Nothing') })))).rejects.toThrow(
      'no schema of the OpenAPI document is named Nothing'
    )
  })
})
