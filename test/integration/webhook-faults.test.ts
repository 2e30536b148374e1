import type { ChildProcess } from 'node:child_process'

import { expect } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { test } from '../support/fixtures.ts'
import { seedHook } from '../support/hooks.ts'
import { openPlayout } from '../support/playout.ts'
import { seedStations } from '../support/stations.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'
import { startWorkers } from '../support/worker-process.ts'

const rounds = sized({ quick: 2, deep: 100 })
const stationCount = sized({ quick: 6, deep: 10 })
const processes = sized({ quick: 1, deep: 2 })
const hooksEach = sized({ quick: 2, deep: 3 })
/** Requests between two kills of all workers. */
const killEvery = sized({ quick: 10, deep: 1_000 })

test(
  'every song change reaches every web hook in order, whenever workers are killed',
  { timeout: 150_000 },
  async ({ sql, databaseUrl, redisUrl }) => {
    const receiver = await startWebServer()
    await using playout = await openPlayout(sql, redisUrl)
    const stations = await seedStations(sql, { stations: stationCount, songMs: 3_600_000 })
    for (const { id } of stations)
      for (let hook = 0; hook < hooksEach; hook++)
        await seedHook(sql, id, {
          triggers: ['song_changed'],
          config: { webhook_url: `${receiver.url}/${id}/${hook}` }
        })
    let workers: ChildProcess[] = []
    const start = () => {
      workers = Array.from({ length: processes }, () =>
        startWorkers(databaseUrl, redisUrl, { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' })
      )
    }
    start()
    let kills = 0
    let requests = 0
    receiver.respondWith((_, response) => {
      // During a request, and others in flight.
      if (++requests % killEvery === 0) {
        for (const worker of workers) worker.kill('SIGKILL')
        kills += workers.length
        start()
      }
      response.end()
    })
    try {
      for (let round = 0; round < rounds; round++)
        await Promise.all(
          stations.map(({ id }) =>
            advance(
              playout,
              round === 0
                ? { stationId: id, endedShId: 0, cause: 'wake' }
                : { stationId: id, endedShId: null, cause: 'skip' }
            )
          )
        )
      const waiting = async () => sql`select from webhook_deliveries where state = 'pending' limit 1`
      await waitFor(async () => (await waiting()).length === 0, {
        deadlineMs: 90_000,
        what: 'all deliveries'
      })
    } finally {
      for (const worker of workers) worker.kill('SIGKILL')
      await receiver[Symbol.asyncDispose]()
    }

    const plays = await sql<{ stationId: number; shIds: number[] }[]>`
    select station_id as "stationId", array_agg(id order by id) as "shIds" from song_history group by station_id`
    let changes = 0
    let repeated = 0
    const ids = new Map<string, string>()
    for (const { stationId, shIds } of plays) {
      changes += shIds.length
      for (let hook = 0; hook < hooksEach; hook++) {
        const path = `/${stationId}/${hook}`
        const arrived = receiver.asked.filter(asked => asked.path === path)
        const first = new Set<number>()
        for (const { body, headers } of arrived) {
          const shId = JSON.parse(body).now_playing.sh_id
          const key = `${path} ${shId}`
          const id = String(headers['webhook-id'])
          expect(ids.get(key) ?? id).toBe(id)
          ids.set(key, id)
          if (first.has(shId)) repeated++
          first.add(shId)
        }
        expect([...first]).toEqual(shIds.map(Number))
      }
    }
    expect(changes).toBeGreaterThanOrEqual(rounds * stationCount)
    expect(new Set(ids.values()).size).toBe(changes * hooksEach)
    expect(kills).toBeGreaterThanOrEqual(2 * processes)
    process.stdout.write(
      `${changes} song changes, ${changes * hooksEach} deliveries, ${kills} workers killed: ${repeated} arrived twice\n`
    )
  }
)
