import { once } from 'node:events'
import { join } from 'node:path'

import { expect } from 'vitest'

import { resources } from '../../src/api/routes.ts'
import { processRunner } from '../support/command.ts'
import { openEmptyDatabase } from '../support/empty-database.ts'
import { test } from '../support/fixtures.ts'
import { openRedisServer } from '../support/opened.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStations } from '../support/stations.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

const stations = 1_000
const comparedStations = 20
const run = processRunner('src/backup/main.ts')

/** The paths of all lists, of stations for some stations. */
function listPaths(stationIds: readonly number[]): string[] {
  const lists = resources.map(({ paths }) => paths.list)
  return [
    '/api/admin/stations',
    ...lists.filter(path => !path.includes(':')),
    ...lists
      .filter(path => path.includes(':station_id'))
      .flatMap(path => stationIds.map(id => path.replace(':station_id', String(id)))),
    ...stationIds.flatMap(id => [`/api/station/${id}/queue`, `/api/station/${id}/history`])
  ]
}

test.runIf(isDeep)(
  'of 1,000 stations that play, a backup under load is restored elsewhere with the same records, and they play on',
  async ({ databaseUrl, redisUrl, sql }) => {
    const seeded = await seedStations(sql, { stations, tracks: 10, songMs: 20_000 })
    const ids = seeded.map(({ id }) => id)
    const folder = await scratchFolder()
    const to = await scratchFolder()
    const variables = { BASE_URL: 'http://radio.test' }
    const workers = startWorkers(databaseUrl, redisUrl, { DATA_DIR: folder })
    const compared = ids.filter((_, index) => index % Math.floor(stations / comparedStations) === 0)
    {
      using server = await startServer(databaseUrl, redisUrl, folder, variables)
      await waitFor(async () => (await playing(server)) === stations, {
        deadlineMs: 60_000,
        what: 'all stations'
      })
      const underLoad = join(folder, 'under-load.tar.gz')
      const backup = await run({ DATABASE_URL: databaseUrl, DATA_DIR: folder }, 'backup', underLoad)
      expect(backup).toMatchObject({ code: 0, stdout: expect.stringContaining('without differences') })
      workers.kill('SIGTERM')
      await once(workers, 'exit')
    }
    const archive = join(folder, 'quiet.tar.gz')
    expect(await run({ DATABASE_URL: databaseUrl, DATA_DIR: folder }, 'backup', archive)).toMatchObject({
      code: 0
    })
    const empty = await openEmptyDatabase()
    const redis = await openRedisServer()
    const env = { DATABASE_URL: empty.value.url, REDIS_URL: redis.value, DATA_DIR: to }
    const restore = (file: string) => run(env, 'restore', '--replace', file)
    expect(await restore(join(folder, 'under-load.tar.gz'))).toMatchObject({ code: 0 })
    expect(await restore(archive)).toMatchObject({ code: 0 })
    {
      using before = await startServer(databaseUrl, redisUrl, folder, variables)
      using after = await startServer(empty.value.url, redis.value, to, variables)
      for (const path of listPaths(compared)) {
        const [one, other] = [await before.ask('GET', path), await after.ask('GET', path)]
        expect([path, one.status]).toEqual([path, 200])
        expect([path, other.body]).toEqual([path, one.body])
      }
      const restored = startWorkers(empty.value.url, redis.value, { DATA_DIR: to })
      await waitFor(async () => (await playing(after)) === stations, {
        deadlineMs: 60_000,
        what: 'all stations again'
      })
      restored.kill('SIGKILL')
    }
    await redis.close()
    await empty.close()
  },
  300_000
)

/** The number of stations with a current song that is not over. */
async function playing(server: RunningServer): Promise<number> {
  const { body } = await server.ask('GET', '/api/nowplaying')
  const records: { now_playing: { played_at: number; duration: number } | null }[] = body
  const nowSeconds = Date.now() / 1_000
  return records.filter(
    ({ now_playing: now }) => now !== null && now.played_at + now.duration > nowSeconds - 5
  ).length
}
