import { describe, expect } from 'vitest'

import { readOpenSessionRows, listenerSessionsFragment } from '../../src/api/reports/listener-sessions.ts'
import { parseConfig } from '../../src/config.ts'
import { changeStation } from '../../src/engine/change-station.ts'
import { recordSourceCounts } from '../../src/engine/listeners/count-listeners.ts'
import { flushSessions } from '../../src/engine/listeners/flush-sessions.ts'
import type { EngineServices } from '../../src/engine/services.ts'
import { hashListener } from '../../src/radio/server-stream.ts'
import { removeOldListenerSessions } from '../../src/stores/db/retention.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import type { RedisClient } from '../../src/stores/redis/connection.ts'
import { endedSessionsKey, shardOf } from '../../src/stores/redis/keys.ts'
import { readConnectedIdentities } from '../../src/stores/redis/listener-store.ts'
import { test } from '../support/fixtures.ts'
import { seedSessions } from '../support/listener-sessions.ts'
import { openPlayout, openSilentFaults } from '../support/playout.ts'
import { openPolling } from '../support/polling.ts'
import { seedStation } from '../support/stations.ts'
import { startFakeIcecast } from '../support/streaming-server.ts'
import { sized } from '../support/tier.ts'

const second = 1_000
const dayMs = 86_400_000

interface Session {
  startMs: number
  endMs: number
  stream: string
  family: string
  client: string
  country: string
}

/** Flushes the sessions of a station, and reads those in Postgres, oldest first. */
async function readSessions(
  { sql, redis }: Pick<EngineServices, 'sql' | 'redis'>,
  stationId: number
): Promise<Session[]> {
  await flushSessions({ sql, redis, stationFaults: openSilentFaults() }, [shardOf(stationId)])
  return sql`
    select started_at_ms as "startMs", ended_at_ms as "endMs", stream, family, client, country
    from listener_sessions where station_id = ${stationId} order by started_at_ms`
}

const sumOf = (sessions: readonly Session[]) =>
  sessions.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)

/** Numbers from 0 to 1 that look random, the same in each run. */
const chance = (seed: number) => Math.abs(Math.sin(seed * 12.9898 + 1) * 43_758.5453) % 1

/** All rows of all tables of the database as text. */
async function dumpDatabase(sql: Sql): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`
  const rows = await Promise.all(
    tables.map(({ name }) => sql<{ text: string }[]>`select t::text as text from ${sql(name)} t`)
  )
  return rows.flatMap((each, index) => each.map(({ text }) => `${tables[index]?.name}: ${text}`)).join('\n')
}

/** All keys and values of Redis as text. */
async function dumpRedis(redis: RedisClient): Promise<string> {
  const values = (await redis.keys('*')).map(async key => {
    const type = await redis.type(key)
    if (type === 'string') return [key, await redis.get(key)]
    if (type === 'hash') return [key, await redis.hgetall(key)]
    if (type === 'zset') return [key, await redis.zrange(key, '0', '-1')]
    if (type === 'list') return [key, await redis.lrange(key, 0, -1)]
    if (type === 'set') return [key, await redis.smembers(key)]
    if (type === 'stream') return [key, await redis.xrange(key, '-', '+')]
    throw new Error(`${key} has the type ${type}`)
  })
  return JSON.stringify(await Promise.all(values))
}

test('a replayed listener log: the listening hours are right within 1 %, and no store contains an address or an identity in Postgres', async ({
  sql,
  redisUrl
}) => {
  await using icecast = await startFakeIcecast()
  const countries = { find: (address: string) => (address.startsWith('198.51.100.') ? 'DE' : '') }
  await using polling = await openPolling(sql, redisUrl, [], countries)
  const stationId = await seedStation(sql, { tracks: 0 })
  await polling.setServer(stationId, icecast.url, { password: 'open sesame' })
  const [listeners, spreadSeconds] = sized({ quick: [30, 200], deep: [300, 1_200] })
  // Three minutes before midnight (UTC). Every third listener shares address and program with others.
  const startMs = Math.ceil(Date.now() / dayMs) * dayMs - 180 * second
  const log = Array.from({ length: listeners }, (_, index) => {
    const fromMs = startMs + Math.round(chance(index) * spreadSeconds * second)
    const agent = index % 2 === 0 ? 'VLC/3.0' : 'Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/132.0'
    return {
      address: index % 3 === 0 ? '2001:db8:7::77' : `198.51.100.${(index % 250) + 1}`,
      agent: index % 3 === 0 ? 'Shared Player/1.0' : agent,
      fromMs,
      untilMs: fromMs + Math.round((30 + 130 * chance(index + 0.5)) * second)
    }
  })
  const identities = new Set<string>()
  for (let step = 0; step <= (spreadSeconds + 180) / 6; step++) {
    // Some polls are missed, and another workers process continues.
    if (step % 25 === 12) continue
    if (step % 40 === 20) polling.services.identities.deleteWhere(() => true)
    const atMs = startMs + step * 6 * second
    const connected = log.filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs)
    icecast.send({
      path: '/radio.mp3',
      listeners: connected.map(({ address, agent, fromMs }) => [
        address,
        agent,
        Math.floor((atMs - fromMs) / second)
      ])
    })
    await polling.poll(atMs)
    if (step % 15 === 10)
      for (const found of (await readConnectedIdentities(polling.services.redis, stationId)).values())
        for (const identity of found) identities.add(identity)
  }
  const redisText = await dumpRedis(polling.services.redis)
  const sessions = await readSessions(polling.services, stationId)
  const truth = log.reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs, 0)
  expect(Math.abs(sumOf(sessions) - truth) / truth).toBeLessThan(0.01)
  expect(
    sessions.some(({ startMs: from, endMs }) => from < startMs + 180_000 && endMs > startMs + 180_000)
  ).toBe(true)
  expect(new Set(sessions.map(({ family, client, country }) => `${family} ${client} ${country}`))).toEqual(
    new Set(['VLC non_browser DE', 'Firefox desktop DE', 'Other non_browser '])
  )
  const database = await dumpDatabase(sql)
  expect(database).toContain('/radio.mp3')
  expect(identities.size).toBeGreaterThan(5)
  for (const { address, agent } of log) {
    for (const text of [database, redisText]) {
      expect(text).not.toContain(address)
      expect(text).not.toContain(agent)
      expect(text).not.toContain(hashListener(address, agent))
    }
  }
  for (const identity of identities) expect(database).not.toContain(identity)
})

/** A station with the mounts `/radio.mp3` and `/low.mp3`, and reports of one listener of a mount. */
async function openStage(sql: Sql, redisUrl: string) {
  const playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 0 })
  await sql`insert into hls_streams (station_id, name) values (${stationId}, '/low.mp3')`
  const report = (path: string, isConnected: boolean, atMs: number) => {
    const connections = isConnected ? [{ address: '198.51.100.9', userAgent: 'VLC', seconds: 0 }] : []
    const total = connections.length
    return recordSourceCounts(
      playout,
      stationId,
      {
        mounts: [{ path, total, unique: total, identities: connections.map(() => 'a'), connections }],
        remotes: [],
        hls: []
      },
      { atMs, previousMs: atMs, describe: () => ({ family: 'VLC', client: 'non_browser', country: '' }) }
    )
  }
  return {
    playout,
    stationId,
    report,
    read: () => readSessions(playout, stationId),
    [Symbol.asyncDispose]: () => playout[Symbol.asyncDispose]()
  }
}

describe('sessions', () => {
  test('end with their mount, and with lists that are no longer shown', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    const atMs = Date.now() - 60 * second
    await stage.report('/radio.mp3', true, atMs)
    await stage.report('/low.mp3', true, atMs)
    await changeStation(stage.playout, stage.stationId, async ({ tx, mark }) => {
      await tx`delete from hls_streams where station_id = ${stage.stationId} and name = '/low.mp3'`
      mark(['station'])
    })
    expect(await stage.read()).toMatchObject([{ stream: '/low.mp3', startMs: atMs - 500 }])
    await recordSourceCounts(stage.playout, stage.stationId, {
      mounts: [{ path: '/radio.mp3', total: 1, unique: 1 }],
      remotes: [],
      hls: []
    })
    const streams = (await stage.read()).map(({ stream }) => stream)
    expect(streams.toSorted()).toEqual(['/low.mp3', '/radio.mp3'])
  })

  test('are written once, however often the flush is repeated', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    const { redis } = stage.playout
    const atMs = Date.now()
    await stage.report('/radio.mp3', true, atMs)
    await stage.report('/radio.mp3', false, atMs + 60 * second)
    const key = endedSessionsKey(shardOf(stage.stationId))
    const [[, fields] = ['', []]] = await redis.xrange(key, '-', '+')
    const written = await stage.read()
    expect(written).toMatchObject([{ startMs: atMs - 500, endMs: atMs + 60 * second }])
    // An acknowledgement was lost.
    await redis.xadd(key, '*', ...fields)
    expect(await stage.read()).toEqual(written)
    expect(await redis.xlen(key)).toBe(0)
  })

  test('of a deleted station are dropped', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.report('/radio.mp3', true, Date.now())
    await stage.report('/radio.mp3', false, Date.now())
    await sql`update stations set deleted_at = now() where id = ${stage.stationId}`
    expect(await stage.read()).toEqual([])
    expect(await stage.playout.redis.xlen(endedSessionsKey(shardOf(stage.stationId)))).toBe(0)
  })

  test('are removed after 730 days', async ({ sql }) => {
    const [one, other] = [await seedStation(sql, { tracks: 0 }), await seedStation(sql, { tracks: 0 })]
    const nowMs = Date.now()
    for (const id of [one, other])
      await seedSessions(sql, id, [
        { atMs: nowMs - 731 * dayMs, seconds: 60 },
        { atMs: nowMs - 729 * dayMs, seconds: 60 }
      ])
    expect(await removeOldListenerSessions(sql, nowMs, parseConfig({ AUDIENCE_RETENTION_DAYS: '0' }))).toBe(0)
    expect(await removeOldListenerSessions(sql, nowMs, parseConfig({}))).toBe(2)
  })
})

describe('the audience report', () => {
  const berlin = async (sql: Sql, stationId: number) => {
    await sql`update stations set timezone = 'Europe/Berlin' where id = ${stationId}`
    // Midnight in Berlin is at 22:00.
    await seedSessions(sql, stationId, [
      { atMs: Date.UTC(2026, 6, 7, 21), seconds: 7_200, country: 'DE' },
      { atMs: Date.UTC(2026, 6, 7, 23), seconds: 1_800, family: '=SUM(1)', client: 'desktop' }
    ])
    await sql`
      insert into listener_minutes (station_id, minute, total, "unique", most, fewest)
      values (${stationId}, ${Date.UTC(2026, 6, 7, 21) / 60_000}, 1, 1, 3, 0),
        (${stationId}, ${Date.UTC(2026, 6, 7, 23, 30) / 60_000}, 0, 0, 2, 0)`
  }

  test('has the hours of the period, by day of the station, also as a file', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    await berlin(program.sql, id)
    const path = `/api/station/${id}/reports/audience`
    const { status, body } = await program.ask('GET', `${path}?start=2026-07-07&end=2026-07-08`)
    expect(status).toBe(200)
    expect(body).toEqual({
      start: Date.UTC(2026, 6, 6, 22) / 1_000,
      end: Date.UTC(2026, 6, 8, 22) / 1_000,
      sessions: 2,
      listening_hours: 2.5,
      average_seconds: 4_500,
      counted_hours: 2.5,
      peak: 3,
      days: [
        {
          date: '2026-07-07',
          sessions: 1,
          listening_hours: 1,
          average_seconds: 3_600,
          counted_hours: 1,
          peak: 3
        },
        {
          date: '2026-07-08',
          sessions: 2,
          listening_hours: 1.5,
          average_seconds: 2_700,
          counted_hours: 1.5,
          peak: 2
        }
      ]
    })
    const csv = await program.ask('GET', `${path}?start=2026-07-08&end=2026-07-08&format=csv`)
    expect(csv.body).toBe(
      '\uFEFFdate,sessions,listening_hours,average_seconds,counted_hours,peak\r\n2026-07-08,2,1.5,2700,1.5,2\r\n'
    )
  })

  test('groups sessions by country, program, mount and length', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    await berlin(program.sql, id)
    const ask = async (name: string, more = '') =>
      (
        await program.ask(
          'GET',
          `/api/station/${id}/reports/audience/${name}?start=2026-07-07&end=2026-07-08${more}`
        )
      ).body
    const [long, short] = [
      { sessions: 1, listening_hours: 2, average_seconds: 7_200 },
      { sessions: 1, listening_hours: 0.5, average_seconds: 1_800 }
    ]
    expect(await ask('by-country')).toEqual([
      { country: 'DE', ...long },
      { country: '', ...short }
    ])
    expect(await ask('by-client', '&format=csv')).toBe(
      "\uFEFFclient,sessions,listening_hours,average_seconds\r\nVLC,1,2,7200\r\n'=SUM(1),1,0.5,1800\r\n"
    )
    expect(await ask('by-mount')).toEqual([
      { kind: 'mount', mount: '/radio.mp3', sessions: 2, listening_hours: 2.5, average_seconds: 4_500 }
    ])
    const lengths = await ask('by-listening-time')
    expect(lengths.filter(({ sessions }: { sessions: number }) => sessions > 0)).toEqual([
      { from_seconds: 600, sessions: 1, listening_hours: 0.5 },
      { from_seconds: 3_600, sessions: 1, listening_hours: 2 }
    ])
  })

  test('includes listeners who are still connected', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    const nowMs = Date.now()
    await stage.report('/radio.mp3', true, nowMs - 1_800 * second)
    const period = { startMs: nowMs - 600 * second, endMs: nowMs }
    const services = { reads: sql, redis: stage.playout.redis }
    const open = await readOpenSessionRows(services, stage.stationId, period)
    expect(
      await sql`select * from (${listenerSessionsFragment(sql, stage.stationId, period, open)}) s`
    ).toMatchObject([
      { from_ms: period.startMs, to_ms: nowMs, source: 'mount', stream: '/radio.mp3', family: 'VLC' }
    ])
  })

  test('is erased for a period, or completely on request, with an audit entry', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    await berlin(program.sql, id)
    const path = `/api/station/${id}/reports/audience`
    const reversed = await program.ask('GET', `${path}?start=2026-11-20&end=2026-11-10`)
    expect([reversed.status, reversed.body.extra_data.errors[0].field]).toEqual([400, 'end'])
    const missing = await program.ask('DELETE', path)
    expect([missing.status, missing.body.extra_data.errors[0].field]).toEqual([400, 'start'])
    const { body: made } = await program.ask('POST', '/api/v1/main/api-keys', {
      body: { name: 'reader', permissions: ['view station reports'] }
    })
    expect((await program.ask('DELETE', `${path}?all=true`, { key: made.key })).status).toBe(403)
    const { body } = await program.ask('DELETE', `${path}?start=2026-07-08&end=2026-07-08`)
    expect(body).toMatchObject({
      success: true,
      message: 'Deleted sessions: 1.',
      deleted: 1,
      is_complete: true
    })
    expect((await program.ask('DELETE', `${path}?all=true`)).body).toMatchObject({ deleted: 1 })
    const entries = await program.sql`
      select record_id as period from audit_log where station_id = ${id} and record = 'ListenerSession' order by id`
    expect(entries).toMatchObject([{ period: '2026-07-08 to 2026-07-08' }, { period: 'all' }])
  })
})
