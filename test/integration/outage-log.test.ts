import { setTimeout as sleep } from 'node:timers/promises'

import { expect, onTestFinished } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { type CuttableProxy, openCuttableProxy } from '../support/cuttable-proxy.ts'
import { test } from '../support/fixtures.ts'
import { startLogged } from '../support/logged-process.ts'
import { askPlainly } from '../support/plain-http.ts'
import { adminKey } from '../support/program.ts'
import { seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep, sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const outageMs = sized({ quick: 4_000, deep: 20_000 })

async function openLogged(databaseUrl: string, redisUrl: string) {
  const folder = await openTempFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const PORT = String(await findFreePort())
  const stores = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, DATA_DIR: folder.path }
  const [server, workers] = await Promise.all([
    startLogged('src/server.ts', { ...stores, PORT }),
    startLogged('workers/main.ts', stores)
  ])
  const ask = async (path: string) =>
    askPlainly(`http://127.0.0.1:${PORT}${path}`, { headers: { 'X-API-Key': adminKey } }).catch(() => null)
  return { server, workers, ask }
}

for (const store of isDeep ? (['postgres', 'redis'] as const) : (['postgres'] as const))
  test(
    `an outage of ${store} is one line of each process when it begins, and one when it ends`,
    { timeout: 120_000 },
    async ({ databaseUrl, redisUrl, sql }) => {
      const direct = { postgres: databaseUrl, redis: redisUrl }
      await using proxy: CuttableProxy = await openCuttableProxy(direct[store])
      const urls = { ...direct, [store]: proxy.url }
      const stations = await seedStations(sql, { stations: 5, songMs: 1_500, tracks: 20 })
      const { server, workers, ask } = await openLogged(urls.postgres, urls.redis)
      await waitFor(async () => (await ask(`/api/nowplaying/${stations[0]?.id}`))?.status === 200, {
        deadlineMs: 10_000,
        what: 'a song'
      })
      const processes = [server, workers]
      const started = processes.map(({ lines }) => lines.length)

      proxy.refuse(true)
      proxy.cut()
      const endsAtMs = performance.now() + outageMs
      while (performance.now() < endsAtMs) {
        await ask(`/api/station/${stations[0]?.id}/queue`)
        await ask('/api/queues')
        await sleep(100)
      }
      proxy.refuse(false)
      const restored = `${store} connection restored`
      await waitFor(() => processes.every(({ lines }) => lines.some(({ msg }) => msg === restored)), {
        deadlineMs: 10_000,
        what: 'the end of the outage'
      })
      // Whatever was repeated meanwhile has run again.
      await waitFor(async () => (await ask(`/api/station/${stations[0]?.id}/queue`))?.status === 200, {
        deadlineMs: 10_000,
        what: 'an answer'
      })
      await sleep(2_000)
      for (const [index, { lines, other }] of processes.entries()) {
        const written = lines.slice(started[index]).filter(({ level }) => level >= 40)
        expect(written.map(({ msg }) => msg)).toEqual([`${store} connection lost`])
        expect(lines.filter(({ msg }) => msg === restored)).toHaveLength(1)
        expect(other).toEqual([])
      }
    }
  )
