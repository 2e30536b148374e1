import * as fc from 'fast-check'
import { describe, expect } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import { removeOldCommands, removeOldListenerMinutes, removeOldListeners } from '../../src/db/retention.ts'
import { readSnapshots } from '../../src/db/snapshots.ts'
import type { Sql } from '../../src/db/sql.ts'
import { advance } from '../../src/playout/advance.ts'
import { recordSourceCounts, recordCounts } from '../../src/playout/listeners/count-listeners.ts'
import type { SourceReport } from '../../src/playout/listeners/sources.ts'
import { readStates } from '../../src/redis/station-store.ts'
import { test } from '../support/fixtures.ts'
import { startPlaying } from '../support/playing.ts'
import { openPlayout } from '../support/playout.ts'
import { seedStation } from '../support/stations.ts'

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
  return {
    stationId,
    playout,
    next,
    count: (report: Partial<SourceReport>) =>
      recordSourceCounts(playout, stationId, { ...nothing, ...report }),
    /** The statistics of the current play. */
    current: async () => (await statisticsOf(sql, stationId)).at(-1),
    facts: async () => (await readSnapshots(sql, [stationId]))[0],
    [Symbol.asyncDispose]: () => playout[Symbol.asyncDispose]()
  }
}

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
    const [state] = await readStates(stage.playout.redis, [stage.stationId])
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
    expect((await statisticsOf(sql, stage.stationId))[1]).toMatchObject({
      start: 5,
      end: 7,
      peak: 8,
      positive: 4,
      negative: 2
    })
    expect(await stage.current()).toMatchObject({ start: 7, end: 7, peak: 7, positive: 0, negative: 0 })
  })

  test('starts at zero for the first play of a station', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedStation(sql)
    await recordSourceCounts(playout, stationId, atRadio('a', 'b'))
    await advance(playout, { stationId, endedShId: 0, cause: 'wake' })
    expect(await statisticsOf(sql, stationId)).toEqual([
      { start: 0, end: 2, peak: 2, positive: 2, negative: 0, unique: 2 }
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
    const rows = async () => sql`
      select xmin::text from stations union all select xmin::text from hls_streams
      union all select xmin::text from listeners union all select xmin::text from song_history
      union all select xmin::text from listener_minutes`
    const before = await rows()
    expect(before).toHaveLength(7)
    await stage.count(atRadio('b', 'a'))
    expect(await rows()).toEqual(before)
  })

  test('publishes no change if one listener replaces another', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count(atRadio('a'))
    const before = await stage.facts()
    await stage.count(atRadio('b'))
    expect(await stage.facts()).toEqual(before)
    expect(await stage.current()).toMatchObject({ end: 1, unique: 2 })
  })

  test('ignores unknown sources and a deleted station', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count({ mounts: [countOf('/other.mp3', ['a']), countOf('/radio.mp3', ['a'])] })
    expect((await stage.facts())?.listeners).toMatchObject({ total: 1 })
    await recordSourceCounts(stage.playout, 987_654_321, atRadio('a'))
    expect(await sql`select from listeners`).toHaveLength(1)
  })

  test('does not include a deleted stream', async ({ sql, redisUrl }) => {
    await using stage = await openStage(sql, redisUrl)
    await stage.count({ mounts: [countOf('/radio.mp3', ['a']), countOf('/low.mp3', ['b', 'c'])] })
    await sql`delete from hls_streams where name = '/low.mp3'`
    await stage.count({})
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
        recordCounts(playout, stationId, {
          ...nothing,
          totals: null,
          remotes: [{ path: 'https://relay.example.com/radio', total: n, unique: n }]
        }),
        ...(n % 3 === 0 ? [advance(playout, skip(stationId))] : [])
      ])
    )
    const { total } = (await stage.facts())?.listeners ?? {}
    const [sum] = await sql<{ total: number; connected: number }[]>`
      select (select sum(listeners_total)::int from hls_streams) + (select listeners_total from remotes) as total,
        (select sum(listeners_total)::int from hls_streams)
          - (select count(*)::int from listeners where left_at_ms is null) as connected`
    expect(sum).toEqual({ total, connected: 0 })
    for (const { start, end, positive, negative } of await statisticsOf(sql, stationId))
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
    const counts = async () =>
      (
        await program.sql`select listeners_total as total, listeners_unique as unique from stations where id = ${id}`
      )[0]
    await put({ total: 12, mounts: [{ path: '/radio.mp3', total: 4, unique: 3 }] })
    expect(await counts()).toEqual({ total: 12, unique: 12 })
    expect((await put({ hls: [{ path: '/radio.mp3', total: 5 }] })).status).toBe(200)
    expect(await counts()).toEqual({ total: 9, unique: 8 })
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
    const answer = await program.ask('PUT', `/api/station/${id}/listeners`, { body })
    expect([answer.status, answer.body.extra_data.errors[0].field]).toEqual([400, field])
  })
})

test('listeners who left are removed after a day, those of a deleted source at once', async ({
  sql,
  redisUrl
}) => {
  await using stage = await openStage(sql, redisUrl)
  await stage.count({ mounts: [countOf('/radio.mp3', ['a', 'b', 'c']), countOf('/low.mp3', ['d'])] })
  await stage.count(atRadio('a'))
  await sql`update listeners set left_at_ms = left_at_ms - 86400001 where identity = (
    select min(identity) from listeners where left_at_ms is not null)`
  await sql`delete from hls_streams where name = '/low.mp3'`
  expect(await removeOldListeners(sql, Date.now())).toBe(2)
  expect(await sql`select left_at_ms is null as is_there from listeners order by 1`).toEqual([
    { is_there: false },
    { is_there: true }
  ])
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
