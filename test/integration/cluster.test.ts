import { Cluster } from 'ioredis'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import { advance } from '../../src/engine/advance.ts'
import { startAdvances } from '../../src/engine/due-advances.ts'
import type { EngineServices } from '../../src/engine/services.ts'
import { withDeadline } from '../../src/platform/runtime/deadline.ts'
import { openOutages } from '../../src/platform/runtime/outages.ts'
import { openSlowLog } from '../../src/platform/runtime/slow-log.ts'
import { openServices } from '../../src/services.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { openBlockingRedis, openRedis } from '../../src/stores/redis/connection.ts'
import { deliverQueue, allShards } from '../../src/stores/redis/keys.ts'
import { commitState, readStationStates, readStoredStates } from '../../src/stores/redis/station-store.ts'
import { countsBasis, afterSong, aStation } from '../support/builders.ts'
import { test as base } from '../support/fixtures.ts'
import { countSubscribers, followRedis } from '../support/live-server.ts'
import { followStation, shownWhen } from '../support/playing.ts'
import { openPlayout } from '../support/playout.ts'
import { startProgram } from '../support/program.ts'
import { putState } from '../support/put-state.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { readHistory, seedStation, seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const soon = { deadlineMs: 10_000, what: 'the cluster to do it' }
/** Changes after the start of a feed must arrive as messages, or by the check after a reconnect. */
const noChecks = { checkIntervalMs: 3_600_000 }

const test = base
  // oxlint-disable-next-line no-empty-pattern
  .extend('clusterOfFile', { scope: 'file' }, async ({}, { onCleanup }) => {
    const cluster = await startRedisCluster()
    onCleanup(async () => cluster[Symbol.asyncDispose]())
    return cluster
  })
  .extend('cluster', async ({ clusterOfFile }) => {
    await clusterOfFile.flush()
    return clusterOfFile
  })

/** One station of each shard in its initial state, numbered from `from`. */
const oneOfEach = (from: number) =>
  allShards.map(shard => aStation({ stationId: from + shard, profile: { shortName: `s${from + shard}` } }))

test('any node reports that it belongs to a cluster', async ({ cluster, redisUrl }) => {
  for (const { url } of cluster.nodes)
    expect(await resolveRedisPlace(url)).toEqual({ urls: [url], isCluster: true })
  expect(await resolveRedisPlace(redisUrl)).toEqual({ urls: [redisUrl], isCluster: false })
  const [first, ...others] = cluster.nodes.map(({ url }) => url)
  expect(await resolveRedisPlace(`redis://:cluster-secret@127.0.0.1:1,${cluster.url}`)).toEqual({
    urls: ['redis://:cluster-secret@127.0.0.1:1', first, ...others],
    isCluster: true
  })
})

test('an invalid REDIS_URL fails with a message that names the problem', async ({ cluster, redisUrl }) => {
  const [url = ''] = cluster.nodes.map(node => node.url)
  await expect(resolveRedisPlace(`${redisUrl},${redisUrl}`)).rejects.toThrow(
    /several nodes, but .* not a Redis Cluster/
  )
  await expect(resolveRedisPlace(`${url}/3`)).rejects.toThrow('has only database 0')
  await expect(resolveRedisPlace(url.replace('cluster-secret', 'wrong'))).rejects.toThrow(
    /REDIS_URL \(WRONGPASS/
  )
})

test('of concurrent commits to a station, one succeeds, in each shard', async ({ cluster }) => {
  const redis = openRedis(await resolveRedisPlace(cluster.url), 'test')
  onTestFinished(() => redis.disconnect())
  const first = oneOfEach(64)
  const ids = first.map(({ stationId }) => stationId)
  for (const round of [first, first.map(state => afterSong(state))]) {
    const stored = await readStoredStates(redis, ids)
    const candidates = round.flatMap((state, index) =>
      Array.from({ length: 10 }, () => ({
        state,
        counts: countsBasis(state),
        over: stored[index]?.position ?? '',
        triggers: []
      }))
    )
    const committed = (await Promise.all(candidates.map(each => commitState(redis, each)))).flatMap(
      state => state ?? []
    )
    expect(committed).toHaveLength(allShards.length)
    const byId = new Map(committed.map(state => [state.stationId, state]))
    expect(await readStationStates(redis, ids)).toEqual(ids.map(id => byId.get(id)))
  }
})

test('a commit reaches every feed as a message of its shard', async ({ cluster }) => {
  const { feed: one, redis } = await followRedis(cluster.url, noChecks)
  const [node] = cluster.nodes
  const { feed: other } = await followRedis(node?.url ?? '', noChecks)
  const states = oneOfEach(64)
  for (const state of states) await putState(redis, state)
  for (const feed of [one, other]) await waitFor(() => feed.all().length === states.length, soon)
})

test('a feed recovers from closed connections without a periodic check', async ({ cluster }) => {
  const { feed, redis } = await followRedis(cluster.url, noChecks)
  const lostAtMs = Date.now()
  for (const { client } of cluster.nodes) {
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  }
  const first = oneOfEach(64)
  for (const state of first) await putState(redis, state)
  await waitFor(() => feed.isCurrent() && feed.health().checkedAtMs > lostAtMs, soon)
  await waitFor(() => feed.all().length === first.length, soon)
  await waitFor(async () => (await countSubscribers(redis)).every(count => count === 1), soon)
  for (const state of oneOfEach(128)) await putState(redis, state)
  await waitFor(() => feed.all().length === 2 * first.length, soon)
})

test(
  'jobs end tracks, and a feed and a worker survive a node that dies and returns',
  { timeout: 45_000 },
  async ({ cluster, sql }) => {
    await using engine = await openEngine(sql, cluster.url)
    await playsOn(engine)
    const { feed, redis, subscriber } = await followRedis(cluster.url)
    for (const state of oneOfEach(64)) await putState(redis, state)
    await waitFor(() => oneOfEach(64).every(({ stationId }) => feed.get(stationId)), soon)

    const place = await resolveRedisPlace(cluster.url)
    const node = await cluster.nodeOf(`bull:${deliverQueue}:wait`)
    let faults = 0
    subscriber.on('error', () => faults++)
    const diedAtMs = Date.now()
    await node.kill()
    await waitFor(() => !feed.isCurrent(), soon)
    await waitFor(async () => /cluster.* is down/i.test(await faultOf(resolveRedisPlace(cluster.url))), soon)
    // A client without backoff would fail a hundred times a second.
    expect(faults).toBeLessThan(2 + (Date.now() - diedAtMs) / 200)
    // A worker that waited for this connection forever would take no more jobs.
    const blocking = openBlockingRedis(place)
    const copy = blocking instanceof Cluster ? blocking.duplicate() : expect.unreachable('one Redis')
    onTestFinished(() => copy.disconnect())
    const connecting = withDeadline(5_000, 'an end of the attempt', async () => copy.connect())
    await expect(connecting).rejects.toThrow('Connection is closed.')

    await node.start()
    await cluster.ready()
    await waitFor(() => feed.isCurrent(), soon)
    await waitFor(async () => (await countSubscribers(redis)).every(count => count === 1), soon)
    for (const state of oneOfEach(128)) await putState(redis, state)
    await waitFor(() => oneOfEach(128).every(({ stationId }) => feed.get(stationId)), soon)
    await waitFor(() => copy.status === 'ready', soon)
    // BullMQ abandons commands that were in flight when the node died after six seconds at most.
    await playsOn(engine, { ...soon, deadlineMs: 15_000 })
  }
)

/** The playout engine with its jobs, without the sweep that repairs missed ones. */
async function openEngine(sql: Sql, redisUrl: string): Promise<EngineServices & AsyncDisposable> {
  const playout = await openPlayout(sql, redisUrl)
  const worker = startAdvances(playout, openSlowLog(playout.log, 0))
  return {
    ...playout,
    async [Symbol.asyncDispose]() {
      // A command in flight may have been lost with a node. A second, forced close of BullMQ returns the
      // promise of the first one.
      await withDeadline(5_000, 'the end of the worker', () => worker.stop()).catch(() => {})
      await playout[Symbol.asyncDispose]()
    }
  }
}

/** Starts a station and waits for the end of its first song. */
async function playsOn(engine: EngineServices, limit = soon): Promise<void> {
  const stationId = await seedStation(engine.sql, { songMs: 400 })
  await advance(engine, { stationId, endedShId: 0, cause: 'wake' })
  await waitFor(async () => (await readHistory(engine.sql, stationId)).length > 1, limit)
}

const faultOf = (work: Promise<unknown>): Promise<string> => work.then(() => '', String)

test('a single node that may evict keys causes a warning', async ({ cluster, databaseUrl }) => {
  const [, , node] = cluster.nodes
  await node?.client.config('SET', 'maxmemory-policy', 'allkeys-lru')
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const config = parseConfig({ DATABASE_URL: databaseUrl, REDIS_URL: cluster.url })
  await using services = await openServices(config, { log, outages: openOutages(() => log) }, 'server')
  await node?.client.config('SET', 'maxmemory-policy', 'noeviction')
  expect(services.redisPlace.isCluster).toBe(true)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('redis may evict jobs')
})

test.runIf(isDeep)(
  'servers and workers play on a cluster, also after an outage of all its nodes',
  { timeout: 60_000 },
  async ({ cluster, databaseUrl }) => {
    await using folder = await openTempFolder()
    await using program = await startProgram(databaseUrl, cluster.url, folder.path)
    const stations = await seedStations(program.sql, { stations: 4, songMs: 1_000 })
    const health = async () => (await program.ask('GET', '/api/health')).body
    for (const { id } of stations) await shownWhen(program, id, body => body.is_online)
    const [{ id } = { id: 0 }] = stations
    const widget = await followStation(program, id)
    const shown = await shownWhen(program, id, body => body.is_online)
    const { np } = await widget.next(next => next.now_playing.sh_id > shown.now_playing.sh_id)
    expect(await health()).toMatchObject({ status: 'success', redis: 'up', live_state: 'current' })
    const queues = await program.ask('GET', '/api/queues')
    expect(queues.body.queues).toMatchObject([{ workers: 1 }, { workers: 1 }])

    await Promise.all(cluster.nodes.map(async node => node.kill()))
    const isAway = async () => {
      const { status, postgres, redis, live_state: state } = await health()
      return `${status} ${postgres} ${redis} ${state}` === 'error up down stale'
    }
    await waitFor(isAway, soon)
    expect(await program.ask('POST', `/api/station/${id}/backend/skip`)).toMatchObject({ status: 200 })
    await Promise.all(cluster.nodes.map(async node => node.start()))
    await cluster.ready()
    await waitFor(async () => (await health()).status === 'success', soon)
    const back = await shownWhen(program, id, body => body.now_playing.sh_id > np.now_playing.sh_id)
    for (const station of stations)
      await shownWhen(program, station.id, body => body.now_playing.sh_id > back.now_playing.sh_id)
  }
)
