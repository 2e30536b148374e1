import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { Redis } from 'ioredis'
import { expect, test } from 'vitest'

import { openFeedView } from '../../src/live/feed/feed-view.ts'
import { migrateSchema } from '../../src/stores/db/migrate.ts'
import { readSnapshots } from '../../src/stores/db/snapshots.ts'
import { openSql, type Sql, type Tx } from '../../src/stores/db/sql.ts'
import type { EmbeddedService } from '../../src/stores/embedded/embedded-service.ts'
import { startPostgres } from '../../src/stores/embedded/postgres.ts'
import { startRedis } from '../../src/stores/embedded/redis.ts'
import { changesChannel, allShards } from '../../src/stores/redis/keys.ts'
import { parseStationMessage } from '../../src/stores/redis/state-schema.ts'
import { readStationStates } from '../../src/stores/redis/station-store.ts'
import { copyCluster } from '../support/cluster.ts'
import { followRedis } from '../support/live-server.ts'
import { readHistory, seedStations } from '../support/stations.ts'
import { openStoreFolder } from '../support/temp-folder.ts'
import { isDeep, sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

/** How long stations play, in seconds. */
const seconds = sized({ quick: 4, deep: 60, soak: 180 })

/** The services and worker processes of one run, each of which may be stopped at any moment. */
async function openRig(folder: string) {
  await copyCluster(join(folder, 'postgres'))
  let postgres: EmbeddedService = await startPostgres(join(folder, 'postgres'))
  let redis: EmbeddedService = await startRedis(join(folder, 'redis'))
  const sql = openSql(postgres.url, { max: 3, name: 'test' })
  await migrateSchema(sql)
  /**
   * The output of processes that exited by themselves, except those that found a store unreachable when they
   * started.
   */
  const unexpectedExits: string[] = []
  const workers: ChildProcess[] = []
  const start = (index: number) => {
    const process = startWorkers(postgres.url, redis.url)
    workers[index] = process
    let output = ''
    process.stderr?.on('data', (data: Buffer) => (output += data.toString()))
    process.once('close', (code, signal) => {
      if (signal === 'SIGKILL') return
      if (
        !/^cuewire: (Postgres does not answer|Redis does not answer|Postgres or Redis became unreachable)/.test(
          output
        )
      )
        unexpectedExits.push(`code ${code}: ${output}`)
      if (workers[index] === process) start(index)
    })
  }
  start(0)
  start(1)

  return {
    sql,
    redisUrl: redis.url,
    unexpectedExits,
    killWorkers: async (index: number) => {
      workers[index]?.kill('SIGKILL')
      start(index)
    },
    restartRedis: async () => {
      await redis.stop()
      redis = await startRedis(join(folder, 'redis'), { port: redis.port })
    },
    killRedis: async () => {
      process.kill(redis.pid, 'SIGKILL')
      await redis.exited
      redis = await startRedis(join(folder, 'redis'), { port: redis.port })
    },
    /** Suspends Redis for `downMs`, with its connections open. */
    hangRedis: async (downMs: number) => {
      process.kill(redis.pid, 'SIGSTOP')
      await wait(downMs)
      process.kill(redis.pid, 'SIGCONT')
    },
    /** Stops Redis for `downMs`, and starts it with or without its data. */
    loseRedis: async (downMs: number, isEmptied: boolean) => {
      await redis.stop()
      if (isEmptied) await rm(join(folder, 'redis', 'appendonlydir'), { recursive: true })
      await wait(downMs)
      redis = await startRedis(join(folder, 'redis'), { port: redis.port })
    },
    flushRedis: async () => {
      const client = new Redis(redis.url)
      await client.flushall()
      client.disconnect()
    },
    restartPostgres: async (downMs: number) => {
      await postgres.stop()
      await wait(downMs)
      postgres = await startPostgres(join(folder, 'postgres'), { port: postgres.port })
    },
    killPostgres: async () => {
      process.kill(postgres.pid, 'SIGKILL')
      await postgres.exited
      postgres = await startPostgres(join(folder, 'postgres'), { port: postgres.port })
    },
    async [Symbol.asyncDispose]() {
      for (const process of workers) {
        process.kill('SIGKILL')
        if (process.exitCode === null && process.signalCode === null) await once(process, 'exit')
      }
      await sql.end({ timeout: 5 })
      await redis.stop()
      await postgres.stop()
    }
  }
}

/** Follows all commits and records offsets that decreased within an epoch. */
function watchOffsets(redisUrl: string) {
  const subscriber = new Redis(redisUrl, { retryStrategy: () => 100, maxRetriesPerRequest: null })
  const last = new Map<string, number>()
  const decreased: string[] = []
  subscriber.on('error', () => {})
  void subscriber.ssubscribe(...allShards.map(changesChannel)).catch(() => {})
  subscriber.on('smessage', (_, message) => {
    const parsed = parseStationMessage(message)
    if (parsed?.type !== 'state') return
    const {
      stationId,
      position: { epoch, offset }
    } = parsed
    const key = `${stationId} ${epoch}`
    if (offset <= (last.get(key) ?? 0)) decreased.push(`${key}: ${last.get(key)} then ${offset}`)
    last.set(key, offset)
  })
  return { decreased, stop: () => subscriber.disconnect() }
}

/** In one snapshot, because the stations keep playing. Returns the number of plays. */
async function expectWholeHistory(pool: Sql, stationId: number): Promise<number> {
  return pool.begin('isolation level repeatable read', async sql => expectWhole(sql, stationId))
}

async function expectWhole(sql: Tx, stationId: number): Promise<number> {
  const plays = await readHistory(sql, stationId)
  for (const [index, play] of plays.entries()) {
    expect(play.endedAtMs, `end of play ${play.id}`).toBe(plays[index + 1]?.startedAtMs ?? null)
  }
  const queued = await sql<{ id: number | null }[]>`
    select history_id as id from queue where station_id = ${stationId} and played_at_ms is not null order by position`
  // Each row of the queue became one play, in queue order.
  expect(queued.map(row => row.id)).toEqual(plays.map(play => play.id))
  const [lost] = await sql`
    select position from queue where station_id = ${stationId} and played_at_ms is null
      and position < (select max(position) from queue where station_id = ${stationId} and played_at_ms is not null)`
  expect(lost).toBeUndefined()
  return plays.length
}

/** The stations keep playing during the check, so each has its own moment at which both sides agree. */
async function expectConverged(sql: Sql, redisUrl: string, stationIds: number[]): Promise<void> {
  const redis = new Redis(redisUrl)
  let diverged = stationIds
  try {
    await waitFor(
      async () => {
        const facts = await readSnapshots(sql, diverged)
        const states = await readStationStates(redis, diverged)
        const shown = new Map(states.map(state => [state?.stationId, state?.current?.shId]))
        diverged = facts
          .filter(each => shown.get(each.stationId) !== each.current?.shId)
          .map(each => each.stationId)
        if (diverged.length > 0) throw new Error(`stations ${diverged.join(', ')} have diverged`)
        return true
      },
      { deadlineMs: 10_000, what: 'live state and facts to agree' }
    )
  } finally {
    redis.disconnect()
  }
}

const shape = { stations: sized({ quick: 4, deep: 20 }), tracks: 60, songMs: 1_000 }

// In the quick tier the next test covers this between its faults.
test.runIf(isDeep)(
  'one-second songs on many stations leave a complete history',
  { timeout: (seconds + 60) * 1_000 },
  async () => {
    await using folder = await openStoreFolder()
    await using rig = await openRig(folder.path)
    const versions = watchOffsets(rig.redisUrl)
    const stations = await seedStations(rig.sql, shape)
    await wait(seconds * 1_000)
    await expectConverged(
      rig.sql,
      rig.redisUrl,
      stations.map(({ id }) => id)
    )
    versions.stop()
    for (const { id } of stations) {
      expect(await expectWholeHistory(rig.sql, id)).toBeGreaterThan(seconds - 4)
    }
    expect(versions.decreased).toEqual([])
  }
)

test(
  'plays are not lost, duplicated or reordered when any process is killed at any moment',
  {
    timeout: (3 * seconds + 120) * 1_000
  },
  async () => {
    await using folder = await openStoreFolder()
    await using rig = await openRig(folder.path)
    const versions = watchOffsets(rig.redisUrl)
    const stations = await seedStations(rig.sql, shape)
    const ids = stations.map(({ id }) => id)
    const stops = [() => rig.restartRedis(), () => rig.restartPostgres(500 + Math.random() * 2_000)]
    const kills = [
      () => rig.killWorkers(0),
      () => rig.flushRedis(),
      () => rig.killRedis(),
      () => rig.killPostgres(),
      () => Promise.all([rig.killWorkers(0), rig.killWorkers(1), rig.flushRedis()])
    ]
    const faults = isDeep ? [...stops, ...kills] : kills
    const deadline = Date.now() + 1.5 * seconds * 1_000
    for (let round = 0; round < faults.length || Date.now() < deadline; round++) {
      await wait(500 + Math.random() * 1_500)
      await faults[round % faults.length]?.()
    }
    const before = await rig.sql<{ plays: number }[]>`select count(*) as plays from song_history`
    await waitFor(
      async () => {
        const [row] = await rig.sql<{ plays: number }[]>`select count(*) as plays from song_history`
        return (row?.plays ?? 0) > (before[0]?.plays ?? 0) + 3 * shape.stations
      },
      { deadlineMs: 15_000, what: 'all stations to play on' }
    )
    await expectConverged(rig.sql, rig.redisUrl, ids)
    versions.stop()
    for (const id of ids) await expectWholeHistory(rig.sql, id)
    expect(rig.unexpectedExits).toEqual([])
    expect(versions.decreased).toEqual([])
  }
)

// In the quick tier `live-faults.test.ts` checks the same with clients.
test.runIf(isDeep)(
  'servers report a Redis outage, and are current within 5 seconds of its end',
  { timeout: 90_000 },
  async () => {
    await using folder = await openStoreFolder()
    await using rig = await openRig(folder.path)
    const { feed } = await followRedis(rig.redisUrl)
    const { health } = openFeedView(feed)
    const ids = (await seedStations(rig.sql, { stations: 8, tracks: 60, songMs: 3_000 })).map(({ id }) => id)
    const agree = async () => {
      const facts = await readSnapshots(rig.sql, ids)
      return facts.every(
        ({ stationId, current }) => current && current.shId === feed.get(stationId)?.state.current?.shId
      )
    }
    await waitFor(agree, { deadlineMs: 15_000, what: 'all stations to play' })
    const faults: Record<string, () => Promise<void>> = {
      'hung for 7 s': () => rig.hangRedis(7_000),
      'stopped for 3 s': () => rig.loseRedis(3_000, false),
      'emptied while it was away': () => rig.loseRedis(1_000, true)
    }
    for (const [what, fault] of Object.entries(faults)) {
      const over = fault()
      await waitFor(() => !health().isCurrent, { deadlineMs: 6_000, what: `Redis ${what}: not current` })
      await over
      await waitFor(async () => health().isCurrent && (await agree()), {
        deadlineMs: 5_000,
        what: `Redis ${what}: current again`
      })
    }
    const epochs = () => new Set(feed.all().map(({ state }) => state.epoch))
    const before = epochs()
    await rig.flushRedis()
    await waitFor(async () => !feed.all().some(({ state }) => before.has(state.epoch)) && (await agree()), {
      deadlineMs: 5_000,
      what: 'all stations to be rebuilt after a FLUSHALL'
    })
    expect(health()).toMatchObject({ isCurrent: true, stations: ids.length })
    for (const id of ids) await expectWholeHistory(rig.sql, id)
  }
)
