import { expect } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { markStationDeleted } from '../../src/engine/station-removal.ts'
import { test } from '../support/fixtures.ts'
import { openPlayout } from '../support/playout.ts'
import { startServer } from '../support/program.ts'
import { seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { changeUnpublished } from '../support/unpublished.ts'

test('after an old dump of Redis, stations that became private, renamed or deleted are not shown', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  await using playout = await openPlayout(sql, redisUrl)
  const stations = await seedStations(sql, { stations: 4 })
  const ids = stations.map(({ id }) => id)
  for (const id of ids) await advance(playout, { stationId: id, endedShId: 0, cause: 'wake' })
  // Redis keeps the earlier states.
  const [, hidden = 0, renamed = 0, deleted = 0] = ids
  await changeUnpublished(
    sql,
    tx => tx`update stations set is_public = false, revision = revision + 1 where id = ${hidden}`
  )
  await changeUnpublished(
    sql,
    tx => tx`update stations set short_name = 'renamed', revision = revision + 1 where id = ${renamed}`
  )
  await sql.begin(tx => markStationDeleted(tx, deleted))
  using server = await startServer(databaseUrl, redisUrl, folder.path)
  const getPublic = (path: string) => server.ask('GET', `/api/nowplaying${path}`, { key: '' })
  const responses = await Promise.all(ids.map(id => getPublic(`/${id}`)))
  expect(responses.map(({ status }) => status)).toEqual([200, 404, 404, 404])
  expect((await getPublic('')).body).toHaveLength(1)
})
