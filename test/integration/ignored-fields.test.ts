import { expect } from 'vitest'

import { openIgnoredFieldFinder } from '../../src/api/core/ignored-fields.ts'
import { resourceRecordSchema } from '../../src/api/core/resource-routes.ts'
import { apiRoutes } from '../../src/api/routes.ts'
import { everyRoute, listsUnknownFields } from '../support/access-matrix.ts'
import { test } from '../support/fixtures.ts'
import { askPlainly } from '../support/plain-http.ts'
import { openPlayoutClient } from '../support/playout-client.ts'
import { adminKey } from '../support/program.ts'
import { resources } from '../support/resources.ts'
import { seedStation } from '../support/stations.ts'

const writes = everyRoute.filter(listsUnknownFields)

test('the schema of a body has no references', () => {
  const bodies = writes.map(({ operation }) => JSON.stringify(operation?.body ?? {}))
  expect(bodies.filter(body => body.includes('$ref'))).toEqual([])
})

test('every record may be sent back as it was read', () => {
  for (const resource of resources) {
    const { examples } = resourceRecordSchema(resource)
    const record: unknown = Array.isArray(examples) ? examples[0] : undefined
    const routes = apiRoutes.filter(
      ({ method, path }) =>
        (method === 'POST' && path === resource.paths.list) ||
        (method === 'PUT' && path === resource.paths.one)
    )
    const ignored = routes.map(route => openIgnoredFieldFinder(route.operation?.body)(record))
    expect([resource.name, ignored]).toEqual([resource.name, ['', '']])
  }
})

test('a body with known fields only, or one that is not read, has no such header', async ({ program }) => {
  const station = await seedStation(program.sql)
  const path = `/api/station/${station}/playlists`
  const made = await program.ask('POST', path, { body: { name: 'Known' } })
  const read = await program.ask('GET', `${path}?unknown=1`)
  const refused = await program.ask('POST', path, { body: { unknown: 1 }, key: '' })
  expect([made.status, read.status, refused.status]).toEqual([200, 200, 403])
  for (const { headers } of [made, read, refused]) expect(headers.get('x-ignored-fields')).toBeNull()
})

test('fields of a form are listed, and browsers may read the header', async ({ program }) => {
  const { id } = await openPlayoutClient(program)
  const response = await askPlainly(`${program.baseUrl}/api/station/${id}/nowplaying/update`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'X-API-Key': adminKey },
    body: 'title=Aria&artist=Ishizaka&mount=%2Fradio.mp3&charset=utf-8&format=mp3'
  })
  expect([response.status, response.headers['x-ignored-fields']]).toEqual([200, 'mount, format'])
  expect(response.headers['access-control-expose-headers']).toContain('X-Ignored-Fields')
})
