import * as fc from 'fast-check'
import { describe, expect } from 'vitest'

import { advance, advanceBatch } from '../../src/engine/advance.ts'
import { openDueAdvances } from '../../src/engine/due-advances.ts'
import type { EngineServices } from '../../src/engine/services.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import type { ScheduledPlay } from '../../src/stores/jobs/scheduled-plays.ts'
import { readStationStates } from '../../src/stores/redis/station-store.ts'
import { test } from '../support/fixtures.ts'
import { seedHook } from '../support/hooks.ts'
import { openPlayout } from '../support/playout.ts'
import { readHistory, type SeededStation, seedStations, type Shape } from '../support/stations.ts'
import { sized } from '../support/tier.ts'
import { changeUnpublished } from '../support/unpublished.ts'

/** Starts stations, and moves their current plays back so that they are due now. */
async function startDue(services: EngineServices, stations: readonly SeededStation[]) {
  for (const { id: stationId } of stations)
    await advance(services, { stationId, endedShId: 0, cause: 'wake' })
  return makeDue(
    services.sql,
    stations.map(({ id }) => id),
    Date.now()
  )
}

/** Moves current plays so that they end at a time. Libraries in memory keep their newest play. */
async function makeDue(sql: Sql, stationIds: readonly number[], dueAtMs: number): Promise<ScheduledPlay[]> {
  const plays = await sql<ScheduledPlay[]>`
    update song_history set started_at_ms = ${dueAtMs}::bigint - duration_ms, due_at_ms = ${dueAtMs}
    where station_id = any(${[...stationIds]}::bigint[]) and ended_at_ms is null
    returning station_id as "stationId", id as "shId", due_at_ms as "dueAtMs"`
  return plays.toSorted((a, b) => a.stationId - b.stationId)
}

/** The transactions that have started the current plays. */
async function startingTransactions(sql: Sql, plays: readonly ScheduledPlay[]): Promise<Set<string>> {
  const rows = await sql<{ xid: string }[]>`
    select xmin::text as xid from song_history
    where ended_at_ms is null and station_id = any(${plays.map(({ stationId }) => stationId)}::bigint[])`
  return new Set(rows.map(({ xid }) => xid))
}

/** Advances a batch, and returns its results when they are published. */
async function advanceAll(services: EngineServices, plays: readonly ScheduledPlay[]) {
  const { results, published } = await advanceBatch(services, plays)
  await published
  return results
}

const outcomesOf = async (results: readonly Promise<{ outcome: string }>[]) =>
  (await Promise.allSettled(results)).map(each =>
    each.status === 'fulfilled' ? each.value.outcome : String(each.reason)
  )

describe('due plays of different stations', () => {
  test('end in one transaction, are published, and their next ends are scheduled', async ({
    sql,
    redisUrl
  }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const plays = await startDue(playout, await seedStations(sql, { stations: 5 }))
    const results = await advanceAll(playout, plays)
    expect([...results.values()].map(({ outcome }) => outcome)).toEqual(Array(5).fill('advanced'))
    expect((await startingTransactions(sql, plays)).size).toBe(1)
    const states = await readStationStates(
      playout.redis,
      plays.map(({ stationId }) => stationId)
    )
    const expected: unknown[] = []
    for (const [index, { stationId, shId, dueAtMs }] of plays.entries()) {
      const [ended, current] = await readHistory(sql, stationId)
      expect([ended?.id, ended?.endedAtMs, current?.startedAtMs]).toEqual([shId, dueAtMs, dueAtMs])
      const state = states[index]
      expect(state?.current?.shId).toBe(current?.id)
      expect(state?.history.map(play => play.shId)).toEqual([shId])
      expected.push({ stationId, shId: current?.id, dueAtMs: state?.current?.dueAtMs })
    }
    const scheduled = await playout.scheduledPlays.take(Number.MAX_SAFE_INTEGER, 100)
    expect(scheduled).toEqual(expect.arrayContaining(expected))
  })

  test('raise the revision of each station once', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const plays = await startDue(playout, await seedStations(sql, { stations: 3 }))
    await advanceAll(playout, plays)
    const rows = await sql`
      select revision = playback_revision and revision = queue_revision as "isOne" from stations
      where id = any(${plays.map(({ stationId }) => stationId)}::bigint[])`
    expect(rows.map(row => row['isOne'])).toEqual([true, true, true])
  })

  test('that ended before are not ended again', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const plays = await startDue(playout, await seedStations(sql, { stations: 3 }))
    await Promise.all([advanceAll(playout, plays), advanceAll(playout, plays)])
    const again = await advanceAll(playout, plays)
    expect([...again.values()].map(({ outcome }) => outcome)).toEqual(Array(3).fill('superseded'))
    for (const { stationId } of plays) expect(await readHistory(sql, stationId)).toHaveLength(2)
  })

  test('that are due later are left alone', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const plays = await startDue(playout, await seedStations(sql, { stations: 2 }))
    const [first, later] = plays
    await makeDue(sql, [later?.stationId ?? 0], Date.now() + 60_000)
    const results = await advanceAll(playout, plays)
    expect(results.get(first?.stationId ?? 0)?.outcome).toBe('advanced')
    expect(results.get(later?.stationId ?? 0)?.outcome).toBe('not-due')
    expect(await readHistory(sql, later?.stationId ?? 0)).toHaveLength(1)
  })

  test('with and without web hooks get their events in the same transaction', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stations = await seedStations(sql, { stations: 4 })
    const config = { webhook_url: 'http://127.0.0.1:9/' }
    const plays = await startDue(playout, stations)
    const hooked = [
      await seedHook(sql, stations[0]?.id ?? 0, { triggers: ['song_changed'], config }),
      await seedHook(sql, stations[1]?.id ?? 0, { config }),
      await seedHook(sql, stations[1]?.id ?? 0, { triggers: ['song_changed'], config })
    ]
    await seedHook(sql, stations[2]?.id ?? 0, { triggers: ['live_connect'], config })
    const results = await advanceAll(playout, plays)
    expect(results.size).toBe(4)
    const deliveries = await sql`
      select d.webhook_id as hook, e.fact, d.triggers, d.xmin::text = h.xmin::text as "isOne"
      from webhook_deliveries d join webhook_events e on e.id = d.event_id
        join song_history h on h.station_id = e.station_id and h.ended_at_ms is null and e.fact = 'song:' || h.id
      order by d.webhook_id`
    expect(deliveries.map(row => [row['hook'], row['triggers'], row['isOne']])).toEqual(
      hooked.map(hook => [hook, ['song_changed'], true])
    )
  })
})

describe('in a batch', () => {
  test('a locked station does not delay the others, and advances when it is free', async ({
    sql,
    databaseUrl,
    redisUrl
  }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const other = openSql(databaseUrl, { max: 1, name: 'test' })
    const plays = await startDue(playout, await seedStations(sql, { stations: 4 }))
    await other`begin`
    await other`select from stations where id = ${plays[1]?.stationId ?? 0} for no key update`
    const due = openDueAdvances(playout)
    const results = plays.map(play => due.advance(play))
    const free = results.filter((_, index) => index !== 1)
    expect(await outcomesOf(free)).toEqual(Array(3).fill('advanced'))
    expect(await readHistory(sql, plays[1]?.stationId ?? 0)).toHaveLength(1)
    await other`commit`
    expect(await outcomesOf(results)).toEqual(Array(4).fill('advanced'))
    await other.end()
  })

  test('a statement that fails for one station does not lose the others', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const plays = await startDue(playout, await seedStations(sql, { stations: 4 }))
    const broken = plays[2]?.stationId ?? 0
    await sql.unsafe(
      `alter table song_history add constraint broken check (station_id <> ${broken}) not valid`
    )
    const due = openDueAdvances(playout)
    try {
      const outcomes = await outcomesOf(plays.map(play => due.advance(play)))
      expect(outcomes).toEqual([
        'advanced',
        'advanced',
        expect.stringContaining('violates check constraint "broken"'),
        'advanced'
      ])
    } finally {
      await sql`alter table song_history drop constraint broken`
    }
    expect(await readHistory(sql, broken)).toHaveLength(1)
    expect(await outcomesOf(plays.slice(2, 3).map(play => due.advance(play)))).toEqual(['advanced'])
  })

  test('a station that cannot be planned fails alone', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const plays = await startDue(playout, await seedStations(sql, { stations: 3 }))
    await changeUnpublished(
      sql,
      tx => tx`update stations set timezone = 'Nowhere/City' where id = ${plays[0]?.stationId ?? 0}`
    )
    const due = openDueAdvances(playout)
    const outcomes = await outcomesOf(plays.map(play => due.advance(play)))
    expect(outcomes.slice(1)).toEqual(['advanced', 'advanced'])
  })

  test('a connection that is killed loses no step and repeats none', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const plays = await startDue(playout, await seedStations(sql, { stations: 4 }))
    await sql.unsafe(`
      create sequence kills;
      create function kill_once() returns trigger language plpgsql as $$ begin
        if nextval('kills') = 2 then perform pg_terminate_backend(pg_backend_pid()); end if;
        return new;
      end $$;
      create trigger kill_once before insert on song_history for each row execute function kill_once()`)
    const due = openDueAdvances(playout)
    try {
      expect(await outcomesOf(plays.map(play => due.advance(play)))).toEqual(Array(4).fill('advanced'))
    } finally {
      await sql.unsafe(`
        drop trigger kill_once on song_history; drop function kill_once(); drop sequence kills`)
    }
    for (const { stationId } of plays) expect(await readHistory(sql, stationId)).toHaveLength(2)
  })

  test('a second entry of a play waits for another batch', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const plays = await startDue(playout, await seedStations(sql, { stations: 3 }))
    const due = openDueAdvances(playout)
    const outcomes = await outcomesOf([...plays, ...plays].map(play => due.advance(play)))
    expect(outcomes).toEqual([...Array(3).fill('advanced'), ...Array(3).fill('superseded')])
  })

  test('stations start their planned songs although their libraries are not in memory', async ({
    sql,
    redisUrl
  }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stations = await seedStations(sql, { stations: 3 })
    const plays = await startDue(playout, stations)
    const ids = stations.map(({ id }) => id)
    await sql`
      update queue q set plays_at_ms = h.due_at_ms + (q.seq - f.seq) * q.duration_ms
      from song_history h, (select station_id, min(seq) as seq from queue where played_at_ms is null group by station_id) f
      where h.station_id = q.station_id and f.station_id = q.station_id and h.ended_at_ms is null
        and q.played_at_ms is null and q.station_id = any(${ids}::bigint[])`
    playout.libraries.copies.clear()
    const results = await advanceAll(playout, plays)
    expect([...results.values()].map(({ outcome }) => outcome)).toEqual(Array(3).fill('advanced'))
    expect((await startingTransactions(sql, plays)).size).toBe(1)
    const rows =
      await sql`select filled_version::int as filled from stations where id = any(${ids}::bigint[])`
    expect(rows.map(row => row['filled'])).toEqual([-1, -1, -1])
  })

  test('a station whose library has changed advances alone', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stations = await seedStations(sql, { stations: 3 })
    const plays = await startDue(playout, stations)
    await sql`select count_library_change(${stations[0]?.id ?? 0})`
    const results = await advanceAll(playout, plays)
    expect([...results.keys()]).toEqual(stations.slice(1).map(({ id }) => id))
    const due = openDueAdvances(playout)
    expect(await outcomesOf(plays.slice(0, 1).map(play => due.advance(play)))).toEqual(['advanced'])
  })
})

/** What a step has left, without ids and times of the wall clock. */
async function readTrace(sql: Sql, stationId: number, dueAtMs: number) {
  const [history, queue, station] = await Promise.all([
    sql`
      select h.title, h.playlist, h.is_request as "isRequest", h.is_visible as "isVisible", h.pass,
        h.started_at_ms - ${dueAtMs}::bigint as start, h.due_at_ms - ${dueAtMs}::bigint as due,
        h.ended_at_ms - ${dueAtMs}::bigint as "end", h.duration_ms as duration, h.listeners_start as listeners
      from song_history h where h.station_id = ${stationId} order by h.id`,
    sql`
      select q.seq, m.title, q.pass, q.position, q.is_request as "isRequest",
        q.cued_at_ms - ${dueAtMs}::bigint as cued, q.plays_at_ms - ${dueAtMs}::bigint as plays,
        jsonb_array_length(q.log) as "logEntries"
      from queue q join media m on m.id = q.media_id
      where q.station_id = ${stationId} and q.played_at_ms is null order by q.seq`,
    sql`
      select next_seq as seq, wake_at_ms as wake, filled_version - wake_version as versions, revision = playback_revision as "isShown"
      from stations where id = ${stationId}`
  ])
  const requests = await sql`select state from requests where station_id = ${stationId} order by id`
  return JSON.parse(JSON.stringify({ history, queue, station, requests }))
}

const shape: fc.Arbitrary<Shape & { hasRequest: boolean; isEmptied: boolean }> = fc.record({
  tracks: fc.integer({ min: 1, max: 8 }),
  songMs: fc.integer({ min: 1_000, max: 400_000 }),
  queueLength: fc.integer({ min: 2, max: 6 }),
  hasRequest: fc.boolean(),
  isEmptied: fc.boolean()
})

test('a batch leaves what single steps leave', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  await fc.assert(
    fc.asyncProperty(fc.array(shape, { minLength: 2, maxLength: 5 }), async shapes => {
      // Each station has a twin that advances alone. Random orders would differ, because they depend on ids.
      const pairs: [ScheduledPlay, ScheduledPlay][] = []
      for (const { hasRequest, isEmptied, ...each } of shapes) {
        const twins = await seedStations(sql, { ...each, stations: 2 })
        const ids = twins.map(({ id }) => id)
        await sql`update stations set listeners_total = 5 where id = any(${ids}::bigint[])`
        await sql`update playlists set "order" = 'sequential' where station_id = any(${ids}::bigint[])`
        const [batched, alone] = await startDue(playout, twins)
        if (!batched || !alone) throw new Error('a station does not play')
        if (hasRequest)
          await sql`
            insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms)
            select station_id, max(id), '', 0, 0 from media where station_id = any(${ids}::bigint[]) group by station_id`
        if (isEmptied) {
          await sql`update playlists set is_enabled = false where station_id = any(${ids}::bigint[])`
          await sql`delete from queue where station_id = any(${ids}::bigint[])`
        }
        pairs.push([batched, alone])
      }
      const due = openDueAdvances(playout)
      await Promise.all(pairs.map(async ([batched]) => due.advance(batched)))
      for (const [, { stationId, shId }] of pairs)
        await advance(playout, { stationId, endedShId: shId, cause: 'due' })
      for (const [batched, alone] of pairs)
        expect(await readTrace(sql, batched.stationId, batched.dueAtMs)).toEqual(
          await readTrace(sql, alone.stationId, alone.dueAtMs)
        )
    }),
    { numRuns: sized({ quick: 15, deep: 100, soak: 400 }) }
  )
})
