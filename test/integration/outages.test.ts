import { expect } from 'vitest'

import { openCuttableProxy } from '../support/cuttable-proxy.ts'
import { test } from '../support/fixtures.ts'
import { startServer } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

test('during an outage of Postgres, requests that need it return 503 with a Retry-After', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  const stationId = await seedStation(sql)
  const proxy = await openCuttableProxy(databaseUrl)
  using server = await startServer(proxy.url, redisUrl, folder.path)
  const read = () => server.ask('GET', `/api/station/${stationId}/queue`)
  const write = () => server.ask('POST', `/api/station/${stationId}/queue/clear`)
  expect((await read()).status).toBe(200)
  await proxy[Symbol.asyncDispose]()
  await waitFor(async () => (await read()).status !== 200, { deadlineMs: 10_000, what: 'the outage to show' })
  for (const { status, headers, body } of [await read(), await write()]) {
    expect([status, headers.get('retry-after'), body.type]).toEqual([503, '5', 'ServiceUnavailableException'])
    expect(body.message).toContain('does not answer')
  }
})

test('while Postgres hangs, keys that cannot be checked return 503', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  const stationId = await seedStation(sql)
  await using proxy = await openCuttableProxy(databaseUrl)
  using server = await startServer(proxy.url, redisUrl, folder.path)
  proxy.delay(20_000)
  const response = await server.ask('GET', `/api/station/${stationId}/queue`)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
})

test('during an outage of Redis, the state of the job queues returns 503', async ({
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  const proxy = await openCuttableProxy(redisUrl)
  using server = await startServer(databaseUrl, proxy.url, folder.path)
  await proxy[Symbol.asyncDispose]()
  const response = await server.ask('GET', '/api/queues')
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
})
