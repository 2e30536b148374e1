import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { raiseOutdatedRevisions } from '../../src/engine/all-stations.ts'
import { openStateComparison } from '../../src/engine/compare-states.ts'
import { recordListenerReport } from '../../src/engine/listeners/count-listeners.ts'
import { flushCounts } from '../../src/engine/listeners/flush-counts.ts'
import { flushSessions } from '../../src/engine/listeners/flush-sessions.ts'
import { sendInterrupts } from '../../src/engine/playouts/interrupts.ts'
import { endTimedOutPlays } from '../../src/engine/playouts/time-out.ts'
import { preloadLibraries } from '../../src/engine/queue/preload-libraries.ts'
import { refillQueues } from '../../src/engine/queue/refill-queues.ts'
import { expireRequests } from '../../src/engine/queue/requests.ts'
import { publishStation } from '../../src/engine/repair-states.ts'
import { updateStationAlerts } from '../../src/engine/station-alerts.ts'
import { openStationRoundRobin } from '../../src/engine/station-round-robin.ts'
import { writeStatusEvents } from '../../src/engine/status-events.ts'
import { sweep } from '../../src/engine/sweep.ts'
import { recordUnknownZones } from '../../src/engine/unknown-zones.ts'
import type { StationTask } from '../../src/platform/isolation/station-faults.ts'
import { noCountryFinder } from '../../src/radio/countries.ts'
import { openHlsLog } from '../../src/radio/hls/hls-log.ts'
import { openListenerDescriber } from '../../src/radio/listener-details.ts'
import { readSnapshots } from '../../src/stores/db/snapshots.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import type { RedisClient } from '../../src/stores/redis/connection.ts'
import {
  countingKey,
  endedSessionsKey,
  shardOf,
  stationKey,
  unflushedKey
} from '../../src/stores/redis/keys.ts'
import { readStationStates } from '../../src/stores/redis/station-store.ts'
import { test } from '../support/fixtures.ts'
import { seedHook } from '../support/hooks.ts'
import { openPlayout } from '../support/playout.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStations } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

type Playout = Awaited<ReturnType<typeof openPlayout>>

/** Three stations, of which the first one is poisoned: every loop meets it before the others. */
interface Stage {
  readonly sql: Sql
  readonly playout: Playout
  readonly redis: RedisClient
  readonly poisoned: number
  readonly others: readonly number[]
}

async function openStage(sql: Sql, redisUrl: string): Promise<Stage & AsyncDisposable> {
  const playout = await openPlayout(sql, redisUrl)
  const stations = await seedStations(sql, { stations: 3 })
  const [poisoned = 0, ...others] = stations.map(({ id }) => id)
  return {
    sql,
    playout,
    redis: playout.redis,
    poisoned,
    others,
    [Symbol.asyncDispose]: () => playout[Symbol.asyncDispose]()
  }
}

const idsOf = ({ poisoned, others }: Stage) => [poisoned, ...others]

/** Rows of a station that no release writes, and that make each change or plan of it fail. */
const poisons: Readonly<Record<string, (stage: Stage) => PromiseLike<unknown>>> = {
  'a setting that overflows': ({ sql, poisoned }) =>
    sql`update stations set duplicate_prevention_time_range = 2147483647 where id = ${poisoned}`,
  'an infinite crossfade': ({ sql, poisoned }) =>
    sql`update stations set backend = 'liquidsoap', crossfade = 'infinity', enable_auto_cue = false where id = ${poisoned}`
}

/** Rows that only make its plan fail. */
const brokenPlans: Readonly<Record<string, string>> = {
  'schedule items that are no objects': '[null]',
  'a schedule that is no list': '{"days": 1}',
  'a schedule that is a number': '5',
  'a schedule item at an impossible time':
    '[{"id": 1, "start_time": 1e300, "end_time": 1e300, "start_date": "", "end_date": "", "days": [], "loop_once": false}]'
}

const overflow = async (stage: Stage) => void (await poisons['a setting that overflows']?.(stage))

/** Makes each row that is written to a table for it fail. */
const refuseRows = (table: string) => async (stage: Stage) => {
  await stage.sql`create function refuse_row() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`
  await stage.sql.unsafe(
    `create trigger refuse before insert or update on ${table} for each row when (new.station_id = ${stage.poisoned}) execute function refuse_row()`
  )
}

const startAll = async (stage: Stage) => {
  for (const stationId of idsOf(stage))
    await advance(stage.playout, { stationId, endedShId: 0, cause: 'wake' })
}

/** Moves the current plays, so that they ended this long ago. */
const endAll = ({ sql }: Stage, agoMs: number) => sql`
  update song_history set started_at_ms = started_at_ms - (due_at_ms - ${Date.now() - agoMs}), due_at_ms = ${Date.now() - agoMs}
  where ended_at_ms is null`

const countPlays = async ({ sql }: Stage, stationId: number) => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int from song_history where station_id = ${stationId}`
  return row?.count ?? 0
}

const failing = ({ playout }: Stage, task: StationTask) => playout.stationFaults.failingIds(task)

const sweepOnce = ({ playout }: Stage) => sweep(playout, openStateComparison(playout))

describe('a station whose rules throw does not stop the sweep of the others', () => {
  test.for(Object.keys(brokenPlans))('with %s', async (name, { sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    const { poisoned, others, playout } = stage
    await startAll(stage)
    await sql`update playlists set schedule_items = ${brokenPlans[name] ?? ''}::text::jsonb where station_id = ${poisoned}`
    await sql`delete from queue where station_id = ${poisoned} and played_at_ms is null`
    await endAll(stage, 2_000)
    await sweepOnce(stage)
    for (const id of others) expect(await countPlays(stage, id)).toBe(2)
    expect(await countPlays(stage, poisoned)).toBe(1)
    expect(failing(stage, 'songs')).toEqual([poisoned])
    await sql`update playlists set schedule_items = '[]' where station_id = ${poisoned}`
    // It is tried again within three seconds.
    await waitFor(
      async () => {
        await sweepOnce(stage)
        return (await countPlays(stage, poisoned)) === 2
      },
      { deadlineMs: 10_000, what: 'the station to play again' }
    )
    expect(playout.stationFaults.failingIds('songs')).toEqual([])
  })

  test.for(Object.keys(poisons))('with %s', async (name, { sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await startAll(stage)
    await poisons[name]?.(stage)
    await endAll(stage, 2_000)
    await sweepOnce(stage)
    for (const id of stage.others) expect(await countPlays(stage, id)).toBe(2)
    expect(failing(stage, 'songs')).toEqual([stage.poisoned])
  })

  test('nor the start of silent ones', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await sql`update stations set wake_at_ms = 1`
    await overflow(stage)
    await sweepOnce(stage)
    for (const id of stage.others) expect(await countPlays(stage, id)).toBe(1)
    expect(failing(stage, 'wake')).toEqual([stage.poisoned])
  })

  test('nor the publication of their states', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.redis.set(stationKey(stage.poisoned), 'a text where a hash should be')
    await sweepOnce(stage)
    const states = await readStationStates(stage.redis, stage.others)
    expect(states.map(state => state?.stationId)).toEqual(stage.others)
    expect(failing(stage, 'publish')).toEqual([stage.poisoned])
    await stage.redis.del(stationKey(stage.poisoned))
    await sweepOnce(stage)
    expect(failing(stage, 'publish')).toEqual([])
  })

  test('nor facts of all stations', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await sql`insert into settings (name, value) values ('shown everywhere', '1')`
    await sql.begin(async tx => {
      await tx`select set_config('cuewire.raises_revision', 'on', true)`
      await tx`update stations set revision = 9223372036854775807 where id = ${stage.poisoned}`
    })
    const raised: number[] = []
    await raiseOutdatedRevisions(stage.playout, 3, async ids => void raised.push(...ids))
    expect(raised.toSorted((a, b) => a - b)).toEqual(stage.others)
    expect(failing(stage, 'revision')).toEqual([stage.poisoned])
  })
})

interface Loop {
  readonly name: string
  readonly task: StationTask
  readonly prepare: (stage: Stage) => Promise<unknown>
  readonly poison?: (stage: Stage) => Promise<unknown>
  readonly run: (stage: Stage) => Promise<unknown>
  readonly isDone: (stage: Stage, stationId: number) => Promise<boolean>
}

const nowMs = Date.now()

const isTrue = async (query: PromiseLike<readonly { is: boolean }[]>) => (await query)[0]?.is ?? false

const loops: readonly Loop[] = [
  {
    name: 'refills of queues',
    task: 'refill',
    prepare: ({ sql }) => sql`update stations set filled_version = -1`,
    run: ({ playout }) => refillQueues(playout, openStationRoundRobin()),
    isDone: ({ sql }, id) =>
      isTrue(sql<{ is: boolean }[]>`select count(*) > 0 as is from queue where station_id = ${id}`)
  },
  {
    name: 'loading of libraries',
    task: 'preload',
    prepare: async stage => {
      await startAll(stage)
      stage.playout.libraries.copies.clear()
      await endAll(stage, 0)
    },
    run: ({ playout }) => preloadLibraries(playout, Date.now()),
    isDone: async ({ playout }, id) => playout.libraries.copies.has(id)
  },
  {
    name: 'interrupts',
    task: 'interrupts',
    prepare: async stage => {
      const { sql } = stage
      await startAll(stage)
      await sql`update stations set backend = 'liquidsoap'`
      await sql`insert into playouts (station_id, seen_at_ms, takes_commands) select id, ${nowMs}, true from stations`
      await sql`update queue set is_interrupt = true, plays_at_ms = ${nowMs} where seq in (select min(seq) from queue where played_at_ms is null group by station_id)`
    },
    poison: refuseRows('playout_commands'),
    run: ({ playout }) => sendInterrupts(playout, nowMs),
    isDone: ({ sql }, id) =>
      isTrue(sql<{ is: boolean }[]>`select count(*) > 0 as is from playout_commands where station_id = ${id}`)
  },
  {
    name: 'playouts that timed out',
    task: 'timeouts',
    prepare: async stage => {
      const { sql } = stage
      await startAll(stage)
      await sql`update stations set backend = 'liquidsoap'`
      await sql`insert into playouts (station_id, seen_at_ms, left_at_ms, takes_commands) select id, ${nowMs - 60_000}, ${nowMs - 60_000}, true from stations`
    },
    poison: refuseRows('song_history'),
    run: ({ playout }) => endTimedOutPlays(playout, { nowMs: Date.now(), upForMs: 1e9 }),
    isDone: ({ sql }, id) =>
      isTrue(
        sql<
          { is: boolean }[]
        >`select count(*) = 0 as is from song_history where station_id = ${id} and ended_at_ms is null`
      )
  },
  {
    name: 'requests that expire',
    task: 'requests',
    prepare: ({ sql }) => sql`
      insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms)
      select station_id, min(id), 'x', 0, 0 from media group by station_id`,
    poison: refuseRows('requests'),
    run: ({ playout }) => expireRequests(playout, nowMs),
    isDone: ({ sql }, id) =>
      isTrue(sql<{ is: boolean }[]>`select state = 'expired' as is from requests where station_id = ${id}`)
  },
  {
    name: 'listener counts',
    task: 'counts',
    prepare: async ({ playout, redis, poisoned, others }) => {
      for (const id of [poisoned, ...others]) {
        await publishStation(playout, id)
        await recordListenerReport(playout, id, {
          totals: { total: 7, unique: 5 },
          mounts: [],
          remotes: [],
          hls: []
        })
      }
      const text = (await redis.hget(countingKey(poisoned), 'counting')) ?? ''
      await redis.hset(countingKey(poisoned), 'counting', text.replace('"total":7', '"total":70000000000'))
    },
    poison: async () => {},
    run: ({ playout }) => flushCounts(playout),
    isDone: ({ sql }, id) =>
      isTrue(sql<{ is: boolean }[]>`select listeners_total = 7 as is from stations where id = ${id}`)
  },
  {
    name: 'unreadable listener counts',
    task: 'counts_read',
    prepare: async ({ playout, redis, poisoned, others }) => {
      for (const id of [poisoned, ...others]) {
        await publishStation(playout, id)
        await recordListenerReport(playout, id, {
          totals: { total: 7, unique: 5 },
          mounts: [],
          remotes: [],
          hls: []
        })
      }
      await redis.hset(countingKey(poisoned), 'counting', '{')
      await redis.zadd(unflushedKey(shardOf(poisoned)), '1', String(poisoned))
    },
    poison: async () => {},
    run: ({ playout }) => flushCounts(playout),
    isDone: ({ sql }, id) =>
      isTrue(sql<{ is: boolean }[]>`select listeners_total = 7 as is from stations where id = ${id}`)
  },
  {
    name: 'sessions of listeners',
    task: 'sessions',
    prepare: async ({ redis, poisoned, others }) => {
      for (const id of [poisoned, ...others]) {
        const ordinal = id === poisoned ? 3_000_000_000 : 1
        const session = [id, 'mount', '/radio.mp3', 2_000, 17, ordinal, 1_000, 'VLC', 'desktop', 'DE']
        await redis.xadd(endedSessionsKey(shardOf(id)), '*', 'session', JSON.stringify(session))
      }
    },
    poison: async () => {},
    run: ({ playout, poisoned, others }) => flushSessions(playout, [poisoned, ...others].map(shardOf)),
    isDone: ({ sql }, id) =>
      isTrue(
        sql<{ is: boolean }[]>`select count(*) = 1 as is from listener_sessions where station_id = ${id}`
      )
  },
  {
    name: 'online and offline events',
    task: 'status',
    prepare: async stage => {
      await startAll(stage)
      for (const id of idsOf(stage))
        await seedHook(stage.sql, id, { config: { webhook_url: 'http://x.example' } })
      await stage.sql`update stations set turned_online = true, turned_at_ms = 1`
    },
    poison: refuseRows('webhook_events'),
    run: ({ playout }) => writeStatusEvents(playout, Date.now()),
    isDone: ({ sql }, id) =>
      isTrue(sql<{ is: boolean }[]>`select count(*) = 1 as is from webhook_events where station_id = ${id}`)
  },
  {
    name: 'HLS listeners',
    task: 'hls',
    prepare: async stage => {
      for (const id of idsOf(stage)) await publishStation(stage.playout, id)
    },
    poison: ({ redis, poisoned }) => redis.hset(countingKey(poisoned), 'counting', '{'),
    run: async ({ playout, sql }) => {
      const path = join(await scratchFolder(), 'access.log')
      await writeFile(path, '')
      const describeListener = openListenerDescriber(noCountryFinder)
      const log = openHlsLog(playout, { path, segmentMs: 4_000, describeListener })
      await log.update(0)
      const names = await sql<{ name: string }[]>`select short_name as name from stations order by id`
      for (const { name } of names)
        await appendFile(
          path,
          `192.0.2.7 - - [01/Jan/1970:00:00:30 +0000] "GET /hls/${name}/radio.m3u8 HTTP/1.1" 200 8 "-" "VLC"\n`
        )
      await log.update(30_000)
      await log.close()
    },
    isDone: async ({ sql, playout }, id) => {
      await flushCounts(playout)
      const [snapshot] = await readSnapshots(sql, [id])
      return snapshot?.listeners.hls === 1
    }
  }
]

test.for(loops)('a station that fails does not stop $name of the others', async (loop, { sql, redisUrl }) => {
  await using stage = await openStage(sql, redisUrl)
  await loop.prepare(stage)
  await (loop.poison ?? overflow)(stage)
  await loop.run(stage)
  for (const id of stage.others) expect(await loop.isDone(stage, id), `station ${id}`).toBe(true)
  expect(await loop.isDone(stage, stage.poisoned)).toBe(false)
  expect(failing(stage, loop.task)).toEqual([stage.poisoned])
})

test('many sessions of a station that fails do not hold up others of its shard', async ({
  sql,
  redisUrl
}) => {
  await using stage = await openStage(sql, redisUrl)
  const { poisoned, others, playout, redis } = stage
  const shard = shardOf(poisoned)
  const add = (pipeline: ReturnType<RedisClient['pipeline']>, id: number, ordinal: number) =>
    pipeline.xadd(
      endedSessionsKey(shard),
      '*',
      'session',
      JSON.stringify([id, 'mount', '/radio.mp3', 2_000, 17, ordinal, 1_000, 'VLC', 'desktop', 'DE'])
    )
  const pipeline = redis.pipeline()
  for (let index = 0; index < 4_500; index++) add(pipeline, poisoned, 3_000_000_000 + index)
  for (const id of others) add(pipeline, id, 1)
  await pipeline.exec()
  // Two pages of failing sessions, then the rest.
  for (let run = 0; run < 3; run++) await flushSessions(playout, [shard])
  const stored = await sql<
    { id: number }[]
  >`select station_id as id from listener_sessions order by station_id`
  expect(stored.map(({ id }) => id)).toEqual(others)
  expect(await redis.xlen(endedSessionsKey(shard))).toBe(4_500)
})

test('a web hook that this release cannot read does not stop its station', async ({ sql, redisUrl }) => {
  await using stage = await openStage(sql, redisUrl)
  const { poisoned, playout } = stage
  for (const config of ['null', '5', '{"webhook_url": 1}', '"text"', '[null]', '[[]]']) {
    const id = await seedHook(sql, poisoned, { config: { webhook_url: 'http://x.example' } })
    await sql`update webhooks set config = ${config}::text::jsonb where id = ${id}`
  }
  const newer = await seedHook(sql, poisoned, { config: { webhook_url: 'http://x.example' } })
  await sql`update webhooks set type = 'of a newer release' where id = ${newer}`
  const { outcome } = await advance(playout, { stationId: poisoned, endedShId: 0, cause: 'wake' })
  expect(outcome).toBe('advanced')
})

test('a station in an unknown time zone plays in UTC, with an alert until it is corrected', async ({
  sql,
  redisUrl
}) => {
  await using stage = await openStage(sql, redisUrl)
  const { poisoned, playout } = stage
  await sql`update stations set timezone = 'Mars/Olympus_Mons' where id = ${poisoned}`
  const { outcome } = await advance(playout, { stationId: poisoned, endedShId: 0, cause: 'wake' })
  expect(outcome).toBe('advanced')
  await recordUnknownZones(playout)
  expect(failing(stage, 'time_zone')).toEqual([poisoned])
  await updateStationAlerts(sql, [
    { stationId: poisoned, task: 'time_zone', reason: 'unknown time zone "Mars/Olympus_Mons"' }
  ])
  const alerts = () => sql<{ title: string; body: string; type: string }[]>`
    select title, body, type from notifications order by created_at`
  expect(await alerts()).toMatchObject([
    {
      title: expect.stringContaining('Station 1'),
      body: expect.stringContaining('Mars/Olympus_Mons'),
      type: 'danger'
    }
  ])
  await updateStationAlerts(sql, [])
  expect(await sql`select fact from open_facts`).toHaveLength(1)
  await sql`update open_facts set seen_at = now() - interval '1 minute'`
  await updateStationAlerts(sql, [])
  expect(await alerts()).toMatchObject([{ type: 'success' }])
  await sql`update stations set timezone = 'Europe/Berlin' where id = ${poisoned}`
  await recordUnknownZones(playout)
  expect(failing(stage, 'time_zone')).toEqual([])
})
