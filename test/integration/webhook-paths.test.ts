import { expect } from 'vitest'

import { aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { openHookStage } from '../support/hook-stage.ts'
import { readDeliveries } from '../support/hooks.ts'
import { seedStation } from '../support/stations.ts'

/** The paths of a web hook `{id}` and of its delivery `{d}`, with a body if required. */
const paths: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['PUT', 'webhook/{id}/toggle'],
  ['PUT', 'webhook/{id}/test'],
  ['GET', 'webhook/{id}/deliveries'],
  ['GET', 'webhook/{id}/delivery/{d}'],
  ['POST', 'webhook/{id}/delivery/{d}/redeliver'],
  ['POST', 'webhook/{id}/redeliver', { since: 0 }],
  ['POST', 'webhook/{id}/rotate-secret'],
  ['POST', 'webhook/{id}/clone']
]

const filled = (path: string, id: string | number, delivery: string | number) =>
  path.replace('{id}', String(id)).replace('{d}', String(delivery))

test('every path requires the permission to manage web hooks of its station', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make({ is_enabled: false })
  const weak = await stage.makeKey(['view station management', 'manage station media'])
  for (const [method, path, body] of paths) {
    const at = stage.below(filled(path, id, 1))
    for (const [key, type] of [
      ['', 'NotLoggedInException'],
      [weak, 'PermissionDeniedException']
    ] as const) {
      const response = await stage.askAs(key, method, at, body)
      expect([method, path, response.status, response.body.type]).toEqual([method, path, 403, type])
    }
  }
  expect(stage.receiver.asked).toEqual([])
  expect((await stage.ask('GET', 'webhooks')).body).toHaveLength(1)
})

test('no path finds a web hook that does not exist or belongs to another station', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  await stage.raise()
  await stage.deliver(id)
  const [row] = await readDeliveries(sql, id)
  const otherId = await seedStation(sql)
  await stage.addStation(aStation({ stationId: otherId, profile: { shortName: `other_${otherId}` } }))
  const key = await stage.makeKey(['manage station web hooks'])
  for (const [method, path, body] of paths) {
    for (const unknown of ['0', '9007199254740991', 'x', '-1', '1.5', '9'.repeat(30)]) {
      const response = await stage.ask(method, filled(path, unknown, row?.id ?? 0), body)
      expect([path, unknown, response.status]).toEqual([path, unknown, 404])
    }
    const strange = `/api/station/${otherId}/${filled(path, id, row?.id ?? 0)}`
    const response = await stage.askAs(key, method, strange, body)
    expect([path, response.status]).toEqual([path, 404])
  }
  expect(stage.receiver.asked).toHaveLength(1)
})

test('no path finds a delivery that does not exist or belongs to another web hook', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const hook = await stage.make()
  await stage.raise()
  await stage.deliver(hook.id)
  const other = await stage.make()
  const [row] = await readDeliveries(sql, hook.id)
  for (const [method, path, body] of paths.filter(([, each]) => each.includes('{d}'))) {
    for (const unknown of ['0', '9007199254740991', 'x']) {
      const response = await stage.ask(method, filled(path, hook.id, unknown), body)
      expect([path, unknown, response.status]).toEqual([path, unknown, 404])
    }
    expect((await stage.ask(method, filled(path, other.id, row?.id ?? 0), body)).status).toBe(404)
  }
})

test('the OpenAPI document has every path', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { body } = await stage.askAs('', 'GET', '/api/openapi.json')
  for (const [method, path] of paths) {
    const at = `/api/station/{station_id}/${path.replace('{d}', '{delivery_id}')}`
    const operation = body.paths[at]?.[method.toLowerCase()]
    expect([at, operation?.tags]).toEqual([at, ['Web hooks']])
    expect(Object.keys(operation.responses)).toContain(path.endsWith('clone') ? '201' : '200')
  }
})
