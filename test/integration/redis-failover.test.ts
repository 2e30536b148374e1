import { setTimeout as sleep } from 'node:timers/promises'

import { Cluster } from 'ioredis'
import { expect, onTestFinished } from 'vitest'

import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { stationKey } from '../../src/stores/redis/keys.ts'
import { readStationStates } from '../../src/stores/redis/station-store.ts'
import { openCuttableProxy } from '../support/cuttable-proxy.ts'
import { test } from '../support/fixtures.ts'
import { openCrowd } from '../support/live-crowd.ts'
import { startProgram } from '../support/program.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import type { RedisNode } from '../support/redis-node.ts'
import { startRedisPair, startSentinels } from '../support/redis-pair.ts'
import { readHistory, seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep, sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

/** The time after a failover within which everything must be current again. */
const currentWithin = { deadlineMs: 10_000 }
const sockets = sized({ quick: 20, deep: 500 })
/** How long changes go on before and after each failover. */
const changesMs = sized({ quick: 500, deep: 60_000, soak: 300_000 })
const timeout = 120_000 + 4 * changesMs
const songMs = 3_600_000

interface Stores {
  readonly databaseUrl: string
  readonly redisUrl: string
}

/** A station with many clients, on a server and workers, whose songs an operator skips all the time. */
async function openScenario({ databaseUrl, redisUrl }: Stores, stationId: number, shortName: string) {
  const folder = await openTempFolder()
  const program = await startProgram(databaseUrl, redisUrl, folder.path)
  const redis = openRedis(await resolveRedisPlace(redisUrl), 'test')
  redis.on('error', () => {})
  const readiness = async () => {
    const { status, body } = await program.ask('GET', '/api/health/ready', { key: '' })
    return `${status} ${body.status} ${body.live_state}`
  }
  const readState = async () => (await readStationStates(redis, [stationId]))[0]
  await waitFor(async () => (await readState())?.current, { deadlineMs: 20_000, what: 'a song' })
  await waitFor(async () => (await readiness()) === '200 ready current', {
    deadlineMs: 10_000,
    what: 'the server'
  })
  const shape = { streams: 0, pollers: 0, longPollers: 0 }
  const crowd = openCrowd({ baseUrl: program.baseUrl, shortName, sockets, ...shape })
  await crowd.settle(20_000)

  let accepted = 0
  let unknown = 0
  const stopping = new AbortController()
  const changing = (async () => {
    while (!stopping.signal.aborted) {
      const response = await program.ask('POST', `/api/station/${stationId}/backend/skip`).catch(() => null)
      if (response?.status === 200) accepted++
      else unknown++
      await sleep(200)
    }
  })()
  const stopChanging = async () => {
    stopping.abort()
    await changing
  }
  const close = async () => {
    await stopChanging()
    crowd[Symbol.dispose]()
    redis.disconnect()
    await program[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  }
  onTestFinished(close)

  return {
    readiness,
    keepChanging: () => sleep(changesMs),
    /** Expects that the server is ready and takes changes soon. */
    untilCurrent: async () => {
      await waitFor(async () => (await readiness()) === '200 ready current', {
        ...currentWithin,
        what: 'the server to be ready'
      })
    },
    /**
     * Stops changing, and expects that all changes are stored and shown, on the connections that were open all the
     * time.
     */
    expectNothingLost: async () => {
      await stopChanging()
      const history = await readHistory(program.sql, stationId)
      const last = history.at(-1)?.id
      await waitFor(async () => (await readState())?.current?.shId === last, {
        ...currentWithin,
        what: 'the last change in Redis'
      })
      const { epoch, offset } = await waitFor(readState, { ...currentWithin, what: 'the state' })
      await waitFor(() => crowd.behind({ epoch, offset }).length === 0, {
        ...currentWithin,
        what: 'the last change on all sockets'
      })
      expect(history.length).toBeGreaterThanOrEqual(accepted + 1)
      expect(history.length).toBeLessThanOrEqual(accepted + unknown + 1)
      expect(crowd.faults).toEqual([])
      expect(crowd.counts).toMatchObject({ connects: sockets, ends: {} })
    }
  }
}

/** The names of the connections of servers and workers to a node. */
async function connectionsTo({ client }: RedisNode): Promise<string[]> {
  const list = String(await client.client('LIST'))
  return [...list.matchAll(/ name=((?:cuewire-(?:server|workers)|bull:)\S*)/g)].map(([, name = '']) => name)
}

async function seedNamed(sql: Parameters<typeof seedStations>[0], stations = 1) {
  const seeded = await seedStations(sql, { stations, songMs, tracks: 20 })
  const names = await sql<{ id: number; shortName: string }[]>`
    select id, short_name as "shortName" from stations where id = any(${seeded.map(({ id }) => id)}::bigint[]) order by id`
  return names
}

test(
  'after a failover behind one name, all connections leave the node that was demoted, and nothing is lost',
  { timeout },
  async ({ databaseUrl, sql }) => {
    await using pair = await startRedisPair()
    await using proxy = await openCuttableProxy(pair.primary.url)
    const [station] = await seedNamed(sql)
    if (!station) throw new Error('no station')
    const scenario = await openScenario({ databaseUrl, redisUrl: proxy.url }, station.id, station.shortName)
    await scenario.keepChanging()
    const names = new Set(await connectionsTo(pair.primary))
    expect([...names].toSorted()).toEqual([
      'bull:e2N1ZXdpcmV9YWR2YW5jZQ==',
      'bull:e2N1ZXdpcmV9ZGVsaXZlcg==',
      'cuewire-server',
      'cuewire-server-changes',
      'cuewire-server-jobs',
      'cuewire-workers',
      'cuewire-workers-jobs'
    ])

    await pair.swap()
    await waitFor(async () => (await scenario.readiness()) === '503 read-only stale', {
      deadlineMs: 5_000,
      what: 'the server to be not ready'
    })
    const before = proxy.taken()
    await sleep(3_000)
    // About ten connections, each at first after 0.25 s and later every two seconds.
    expect(proxy.taken() - before).toBeLessThan(60)

    proxy.pointTo(pair.replica.url)
    await scenario.untilCurrent()
    const haveMoved = async () =>
      (await connectionsTo(pair.primary)).length === 0 &&
      new Set(await connectionsTo(pair.replica)).size === names.size
    await waitFor(haveMoved, { ...currentWithin, what: 'all connections to leave the demoted node' })
    await scenario.keepChanging()
    await scenario.expectNothingLost()
  }
)

test.runIf(isDeep)(
  'with Sentinel, nothing is lost when the primary is killed, and when another one is chosen',
  { timeout },
  async ({ databaseUrl, sql }) => {
    await using pair = await startRedisPair()
    await using sentinels = await startSentinels(pair)
    const [station] = await seedNamed(sql)
    if (!station) throw new Error('no station')
    const scenario = await openScenario(
      { databaseUrl, redisUrl: sentinels.url },
      station.id,
      station.shortName
    )
    await scenario.keepChanging()

    await pair.primary.kill()
    await sentinels.untilPrimary(pair.replica)
    await scenario.untilCurrent()
    await scenario.keepChanging()

    await pair.primary.start()
    const isReplica = async () =>
      (await pair.primary.client.info('replication')).includes('master_link_status:up')
    await waitFor(isReplica, { deadlineMs: 30_000, what: 'the former primary to be a replica' })
    await sentinels.failoverTo(pair.primary)
    await sentinels.untilPrimary(pair.primary)
    await scenario.untilCurrent()
    await scenario.keepChanging()
    await scenario.expectNothingLost()
  }
)

test.runIf(isDeep)(
  'on a cluster, nothing is lost when a master is killed and its replica takes over',
  { timeout },
  async ({ databaseUrl, sql }) => {
    await using cluster = await startRedisCluster({ hasReplica: true })
    const [first] = cluster.nodes
    const client = openRedis(await resolveRedisPlace(cluster.url), 'test')
    onTestFinished(() => client.disconnect())
    expect(client).toBeInstanceOf(Cluster)
    const stations = await seedNamed(sql, 12)
    const owners = await Promise.all(stations.map(async ({ id }) => cluster.nodeOf(stationKey(id))))
    const station = stations.find((_, index) => owners[index] === first)
    if (!station || !first) throw new Error('no station on the first node')
    const scenario = await openScenario({ databaseUrl, redisUrl: cluster.url }, station.id, station.shortName)
    await scenario.keepChanging()
    await first.kill()
    await cluster.untilPromoted()
    await scenario.untilCurrent()
    await scenario.keepChanging()
    await scenario.expectNothingLost()
  }
)
