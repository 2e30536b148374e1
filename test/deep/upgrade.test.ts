import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'vitest'

import { upgradeSteps } from '../../src/stores/db/upgrade-steps.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { shardOf } from '../../src/stores/redis/keys.ts'
import { parsePosition } from '../../src/stores/redis/state-schema.ts'
import { readShardPositions } from '../../src/stores/redis/station-store.ts'
import { openEmptyDatabase } from '../support/empty-database.ts'
import { test } from '../support/fixtures.ts'
import { connectLive } from '../support/live-client.ts'
import { readFrame } from '../support/live-frames.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { buildRelease, buildReleaseBefore, hasReleaseBefore } from '../support/release.ts'
import { seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

/** A server and a worker process of one release. */
interface Pair {
  readonly server: RunningServer
  readonly workers: ChildProcess
}

async function stop({ server, workers }: Pair): Promise<void> {
  for (const process of [server.process, workers]) {
    process.kill('SIGTERM')
    if (process.exitCode === null && process.signalCode === null) await once(process, 'exit')
  }
}

test('two releases with different formats of live states run side by side, upgrading and downgrading', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  const release = async (name: string, readable: readonly number[], own: number) => {
    const path = join(folder.path, name)
    await mkdir(path)
    await buildRelease(path, { readable, own })
    return path
  }
  const older = await release('older', [3, 4], 3)
  const newer = await release('newer', [3, 4], 4)
  const start = async (path: string): Promise<Pair> => {
    const workers = startWorkers(databaseUrl, redisUrl, {}, path)
    return { server: await startServer(databaseUrl, redisUrl, folder.path, {}, path), workers }
  }

  const stations = await seedStations(sql, { stations: 12, tracks: 6 })
  const ids = stations.map(({ id }) => id)
  const redis = openRedis({ urls: [redisUrl], isCluster: false }, 'test')
  const schemas = async () => {
    const positions = await Promise.all(
      ids.map(async id => (await readShardPositions(redis, shardOf(id))).get(id) ?? '')
    )
    return positions.map(parsePosition)
  }

  let pairs: Pair[] = [await start(older)]
  await waitFor(async () => (await schemas()).every(({ schema }) => schema === 3), {
    deadlineMs: 10_000,
    what: 'all stations'
  })
  const epochs = new Set((await schemas()).map(({ epoch }) => epoch))
  expect(epochs.size).toBe(ids.length)

  // Load: songs are skipped continuously on any running server. Every write must succeed.
  const ended = new AbortController()
  const isOver = () => ended.signal.aborted
  const refused: unknown[] = []
  const load = (async () => {
    for (let request = 0; !isOver(); request++) {
      const { server } = pairs[request % pairs.length] ?? {}
      const id = ids[request % ids.length]
      const { status } = (await server?.ask('POST', `/api/station/${id}/backend/skip`)) ?? {}
      if (status !== 200 && !isOver()) refused.push([request, status])
      await wait(40)
    }
  })()
  /** Follows all stations on a server until it disconnects. */
  const ends: unknown[] = []
  const offsets = new Map<string, number>()
  const decreased: string[] = []
  const follow = async ({ server }: Pair) => {
    const live = connectLive(`${server.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`)
    const subs = Object.fromEntries(ids.map(id => [`station:${id}`, { recover: true }]))
    live.socket.on('message', (data: Buffer) => {
      const { kind, frame } = readFrame(data.toString())
      if (kind === 'disconnect') ends.push(frame.disconnect.code)
      if (kind === 'connect')
        for (const [channel, entry] of Object.entries(frame.connect.subs ?? {}))
          epochs.add('epoch' in entry ? entry.epoch : channel)
      if (kind === 'pub') {
        const key = `${server.baseUrl} ${frame.channel}`
        if (frame.pub.offset < (offsets.get(key) ?? 0)) decreased.push(key)
        offsets.set(key, frame.pub.offset)
      }
    })
    await once(live.socket, 'open')
    live.socket.send(JSON.stringify({ subs }))
  }
  const replace = async (path: string) => {
    const before = pairs
    const next = await start(path)
    await follow(next)
    pairs = [...before, next]
    await wait(4_000)
    pairs = [next]
    await wait(500)
    for (const pair of before) await stop(pair)
  }
  for (const pair of pairs) await follow(pair)
  const isWritten = async (expected: number) =>
    waitFor(async () => (await schemas()).every(({ schema }) => schema === expected), {
      deadlineMs: 15_000,
      what: `all states in schema ${expected}`
    })
  await replace(newer)
  await isWritten(4)
  await replace(older)
  await isWritten(3)
  await replace(newer)
  await isWritten(4)

  // A release that cannot read the newest format does not change live states, and logs it.
  const oldest = await release('oldest', [3], 3)
  const late = startWorkers(databaseUrl, redisUrl, { LOG_LEVEL: 'error' }, oldest, 'pipe')
  let output = ''
  late.stdout?.on('data', (data: Buffer) => (output += data.toString()))
  await waitFor(() => output.includes('upgrade this process'), { deadlineMs: 10_000, what: 'its log line' })
  await wait(3_000)
  late.kill('SIGKILL')

  ended.abort()
  await load
  expect(refused).toEqual([])
  expect(decreased).toEqual([])
  expect(new Set(ends)).toEqual(new Set([3001]))
  expect(epochs.size).toBe(ids.length)
  const last = await schemas()
  expect(last.filter(({ epoch }) => !epochs.has(epoch))).toEqual([])
  for (const pair of pairs) await stop(pair)
  redis.disconnect()
})

const hasHistory = await hasReleaseBefore()

test.runIf(hasHistory)(
  'release 0.2.0 and this one run side by side, upgrading, going back and upgrading',
  async ({ redisUrl }) => {
    await using folder = await openTempFolder()
    const { value: database, close } = await openEmptyDatabase()
    const [older, newer] = [join(folder.path, 'older'), join(folder.path, 'newer')]
    await mkdir(older)
    await mkdir(newer)
    await buildReleaseBefore(older)
    await buildRelease(newer, { readable: [3], own: 3 })
    const { sql, url } = database
    const start = async (path: string): Promise<Pair> => {
      const server = await startServer(url, redisUrl, folder.path, {}, path)
      return { server, workers: startWorkers(url, redisUrl, { LOG_LEVEL: 'warn' }, path) }
    }
    let pairs: Pair[] = [await start(older)]
    const stations = await seedStations(sql, { stations: 4, tracks: 6, songMs: 2_000 })

    const ended = new AbortController()
    const refused: unknown[] = []
    /** Each write of operators in turn, on each server in turn; songs of two seconds end meanwhile. */
    const write = async (number: number, { server }: Pair) => {
      const { id, playlistId } = stations[number % stations.length] ?? { id: 0, playlistId: 0 }
      const path = `/api/station/${id}`
      const [media] = await sql<{ id: number; path: string }[]>`
      select id, path from media where station_id = ${id} order by id offset ${number % 6} limit 1`
      const entries = [media?.path, media?.path, `test:${(number % 6) + 1}`]
      const name = `Song ${number}`
      const writes = [
        ['PUT', `${path}/file/${media?.id}`, { title: name, artist: `A, B & C ${number}` }],
        ['POST', `${path}/backend/skip`],
        ['POST', `${path}/playlist/${playlistId}/import`, entries],
        ['POST', `${path}/queue`, { media_id: media?.id }],
        ['POST', `${path}/files`, { path: `new/${number}.mp3`, title: name, playlists: [playlistId] }],
        ['PUT', `${path}/playlist/${playlistId}/reshuffle`],
        ['PUT', `${path}/playlist/${playlistId}`, { weight: (number % 20) + 1 }]
      ] as const
      const [method, target, body] = writes[number % writes.length] ?? writes[1]
      const { status } = await server.ask(method, target, { body })
      // 409: nothing plays yet that could be skipped.
      if (status !== 200 && status !== 409 && !ended.signal.aborted)
        refused.push([method, target, body, status])
    }
    const load = (async () => {
      for (let number = 0; !ended.signal.aborted; number++) {
        const pair = pairs[number % pairs.length]
        if (pair) await write(number, pair)
        await wait(20)
      }
    })()
    const replace = async (path: string) => {
      const before = pairs
      const next = await start(path)
      pairs = [...before, next]
      await wait(6_000)
      pairs = [next]
      await wait(500)
      for (const pair of before) await stop(pair)
      await wait(3_000)
    }
    const steps = async () =>
      (await sql<{ name: string }[]>`select name from upgrade_steps where done_at is not null`).map(
        row => row.name
      )
    const areDone = async () =>
      waitFor(async () => (await steps()).length === upgradeSteps.length, {
        deadlineMs: 60_000,
        what: 'the steps that wait for the older release'
      })
    await replace(newer)
    await areDone()
    await replace(older)
    expect(await steps()).toEqual([])
    await replace(newer)
    await areDone()
    ended.abort()
    await load
    expect(refused).toEqual([])
    const overlaps = await sql`
    select * from (
      select station_id, started_at_ms, lag(ended_at_ms) over (partition by station_id order by id) as before_ms
      from song_history) h
    where before_ms is null and started_at_ms is null or before_ms > started_at_ms`
    expect([...overlaps]).toEqual([])
    for (const pair of pairs) await stop(pair)
    await close()
  }
)
