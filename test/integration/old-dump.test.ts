import { expect } from 'vitest'

import { advance } from '../../src/playout/advance.ts'
import { markStationDeleted } from '../../src/playout/station-removal.ts'
import { test } from '../support/fixtures.ts'
import { openPlayout } from '../support/playout.ts'
import { startServer } from '../support/program.ts'
import { seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { changeUnpublished } from '../support/unpublished.ts'

test('a server that starts on an old dump of Redis shows no station that is private, renamed or deleted by now', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  await using playout = await openPlayout(sql, redisUrl)
  const stations = await seedStations(sql, { stations: 4 })
  const ids = stations.map(({ id }) => id)
  for (const id of ids) await advance(playout, { stationId: id, endedShId: 0, cause: 'wake' })
  // Redis is left as it was before.
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
  const visit = (path: string) => server.ask('GET', `/api/nowplaying${path}`, { key: '' })
  const answers = await Promise.all(ids.map(id => visit(`/${id}`)))
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 404])
  expect((await visit('')).body).toHaveLength(1)
})
