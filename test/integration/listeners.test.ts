import * as fc from 'fast-check'
import { describe, expect } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import { advance } from '../../src/engine/advance.ts'
import { changeStation } from '../../src/engine/change-station.ts'
import {
  recordSourceCounts,
  recordListenerReport,
  type SourceReport
} from '../../src/engine/listeners/count-listeners.ts'
import { flushStationCounts } from '../../src/engine/listeners/flush-counts.ts'
import { publishStation, publishAboveOffset } from '../../src/engine/repair-states.ts'
import { removeOldCommands, removeOldListenerMinutes } from '../../src/stores/db/retention.ts'
import { readSnapshots } from '../../src/stores/db/snapshots.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { countingKey, shardOf, unflushedKey } from '../../src/stores/redis/keys.ts'
import { readConnectedIdentities } from '../../src/stores/redis/listener-store.ts'
import { readStationStates } from '../../src/stores/redis/station-store.ts'
import { test } from '../support/fixtures.ts'
import { startPlaying } from '../support/playing.ts'
import { openPlayout } from '../support/playout.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const nothing: SourceReport = { mounts: [], remotes: [], hls: [] }
const skip = (stationId: number) => ({ stationId, endedShId: null, cause: 'skip' }) as const

/** The count of a mount with these listeners, each identified by a hash. */
const countOf = (path: string, identities: readonly string[], total = identities.length) => ({
  path,
  total,
  unique: new Set(identities).size,
  identities
})
const atRadio = (...identities: string[]): SourceReport => ({
  ...nothing,
  mounts: [countOf('/radio.mp3', identities)]
})

interface Statistics {
  start: number
  end: number
  peak: number
  positive: number
  negative: number
  unique: number
}

/** Returns the statistics of all plays of a station, oldest first. */
function statisticsOf(sql: Sql, stationId: number): Promise<Statistics[]> {
  return sql`
    select listeners_start as start, listeners_end as end, listeners_peak as peak, delta_positive as positive,
      delta_negative as negative, unique_listeners as unique
    from song_history where station_id = ${stationId} order by id`
}

/** Opens a station whose first play has just started. */
async function openStage(sql: Sql, redisUrl: string) {
  const playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await sql`insert into hls_streams (station_id, name, is_visible_on_public_pages) values (${stationId}, '/low.mp3', false)`
  await sql`insert into remotes (station_id, name, url) values (${stationId}, 'Relay', 'https://relay.example.com/radio')`
  await advance(playout, { stationId, endedShId: 0, cause: 'wake' })
  const next = () => advance(playout, skip(stationId))
  const flush = () => flushStationCounts(playout, [stationId])
  const statistics = async () => {
    await flush()
    return statisticsOf(sql, stationId)
  }
  return {
    stationId,
    playout,
    next,
    count: (report: Partial<SourceReport>) =>
      recordSourceCounts(playout, stationId, { ...nothing, ...report }),
    /** The statistics of the current play. */
    current: async () => (await statistics()).at(-1),
    /** The statistics of all plays, oldest first. */
    statistics,
    flush,
    facts: async () => {
      await flush()
      return (await readSnapshots(sql, [stationId]))[0]
    },
    [Symbol.asyncDispose]: () => playout[Symbol.asyncDispose]()
  }
}

test('reports that change only identities are all flushed while the clock of Redis is behind', async ({
  sql,
  redisUrl
}) => {
  await using stage = await openStage(sql, redisUrl)
  const { playout, stationId } = stage
  const [state] = await readStationStates(playout.redis, [stationId])
  await publishAboveOffset(playout, { stationId, epoch: state?.epoch ?? '', offset: Date.now() + 3_600_000 })
  for (const identity of ['a', 'b', 'c', 'd']) {
    await stage.count(atRadio(identity))
    await stage.flush()
  }
  expect(await stage.current()).toMatchObject({ end: 1, unique: 4 })
  await stage.next()
  await stage.count(atRadio('e'))
  expect(await stage.current()).toMatchObject({ start: 1, unique: 2 })
})

describe('the count of listeners at sources', () => {
  test('is the sum over all sources, including hidden ones', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count({
      mounts: [
        { path: '/radio.mp3', total: 5, unique: 4 },
        { path: '/low.mp3', total: 3, unique: 3 }
      ],
      remotes: [{ path: 'https://relay.example.com/radio', total: 2, unique: 1 }]
    })
    await stage.count({ hls: [{ path: '/low.mp3', total: 7, unique: 7 }] })
    expect((await stage.facts())?.listeners).toMatchObject({ total: 17, unique: 15, hls: 7 })
    await stage.count({ mounts: [{ path: '/low.mp3', total: 0, unique: 0 }] })
    const [state] = await readStationStates(stage.playout.redis, [stage.stationId])
    expect(state?.listeners).toMatchObject({ total: 14, unique: 12 })
  })

  test('is recorded with the current play', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    const total = (count: number) =>
      stage.count({ mounts: [{ path: '/radio.mp3', total: count, unique: 0 }] })
    await total(5)
    await stage.next()
    for (const count of [8, 6, 7]) await total(count)
    await stage.next()
    expect((await stage.statistics())[1]).toMatchObject({
      start: 5,
      end: 7,
      peak: 8,
      positive: 4,
      negative: 2
    })
    expect(await stage.current()).toMatchObject({ start: 7, end: 7, peak: 7, positive: 0, negative: 0 })
  })

  test('of the first play of a station starts with the listeners who are already connected', async ({
    sql,
    redisUrl
  }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedStation(sql)
    await recordSourceCounts(playout, stationId, atRadio('a', 'b'))
    await advance(playout, { stationId, endedShId: 0, cause: 'wake' })
    await flushStationCounts(playout, [stationId])
    expect(await statisticsOf(sql, stationId)).toEqual([
      { start: 2, end: 2, peak: 2, positive: 0, negative: 0, unique: 2 }
    ])
  })

  test('counts a listener of two mounts twice, and a listener with two connections to one mount once', async ({
    sql,
    redisUrl
  }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count({ mounts: [countOf('/radio.mp3', ['a', 'a'])] })
    expect((await stage.facts())?.listeners).toMatchObject({ total: 2, unique: 1 })
    expect(await stage.current()).toMatchObject({ end: 2, unique: 1 })
    await stage.count({ mounts: [countOf('/radio.mp3', ['a']), countOf('/low.mp3', ['a'])] })
    expect((await stage.facts())?.listeners).toMatchObject({ total: 2, unique: 2 })
    expect(await stage.current()).toMatchObject({ end: 2, unique: 2 })
  })

  test('counts a listener who returns once per play, and one who stays also for the next play', async ({
    sql,
    redisUrl
  }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count(atRadio('a', 'b'))
    await stage.next()
    await stage.count(atRadio('b'))
    await stage.count(atRadio('a', 'b'))
    await stage.count(atRadio('b', 'c'))
    expect(await stage.current()).toMatchObject({ start: 2, end: 2, positive: 1, negative: 1, unique: 3 })
    await stage.next()
    await stage.count(atRadio('c', 'd'))
    expect(await stage.current()).toMatchObject({ start: 2, end: 2, unique: 3 })
  })

  test('uses the largest count per play of a source that does not identify listeners', async ({
    sql,
    redisUrl
  }) => {
    await using stage = await openStage(sql, redisUrl)
    const relay = (unique: number) => ({
      remotes: [{ path: 'https://relay.example.com/radio', total: unique, unique }]
    })
    await stage.count({ ...relay(4), mounts: [countOf('/radio.mp3', ['a', 'b'])] })
    await stage.next()
    for (const unique of [2, 6, 1]) await stage.count(relay(unique))
    await stage.count(atRadio('b', 'c'))
    expect(await stage.current()).toMatchObject({ start: 6, unique: 6 + 3 })
  })

  test('does not count listeners twice if a source temporarily stops identifying them', async ({
    sql,
    redisUrl
  }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count(atRadio('a', 'b'))
    await stage.count({ mounts: [{ path: '/radio.mp3', total: 2, unique: 2 }] })
    await stage.count(atRadio('a', 'b'))
    expect(await stage.current()).toMatchObject({ end: 2, unique: 2 })
  })

  test('is not written again if nothing has changed', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count(atRadio('a', 'b'))
    const rows = async () => {
      await stage.flush()
      return sql`
        select xmin::text from stations union all select xmin::text from hls_streams
        union all select xmin::text from song_history union all select xmin::text from listener_minutes`
    }
    const before = await rows()
    expect(before).toHaveLength(5)
    await stage.count(atRadio('b', 'a'))
    expect(await rows()).toEqual(before)
  })

  test('is not flushed at a song that begins with the count that Postgres has', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    const { playout, stationId } = stage
    const waits = () => playout.redis.zscore(unflushedKey(shardOf(stationId)), String(stationId))
    await stage.count(atRadio('a', 'b'))
    await stage.flush()
    for (const _ of [1, 2]) {
      await stage.next()
      expect(await waits()).toBeNull()
    }
    await stage.count(atRadio('a', 'b', 'c'))
    await stage.next()
    expect(await waits()).not.toBeNull()
    const same = { peak: 2, positive: 0, negative: 0, unique: 2 }
    expect(await stage.statistics()).toMatchObject([
      { start: 0, end: 2 },
      { ...same, start: 2, end: 2 },
      { start: 2, end: 3, positive: 1, unique: 3 },
      { start: 3, end: 3, positive: 0, unique: 3 }
    ])
  })

  test('publishes no change if one listener replaces another', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count(atRadio('a'))
    const [before] = await readStationStates(stage.playout.redis, [stage.stationId])
    await stage.count(atRadio('b'))
    expect(await readStationStates(stage.playout.redis, [stage.stationId])).toEqual([before])
    expect(await stage.current()).toMatchObject({ end: 1, unique: 2 })
  })

  test('ignores unknown sources and a deleted station', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count({ mounts: [countOf('/other.mp3', ['a']), countOf('/radio.mp3', ['a'])] })
    expect((await stage.facts())?.listeners).toMatchObject({ total: 1 })
    await recordSourceCounts(stage.playout, 987_654_321, atRadio('a'))
    expect((await readConnectedIdentities(stage.playout.redis, stage.stationId)).size).toBe(1)
  })

  test('does not include a deleted stream', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count({ mounts: [countOf('/radio.mp3', ['a']), countOf('/low.mp3', ['b', 'c'])] })
    await changeStation(stage.playout, stage.stationId, async ({ tx, mark }) => {
      await tx`delete from hls_streams where name = '/low.mp3'`
      mark(['station'])
    })
    expect([...(await readConnectedIdentities(stage.playout.redis, stage.stationId)).values()]).toHaveLength(
      1
    )
    expect(await stage.current()).toMatchObject({ end: 1, peak: 3, negative: 2 })
    expect((await stage.facts())?.listeners).toMatchObject({ total: 1, unique: 1 })
  })

  test('is complete with concurrent reports, song changes and writes of streams', async ({
    sql,
    redisUrl
  }) => {
    await using stage = await openStage(sql, redisUrl)
    const { playout, stationId } = stage
    const people = Array.from({ length: 12 }, (_, n) => `listener ${n}`)
    await Promise.all(
      people.flatMap((_, n) => [
        stage.count(atRadio(...people.slice(0, n + 1))),
        stage.count({ hls: [countOf('/low.mp3', people.slice(n))] }),
        recordListenerReport(playout, stationId, {
          ...nothing,
          totals: null,
          remotes: [{ path: 'https://relay.example.com/radio', total: n, unique: n }]
        }),
        ...(n % 3 === 0 ? [advance(playout, skip(stationId))] : [])
      ])
    )
    const { total } = (await stage.facts())?.listeners ?? {}
    const [sum] = await sql<{ streams: number; remotes: number }[]>`
      select (select sum(listeners_total)::int from hls_streams) as streams,
        (select listeners_total from remotes) as remotes`
    expect((sum?.streams ?? 0) + (sum?.remotes ?? 0)).toBe(total)
    const connected = [...(await readConnectedIdentities(playout.redis, stationId)).values()]
    expect(connected.reduce((count, { size }) => count + size, 0)).toBe(sum?.streams)
    for (const { start, end, positive, negative } of await stage.statistics())
      expect(end - start).toBe(positive - negative)
  })
})

/** What two mounts report in turn; null if the song ends. */
const countReport = fc.record({
  path: fc.constantFrom('/radio.mp3', '/low.mp3'),
  people: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e')),
  more: fc.nat(2),
  hasIdentities: fc.boolean()
})

test('the statistics of every play equal those of a simple reference implementation', async ({
  sql,
  redisUrl
}) => {
  await using stage = await openStage(sql, redisUrl)
  const step = fc.oneof({ weight: 6, arbitrary: countReport }, { weight: 1, arbitrary: fc.constant(null) })
  const steps = fc.array(step, { minLength: 15, maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(steps, async all => {
      await stage.count({ mounts: [countOf('/radio.mp3', []), countOf('/low.mp3', [])] })
      const connected = new Map<string, readonly string[]>()
      const counts = new Map<string, { total: number; unique: number }>()
      const sum = (part: 'total' | 'unique') =>
        [...counts.values()].reduce((sofar, count) => sofar + count[part], 0)
      const began = async () => {
        await stage.next()
        const seen = new Map([...connected].map(([path, people]) => [path, new Set(people)]))
        const largest = new Map([...counts].map(([path, { unique }]) => [path, unique]))
        const total = sum('total')
        const play = {
          start: total,
          end: total,
          peak: total,
          positive: 0,
          negative: 0,
          unique: sum('unique')
        }
        return { play, seen, largest }
      }
      let playing = await began()
      for (const each of all) {
        if (each === null) {
          playing = await began()
          continue
        }
        const { path, people, more, hasIdentities } = each
        const count = countOf(path, people, people.length + more)
        const { identities, ...alone } = count
        await stage.count({ mounts: [hasIdentities ? { ...alone, identities } : alone] })
        const before = sum('total')
        counts.set(path, alone)
        connected.set(path, hasIdentities ? people : [])
        playing.largest.set(path, Math.max(playing.largest.get(path) ?? 0, alone.unique))
        playing.seen.set(path, new Set([...(playing.seen.get(path) ?? []), ...(hasIdentities ? people : [])]))
        const total = sum('total')
        const { largest, seen } = playing
        const uniques = [...largest].map(([source, most]) => Math.max(most, seen.get(source)?.size ?? 0))
        playing.play = {
          ...playing.play,
          end: total,
          peak: Math.max(playing.play.peak, total),
          positive: playing.play.positive + Math.max(0, total - before),
          negative: playing.play.negative + Math.max(0, before - total),
          unique: uniques.reduce((sofar, unique) => sofar + unique, 0)
        }
        expect(await stage.current()).toEqual(playing.play)
      }
    }),
    { numRuns: 4, endOnFailure: true }
  )
})

describe('a report of a broadcaster', () => {
  test('sets the totals, or leaves them to be the sums over the sources', async ({ program }) => {
    const { id } = await startPlaying(program)
    const put = (body: unknown) => program.ask('PUT', `/api/station/${id}/listeners`, { body })
    // The message with the counts may come after the response to the report.
    const expectCounts = (total: number, unique: number) =>
      waitFor(
        async () => {
          const { listeners } = (await program.ask('GET', `/api/nowplaying/${id}`)).body
          return listeners.total === total && listeners.unique === unique
        },
        { deadlineMs: 2_000, what: `${total} listeners, ${unique} unique` }
      )
    await put({ total: 12, mounts: [{ path: '/radio.mp3', total: 4, unique: 3 }] })
    await expectCounts(12, 12)
    expect((await put({ hls: [{ path: '/radio.mp3', total: 5 }] })).status).toBe(200)
    await expectCounts(9, 8)
  })

  test.for<[body: unknown, field: string]>([
    [{}, 'total'],
    [{ mounts: [] }, 'total'],
    [{ unique: 3, hls: [{ path: '/radio.mp3', total: 5 }] }, 'total'],
    [{ total: 3, unique: 4 }, 'unique'],
    [{ total: -1 }, 'total'],
    [{ hls: [{ path: '/other.mp3', total: 5 }] }, 'hls.0.path']
  ])('is refused if it is invalid: %j', async ([body, field], { program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const response = await program.ask('PUT', `/api/station/${id}/listeners`, { body })
    expect([response.status, response.body.extra_data.errors[0].field]).toEqual([400, field])
  })
})

test('minutes are removed after 400 days, except the one that the series starts with', async ({ sql }) => {
  const ids = [await seedStation(sql), await seedStation(sql)]
  const now = Math.floor(Date.now() / 60_000)
  const days = [401, 402, 403, 399, 1].map(day => now - day * 1_440)
  await sql`
    insert into listener_minutes (station_id, minute, total, "unique", most, fewest)
    select id, minute, 1, 1, 1, 1 from unnest(${ids}::bigint[]) id, unnest(${days}::int[]) minute`
  expect(await removeOldListenerMinutes(sql, Date.now(), parseConfig({}))).toBe(4)
  expect(await sql`select minute from listener_minutes where station_id = ${ids[0] ?? 0} order by 1`).toEqual(
    [401, 399, 1].map(day => ({ minute: now - day * 1_440 }))
  )
})

test('commands that no playout has fetched are removed after a minute', async ({ sql }) => {
  const id = await seedStation(sql)
  const nowMs = Date.now()
  await sql`
    insert into playout_commands (station_id, command, created_at_ms)
    select ${id}, '{}', ${nowMs} - age from unnest(${[0, 59_000, 61_000]}::bigint[]) age`
  expect(await removeOldCommands(sql, nowMs)).toBe(1)
})

describe('the flush of counts', () => {
  test('may be repeated and overtaken: an older one changes nothing', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    const { playout, stationId } = stage
    await stage.count(atRadio('a'))
    const older = await playout.redis.hgetall(countingKey(stationId))
    const score = await playout.redis.zscore(unflushedKey(shardOf(stationId)), String(stationId))
    await stage.count(atRadio('a', 'b'))
    await stage.flush()
    const flushed = await stage.statistics()
    // As a process that read before the second report and stood still since.
    await playout.redis.hset(countingKey(stationId), older)
    await playout.redis.zadd(unflushedKey(shardOf(stationId)), String(score), String(stationId))
    expect(await stage.statistics()).toEqual(flushed)
    expect((await stage.facts())?.counts).toMatchObject({ total: 2, unique: 2 })
  })

  test('leaves a locked station for the next run, and does not wait for it', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count(atRadio('a'))
    await sql.begin(async tx => {
      await tx`select from stations where id = ${stage.stationId} for update`
      await stage.flush()
    })
    const [row] = await sql`select listeners_total from stations where id = ${stage.stationId}`
    expect(row).toEqual({ listeners_total: 0 })
    expect((await stage.facts())?.listeners.total).toBe(1)
  })

  test('writes the last count of the play before to plays that were not committed to Redis', async ({
    sql,
    redisUrl
  }) => {
    await using stage = await openStage(sql, redisUrl)
    const { playout, stationId } = stage
    await stage.count(atRadio('a', 'b', 'c'))
    const away = { ...playout, redis: Object.create(playout.redis, { status: { value: 'end' } }) }
    for (const _ of [1, 2]) await advance(away, skip(stationId))
    await publishStation(playout, stationId)
    await stage.count(atRadio('a'))
    expect(
      (await stage.statistics()).map(({ start, end, positive, negative }) => [start, end, positive, negative])
    ).toEqual([
      [0, 3, 3, 0],
      [3, 3, 0, 0],
      [3, 1, 0, 2]
    ])
  })

  test('provides the counts with which Redis starts again after it was emptied', async ({
    sql,
    redisUrl
  }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count({ mounts: [{ path: '/radio.mp3', total: 5, unique: 4 }] })
    await stage.flush()
    await stage.playout.redis.flushall()
    await stage.count({ hls: [{ path: '/low.mp3', total: 2, unique: 2 }] })
    expect(await stage.current()).toMatchObject({ start: 0, end: 7, positive: 7, negative: 0, peak: 7 })
    expect((await stage.facts())?.listeners).toMatchObject({ total: 7, unique: 6, hls: 2 })
  })
})

test('a play that began before the last flush, and whose commit Redis lost, has the count of its station', async ({
  sql,
  redisUrl
}) => {
  await using stage = await openStage(sql, redisUrl)
  const { playout, stationId } = stage
  await stage.count(atRadio('a', 'b'))
  const away = { ...playout, redis: Object.create(playout.redis, { status: { value: 'end' } }) }
  await advance(away, skip(stationId))
  await stage.flush()
  await playout.redis.flushall()
  await stage.count(atRadio('a', 'b', 'c'))
  expect(await stage.current()).toMatchObject({ start: 0, end: 3, peak: 3, positive: 3, negative: 0 })
})

describe('a list of reports', () => {
  test('is recorded for each station, and names the sources that do not match', async ({ program }) => {
    const [one, other] = [await startPlaying(program), await startPlaying(program)]
    const { status, body } = await program.ask('PUT', '/api/listeners', {
      body: {
        stations: [
          { station: one.id, total: 4 },
          {
            station: other.document.station.shortcode,
            mounts: [
              { path: '/radio.mp3', total: 2 },
              { path: '/no.mp3', total: 1 }
            ]
          }
        ]
      }
    })
    const refused = { field: 'stations.1.mounts.1.path', code: 'not_found', message: expect.any(String) }
    expect([status, body.refused]).toEqual([200, [refused]])
    const totalOf = async (id: number) =>
      (await program.ask('GET', `/api/nowplaying/${id}`)).body.listeners.total
    await waitFor(async () => (await totalOf(one.id)) === 4, { deadlineMs: 5_000, what: 'the count' })
    expect(await totalOf(other.id)).toBe(0)
  })

  test.for<[stations: unknown, field: string, code: string]>([
    [undefined, 'stations', 'required'],
    [[], 'stations', 'too_short'],
    [[null], 'stations.0', 'required'],
    [[{ total: 1 }], 'stations.0.station', 'required'],
    [[{ station: 'nobody', total: 1 }], 'stations.0.station', 'not_found'],
    [[{ station: 'a\0b', total: 1 }], 'stations.0.station', 'not_found'],
    [[{ station: 987_654_321, total: 1 }], 'stations.0.station', 'not_found'],
    [[{ station: true, total: 1 }], 'stations.0.station', 'invalid_type'],
    [[{ station: 1 }], 'stations.0.total', 'required'],
    [[{ station: 1, total: -1 }], 'stations.0.total', 'out_of_range'],
    [[{ station: 1, total: 1, unique: 2 }], 'stations.0.unique', 'out_of_range']
  ])('is refused if it is invalid: %j', async ([stations, field, code], { program }) => {
    const response = await program.ask('PUT', '/api/listeners', { body: { stations } })
    expect(response.status).toBe(400)
    expect(response.body.extra_data.errors).toEqual([{ field, code, message: expect.any(String) }])
  })

  test('is refused as a whole if a station is named twice or not allowed for the key', async ({
    program
  }) => {
    const [mine, theirs] = [await startPlaying(program), await startPlaying(program)]
    const made = await program.ask('POST', '/api/v1/main/api-keys', {
      body: {
        name: 'one station',
        permissions: [],
        station_permissions: [{ station: mine.id, permissions: ['manage station broadcasting'] }]
      }
    })
    const put = (stations: object[]) =>
      program.ask('PUT', '/api/listeners', { body: { stations }, key: made.body.key })
    expect((await put([{ station: mine.id, total: 2 }])).status).toBe(200)
    const twice = await put([mine, mine].map(({ id }) => ({ station: id, total: 3 })))
    expect([twice.status, twice.body.extra_data.errors[0].code]).toEqual([400, 'duplicate'])
    const mixed = await put([mine, theirs].map(({ id }) => ({ station: id, total: 3 })))
    expect([mixed.status, mixed.body.extra_data.errors[0].field]).toEqual([400, 'stations.1.station'])
    const totalOf = async () => (await program.ask('GET', `/api/nowplaying/${mine.id}`)).body.listeners.total
    await waitFor(async () => (await totalOf()) === 2, { deadlineMs: 5_000, what: 'the first report' })
  })
})
