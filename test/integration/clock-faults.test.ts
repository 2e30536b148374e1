import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import type { Sql } from '../../src/stores/db/sql.ts'
import { test } from '../support/fixtures.ts'
import { readHistory, seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

// From Debian’s package `faketime`.
const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const hourMs = 3_600_000

/** Starts a worker process whose clock can be set while it runs: `+3600s` is an hour ahead. */
async function startWithClock(databaseUrl: string, redisUrl: string, folder: string, offset: string) {
  const file = join(folder, 'clock')
  await writeFile(file, offset)
  const workers = startWorkers(databaseUrl, redisUrl, {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1'
  })
  return {
    set: (text: string) => writeFile(file, text),
    kill: () => void workers.kill('SIGKILL')
  }
}

/** Plays follow each other without gap or overlap, and none starts or ends in the future. */
async function expectInTime(sql: Sql, stationId: number): Promise<void> {
  const plays = await readHistory(sql, stationId)
  const nowMs = Date.now() + 100
  expect(
    plays.filter(({ startedAtMs, endedAtMs }) => startedAtMs > nowMs || (endedAtMs ?? 0) > nowMs)
  ).toEqual([])
  const ends = plays.slice(0, -1).map(({ endedAtMs }) => endedAtMs)
  expect(plays.slice(1).map(({ startedAtMs }) => startedAtMs)).toEqual(ends)
}

test.runIf(isDeep && existsSync(library))(
  'workers with clocks that are hours off, and jump, use the time of the database',
  async ({ sql, databaseUrl, redisUrl }) => {
    await using folder = await openTempFolder()
    const stations = await seedStations(sql, { stations: 6, songMs: 1_500 })
    const count = async () =>
      Math.min(...(await Promise.all(stations.map(async ({ id }) => (await readHistory(sql, id)).length))))
    const plays = async (more: number) => {
      const before = await count()
      await waitFor(async () => (await count()) >= before + more, {
        deadlineMs: 12_000,
        what: `${more} more songs of every station`
      })
      for (const { id } of stations) await expectInTime(sql, id)
    }
    const correct = startWorkers(databaseUrl, redisUrl)
    const skewed = await startWithClock(databaseUrl, redisUrl, folder.path, '+3600s')
    await plays(3)
    await skewed.set('-3600s')
    await plays(2)
    await skewed.set('+12s')
    await plays(2)
    skewed.kill()
    correct.kill('SIGKILL')
    // Only the worker with a wrong clock.
    const alone = await startWithClock(databaseUrl, redisUrl, folder.path, `+${hourMs / 1_000}s`)
    await plays(2)
    alone.kill()
  }
)
