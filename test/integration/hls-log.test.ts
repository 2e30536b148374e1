import { appendFile, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { recordListenerReport } from '../../src/engine/listeners/count-listeners.ts'
import { flushStationCounts } from '../../src/engine/listeners/flush-counts.ts'
import { openConnectedListeners } from '../../src/radio/connected-listeners.ts'
import { noCountryFinder } from '../../src/radio/countries.ts'
import { openHlsLog } from '../../src/radio/hls/hls-log.ts'
import { openListenerDescriber } from '../../src/radio/listener-details.ts'
import { readSnapshots } from '../../src/stores/db/snapshots.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { hlsListenersKey, hlsWantedKey } from '../../src/stores/redis/keys.ts'
import { openSecrets } from '../../src/stores/secrets/secrets.ts'
import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { startNginx, writeLogOnly } from '../support/hls-server.ts'
import { openPlayout } from '../support/playout.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

const segmentMs = 4_000
const describeListener = openListenerDescriber(noCountryFinder)

/** A station `demo` with `/radio.mp3`, and a log that is read from time 0. */
async function openStage(sql: Sql, redisUrl: string) {
  const playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await sql`update stations set short_name = 'demo' where id = ${stationId}`
  const path = join(await scratchFolder(), 'access.log')
  await writeFile(path, '')
  const open = () => openHlsLog(playout, { path, segmentMs, describeListener })
  const log = open()
  return {
    stationId,
    playout,
    path,
    log,
    /** Opens the same log as another process would. */
    open,
    get: (address: string, playlist = 'radio.m3u8', status = 200, at = '01/Jan/1970:00:00:30 +0000') =>
      appendFile(path, `${address} - - [${at}] "GET /hls/demo/${playlist} HTTP/1.1" ${status} 8 "-" "VLC"\n`),
    hls: async () => {
      await flushStationCounts(playout, [stationId])
      return (await readSnapshots(sql, [stationId]))[0]?.listeners
    },
    async [Symbol.asyncDispose]() {
      await log.close()
      await playout[Symbol.asyncDispose]()
    }
  }
}

test('clients that keep fetching a variant are listeners', async ({ sql, redisUrl }) => {
  await using stage = await openStage(sql, redisUrl)
  await stage.log.update(0)
  for (let atMs = 4_000; atMs <= 12_000; atMs += 4_000) {
    await stage.get('203.0.113.1')
    if (atMs <= 8_000) await stage.get('203.0.113.2', 'radio.mp3.m3u8')
    await stage.get('203.0.113.3', 'live.m3u8')
    await stage.get('203.0.113.4', 'radio.m3u8', 404)
    await stage.get('203.0.113.5', 'radio.m3u8', 200, '31/Dec/1969:23:50:00 +0000')
    await appendFile(stage.path, 'garbage\n')
    await stage.log.update(atMs)
  }
  expect(await stage.hls()).toMatchObject({ total: 2, unique: 2, hls: 2 })
  await stage.log.update(16_001)
  expect(await stage.hls()).toMatchObject({ total: 1, hls: 1 })
  await stage.log.update(20_001)
  expect(await stage.hls()).toMatchObject({ total: 0, unique: 0, hls: 0 })
})

test('listeners are listed while a server asks for them', async ({ sql, redisUrl }) => {
  await using stage = await openStage(sql, redisUrl)
  const { redis } = stage.playout
  await stage.log.update(0)
  await stage.get('203.0.113.1')
  await stage.log.update(4_000)
  await stage.get('203.0.113.1')
  await stage.get('203.0.113.2', 'unknown.m3u8')
  await stage.log.update(9_000)
  expect(await redis.exists(hlsListenersKey('demo'))).toBe(0)
  const list = openConnectedListeners({
    sql,
    redis,
    secrets: openSecrets(Buffer.alloc(32)),
    allowedNetworks: []
  })
  await flushStationCounts(stage.playout, [stage.stationId])
  const listing = list(stage.stationId)
  await waitFor(async () => (await redis.exists(hlsWantedKey('demo'))) === 1, {
    deadlineMs: 5_000,
    what: 'the server to ask'
  })
  await stage.log.update(9_001)
  const listener = { address: '203.0.113.1', userAgent: 'VLC', source: '/radio.mp3 (HLS)', seconds: 5 }
  expect(await listing).toMatchObject({
    problem: '',
    sources: [{ name: '/radio.mp3 (HLS)', isLocal: true, total: 1 }],
    listeners: [{ ...listener, isLocal: true, agent: { family: 'VLC' } }]
  })
  expect(await redis.ttl(hlsListenersKey('demo'))).toBeLessThanOrEqual(10)
})

test('counting continues when the log is renamed or truncated', async ({ sql, redisUrl }) => {
  await using stage = await openStage(sql, redisUrl)
  await stage.log.update(0)
  await stage.get('203.0.113.1')
  await rename(stage.path, `${stage.path}.1`)
  await stage.get('203.0.113.2')
  await stage.get('203.0.113.2')
  await stage.log.update(9_000)
  expect(await stage.hls()).toMatchObject({ hls: 2 })
  await truncate(stage.path, 0)
  await stage.get('203.0.113.3')
  await stage.log.update(10_000)
  expect(await stage.hls()).toMatchObject({ hls: 3 })
})

test('a restart lowers no count, until the log was followed for a window', async ({ sql, redisUrl }) => {
  await using stage = await openStage(sql, redisUrl)
  await stage.log.update(0)
  await stage.get('203.0.113.1')
  await stage.get('203.0.113.2')
  await stage.log.update(9_000)
  const again = stage.open()
  await again.update(20_000)
  await stage.get('203.0.113.1')
  await again.update(28_000)
  expect(await stage.hls()).toMatchObject({ hls: 2 })
  await again.update(28_001)
  expect(await stage.hls()).toMatchObject({ hls: 1 })
  await again.close()
  const later = stage.open()
  await later.update(40_000)
  await later.update(48_000)
  expect(await stage.hls()).toMatchObject({ hls: 1 })
  await later.update(48_001)
  expect(await stage.hls()).toMatchObject({ hls: 0, total: 0 })
  await later.close()
})

test('counts are kept while the log cannot be read, and reported counts are always kept', async ({
  sql,
  redisUrl
}) => {
  await using stage = await openStage(sql, redisUrl)
  await recordListenerReport(stage.playout, stage.stationId, {
    totals: null,
    mounts: [],
    remotes: [],
    hls: [{ path: '/radio.mp3', total: 7, unique: 7 }]
  })
  const elsewhere = openHlsLog(stage.playout, { path: `${stage.path}.missing`, segmentMs, describeListener })
  for (const atMs of [0, 9_000, 100_000]) await elsewhere.update(atMs)
  await elsewhere.close()
  for (const atMs of [0, 9_000, 100_000]) await stage.log.update(atMs)
  expect(await stage.hls()).toMatchObject({ hls: 7 })
})

const hasNoNginx = whyWithout('nginx') !== null

test('the workers count from the log of a web server, across log rotation', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  const stationId = await seedStation(sql)
  await sql`update stations set short_name = 'demo' where id = ${stationId}`
  await using folder = await openTempFolder()
  await using server = hasNoNginx ? await writeLogOnly() : await startNginx(['hls/demo/radio.m3u8'])
  const workers = startWorkers(databaseUrl, redisUrl, {
    DATA_DIR: folder.path,
    HLS_ACCESS_LOG: server.log,
    HLS_SEGMENT_SECONDS: '1'
  })
  workers.stderr?.pipe(process.stderr)
  try {
    const listening = async (agents: string[], wanted: number) => {
      let round = 0
      await waitFor(
        async () => {
          if (round++ % 20 === 0)
            for (const agent of agents) await server.get('/hls/demo/radio.m3u8?x=1', agent)
          return (await readSnapshots(sql, [stationId]))[0]?.listeners.hls === wanted
        },
        { deadlineMs: 15_000, what: `${wanted} listeners` }
      )
    }
    await listening(['VLC "3.0"', 'curl', 'curl'], 2)
    await server.rotate()
    await listening(['VLC "3.0"', 'curl', 'other\\'], 3)
    await listening([], 0)
  } finally {
    workers.kill('SIGKILL')
  }
})
