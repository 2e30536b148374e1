import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect, onTestFinished } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { findFreePort } from '../../src/platform/process/ports.ts'
import { startRedis } from '../../src/stores/embedded/redis.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { positionsKey, shardOf, stationKey } from '../../src/stores/redis/keys.ts'
import { readStationStates } from '../../src/stores/redis/station-store.ts'
import { aSong, aPlay } from '../support/builders.ts'
import { isolatedTest as test } from '../support/fixtures.ts'
import { type Crowd, openCrowd, type Position } from '../support/live-crowd.ts'
import { openStage } from '../support/live-stage.ts'
import { connectBy, transports } from '../support/live-ways.ts'
import { openWitnesses } from '../support/live-witnesses.ts'
import { askPlainly } from '../support/plain-http.ts'
import { openPlayout } from '../support/playout.ts'
import { canMeasure, sizeOf } from '../support/process-size.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { handshake, openRaw } from '../support/raw-websocket.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep, sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

// Real processes, and many clients that reconnect like existing clients.

/** The deadline for reconnects; thousands of clients in one process beside other tests are slow. */
const backMs = sized({ quick: 8_000, deep: 20_000 })

/**
 * Expects that all clients have reconnected (a planned restart delays them by up to 5 seconds) and have the
 * newest position 5 seconds later.
 */
async function expectConverged(crowd: Crowd, newest: () => Position | Promise<Position>) {
  try {
    await waitFor(() => crowd.away() === 0, { deadlineMs: backMs, what: 'all clients to be back' })
    await waitFor(async () => crowd.behind(await newest()).length === 0, {
      deadlineMs: 5_000,
      what: 'all clients to know the newest state'
    })
  } catch (error) {
    const behind = crowd.behind(await newest())
    const found = JSON.stringify({ counts: crowd.counts, behind: behind.slice(0, 10), number: behind.length })
    throw new Error(`not converged: ${found}`, { cause: error })
  }
  expect(crowd.faults).toEqual([])
}

/** The options of a crowd with this number of clients, by kind. */
const crowdOf = (clients: number) => ({
  sockets: 0.5 * clients,
  streams: 0.3 * clients,
  pollers: 0.1 * clients,
  longPollers: 0.1 * clients
})

/** The number of clients that hold a connection. */
const connectionsOf = (clients: number) => crowdOf(clients).sockets + crowdOf(clients).streams

const positionOf = ({ epoch, offset }: { epoch: string; offset: number }) => ({ epoch, offset })

async function stopServer({ process }: RunningServer, signal: NodeJS.Signals): Promise<number | null> {
  const ended = once(process, 'exit')
  process.kill(signal)
  await ended
  return process.exitCode
}

test(
  'a server that is killed and restarted gets its clients back',
  { timeout: 60_000 },
  async ({ stage }) => {
    const clients = sized({ quick: 30, deep: 300 })
    const station = await stage.put()
    using crowd = openCrowd({
      baseUrl: stage.baseUrl,
      shortName: station.shortName,
      ...crowdOf(clients)
    })
    await crowd.settle(10_000)
    await station.play('Before')
    await expectConverged(crowd, () => positionOf(station.state()))

    crowd.pausePolling(true)
    await stage.restart('SIGKILL', () => station.play('Meanwhile'))
    crowd.pausePolling(false)
    await station.play('After')
    await expectConverged(crowd, () => positionOf(station.state()))
    expect(crowd.epochs).toEqual(new Set(['e1']))
    expect(crowd.counts.connects).toBe(2 * connectionsOf(clients))
    const message = { subs: { [station.channel]: { recover: true } } }
    for (const way of transports) {
      const { connect } = await connectBy(way, { baseUrl: stage.baseUrl, message })
      expect(connect.subs?.[station.channel]).toMatchObject({ publications: [{ offset: 4 }] })
    }
  }
)

test.runIf(isDeep)(
  'servers and clients recover after Redis hangs for ten seconds, and after a FLUSHALL',
  { timeout: 90_000 },
  async ({ databaseUrl, sql }) => {
    const clients = sized({ quick: 30, deep: 200 })
    await using folder = await openTempFolder()
    await using service = await startRedis(folder.path)
    using server = await startServer(databaseUrl, service.url, folder.path)
    const workers = startWorkers(databaseUrl, service.url)
    onTestFinished(() => void workers.kill('SIGKILL'))
    const stationId = await seedStation(sql, { songMs: 2_000, tracks: 50 })
    const redis = openRedis({ urls: [service.url], isCluster: false }, 'test')
    redis.on('error', () => {})
    onTestFinished(() => redis.disconnect())
    const stored = async () => (await readStationStates(redis, [stationId]))[0]
    const newest = async () => {
      const state = await stored()
      if (!state) throw new Error('there is no state')
      return positionOf(state)
    }
    await waitFor(async () => (await stored())?.current, { deadlineMs: 10_000, what: 'the station to play' })
    const { shortName } = (await newest()) && (await waitFor(stored, soon)).profile
    // The server has read the state as well.
    const shown = async () =>
      (await server.ask('GET', `/api/nowplaying/${shortName}`, { key: '' })).body.is_online
    await waitFor(shown, soon)

    using crowd = openCrowd({
      baseUrl: server.baseUrl,
      shortName,
      ...crowdOf(clients)
    })
    await crowd.settle(10_000)
    const before = await newest()

    process.kill(service.pid, 'SIGSTOP')
    const { gets } = crowd.counts
    try {
      await sleep(10_000)
    } finally {
      process.kill(service.pid, 'SIGCONT')
    }
    // No connection was lost, and every request was answered.
    expect(crowd.faults).toEqual([])
    expect(crowd.counts.connects).toBe(connectionsOf(clients))
    expect(crowd.counts.gets - gets).toBeGreaterThan(crowdOf(clients).pollers * 8)
    await waitFor(async () => (await newest()).offset > before.offset, soon)
    await expectConverged(crowd, newest)
    expect(crowd.epochs.size).toBe(1)

    await redis.flushall()
    await waitFor(async () => (await newest()).epoch !== before.epoch, { ...soon, deadlineMs: 10_000 })
    await expectConverged(crowd, newest)
    expect(crowd.epochs.size).toBe(2)
    expect(crowd.counts.ends).toEqual({ 3010: connectionsOf(clients) })
    expect(workers.exitCode).toBe(null)
    expect(server.process.exitCode).toBe(null)
  }
)

const soon = { deadlineMs: 5_000, what: 'the state to move on' }

test.runIf(canMeasure)(
  'clients that never read use limited memory and delay no other client',
  { timeout: 60_000 },
  async ({ stage }) => {
    const station = await stage.put()
    const subs = encodeURIComponent(JSON.stringify({ subs: { [station.channel]: { recover: true } } }))
    const stalled = Array.from({ length: 12 }, (_, index) => {
      const raw = openRaw(stage.baseUrl)
      if (index % 2 === 0) raw.send(handshake(stage.baseUrl, `?cf_connect=${subs}`))
      else raw.send(`GET /api/live/nowplaying/sse?cf_connect=${subs} HTTP/1.1\r\nHost: x\r\n\r\n`)
      return raw
    })
    for (const [index, raw] of stalled.entries()) {
      expect(await raw.status()).toBe(index % 2 === 0 ? 101 : 200)
      raw.socket.pause()
    }
    const active = await Promise.all(
      transports.map(
        async way =>
          (
            await connectBy(way, {
              baseUrl: stage.baseUrl,
              message: { subs: { [station.channel]: { recover: true } } }
            })
          ).reader
      )
    )
    const witnesses = await openWitnesses(stage)
    const before = await sizeOf(stage.server.process.pid ?? 0)
    const songs = sized({ quick: 40, deep: 60 })
    for (let count = 0; count < songs; count++) {
      const song = aSong({ title: `Song ${count}`, lyrics: 'la '.repeat(100_000) })
      const { offset } = await station.change({ shown: aPlay({ shId: 5_000 + count, song }) }, [
        'song_changed'
      ])
      await Promise.all(active.map(reader => reader.until('pub', ({ pub }) => pub.offset === offset, 1_500)))
    }
    await witnesses.finish()
    const after = await sizeOf(stage.server.process.pid ?? 0)
    // 12 clients with 12 or 18 MB of unread frames each would use twice as much or more.
    expect(after.rssMiB - before.rssMiB).toBeLessThan(sized({ quick: 70, deep: 100 }))

    // A client that reads again gets the newest state or a disconnect frame.
    const { offset } = station.state()
    const newest = `"offset":${offset}}`
    for (const raw of stalled) {
      let text = ''
      raw.socket.on('data', chunk => (text = (text + chunk.toString('latin1')).slice(-400_000)))
      raw.socket.resume()
      await waitFor(() => text.includes(newest) || text.includes('"code":3008') || raw.socket.closed, {
        deadlineMs: 5_000,
        what: 'the newest state'
      })
      raw.socket.destroy()
    }
  }
)

test.runIf(isDeep)(
  'a rolling restart of two servers on one port, with many clients',
  { timeout: 120_000 },
  async ({ databaseUrl, redisUrl }) => {
    const clients = sized({ quick: 60, deep: 2_000 })
    await using folder = await openTempFolder()
    const PORT = String(await findFreePort())
    const start = () =>
      startServer(databaseUrl, redisUrl, folder.path, { PORT, SERVER_PROCESSES: '2', DRAIN_SECONDS: '3' })
    const [one, two] = await Promise.all([start(), start()])
    onTestFinished(() => {
      for (const { process } of [one, two]) process.kill('SIGKILL')
    })
    using stage = openStage(one, redisUrl)
    const station = await stage.put()
    using crowd = openCrowd({
      baseUrl: stage.baseUrl,
      shortName: station.shortName,
      ...crowdOf(clients),
      frozen: clients / 100
    })
    await crowd.settle(20_000)
    const life = new AbortController()
    const music = (async () => {
      for (let count = 0; !life.signal.aborted; count++) {
        await station.play(`Song ${count}`)
        await sleep(500)
      }
    })()
    onTestFinished(async () => {
      life.abort()
      await music
    })

    using three = await start()
    const [first, four] = await Promise.all([stopServer(one, 'SIGTERM'), start()])
    onTestFinished(() => void four.process.kill('SIGKILL'))
    expect(first).toBe(0)
    expect(await stopServer(two, 'SIGTERM')).toBe(0)
    life.abort()
    await music
    await expectConverged(crowd, () => positionOf(station.state()))
    expect(crowd.epochs).toEqual(new Set(['e1']))
    // Each connection received a disconnect frame and reconnected.
    expect(crowd.counts.ends['3001']).toBeGreaterThanOrEqual(connectionsOf(clients))
    expect(crowd.counts.connects).toBeGreaterThanOrEqual(2 * connectionsOf(clients))
    expect(Object.keys(crowd.counts.ends)).toEqual(['3001'])
    expect([three.process.exitCode, four.process.exitCode]).toEqual([null, null])
    // The drain asked clients to close their connections, so that no request failed.
    expect(crowd.counts.retried).toBe(0)
  }
)

test('after Redis has lost published changes, offsets continue above the published ones', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 7 })
  await advance(playout, { stationId, endedShId: 0, cause: 'wake' })
  const skip = () => advance(playout, { stationId, endedShId: null, cause: 'skip' })
  for (let step = 0; step < 3; step++) await skip()
  const { redis } = playout
  const position = String(await redis.hget(positionsKey(shardOf(stationId)), String(stationId)))
  const state = await redis.dumpBuffer(stationKey(stationId))
  using server = await startServer(databaseUrl, redisUrl, folder.path)
  for (let step = 0; step < 8; step++) await skip()
  const shownBy = async ({ baseUrl }: RunningServer) => {
    const { headers, body } = await askPlainly(`${baseUrl}/api/nowplaying/${stationId}`)
    const { now_playing: playing } = JSON.parse(body.toString())
    return { epoch: headers['x-cuewire-epoch'], offset: headers['x-cuewire-offset'], shId: playing.sh_id }
  }
  const newest = async () =>
    (await sql<{ id: number }[]>`select max(id) as id from song_history where station_id = ${stationId}`)[0]
      ?.id
  await waitFor(async () => (await shownBy(server)).shId === (await newest()), soon)
  const before = await shownBy(server)

  await redis.restore(stationKey(stationId), 0, state ?? '', 'REPLACE')
  await redis.hset(positionsKey(shardOf(stationId)), String(stationId), position)
  await skip()
  await waitFor(async () => (await shownBy(server)).shId === (await newest()), {
    deadlineMs: 5_000,
    what: 'the newest song'
  })
  const after = await shownBy(server)
  expect(after.epoch).toBe(before.epoch)
  expect(Number(after.offset)).toBeGreaterThan(Number(before.offset))
  await using otherFolder = await openTempFolder()
  using other = await startServer(databaseUrl, redisUrl, otherFolder.path)
  expect(await shownBy(other)).toEqual(after)
})
