import { expect } from 'vitest'

import { openCuttableProxy } from '../support/cuttable-proxy.ts'
import { test } from '../support/fixtures.ts'
import { startServer } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

test('while Postgres is away, requests that need it are answered 503 with a time to try again', async ({
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
