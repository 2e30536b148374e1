import { describe, expect } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { findCachedLibrary, openLibraryCache } from '../../src/engine/queue/library-cache.ts'
import { preloadLibraries } from '../../src/engine/queue/preload-libraries.ts'
import { refillQueues } from '../../src/engine/queue/refill-queues.ts'
import type { EngineServices } from '../../src/engine/services.ts'
import { openStationRoundRobin } from '../../src/engine/station-round-robin.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { test } from '../support/fixtures.ts'
import { advanceAndRead, openPlayout } from '../support/playout.ts'
import { readHistory, seedStation, seedStations } from '../support/stations.ts'

/** The same engine after a restart. */
const restarted = <Services extends EngineServices>(services: Services): Services => ({
  ...services,
  libraries: openLibraryCache()
})

/** Starts a station, and moves its past and its queue so that the current song was due `agoMs` ago. */
async function playUntilDue(playout: EngineServices, sql: Sql, stationId: number, agoMs: number) {
  await advance(playout, { stationId, endedShId: 0, cause: 'wake' })
  const [play = { id: 0, dueAtMs: 0 }] = await sql<{ id: number; dueAtMs: number }[]>`
    select id, due_at_ms as "dueAtMs" from song_history where station_id = ${stationId} and ended_at_ms is null`
  const byMs = play.dueAtMs - Date.now() + agoMs
  await sql`
    update song_history set started_at_ms = started_at_ms - ${byMs}, due_at_ms = due_at_ms - ${byMs}
    where station_id = ${stationId}`
  await sql`
    update queue set plays_at_ms = plays_at_ms - ${byMs}, cued_at_ms = cued_at_ms - ${byMs}
    where station_id = ${stationId}`
  const rows = await readQueue(sql, stationId)
  return { endedShId: play.id, dueAtMs: play.dueAtMs - byMs, rows }
}

const readQueue = (sql: Sql, stationId: number) => sql<{ id: number; title: string; playsAtMs: number }[]>`
  select q.id, m.title, q.plays_at_ms as "playsAtMs" from queue q join media m on m.id = q.media_id
  where q.station_id = ${stationId} and q.played_at_ms is null and q.skipped_at_ms is null order by q.position`

const isFilled = async (sql: Sql, stationId: number) => {
  const [row] = await sql<{ isFilled: boolean }[]>`
    select s.filled_version = l.version as "isFilled" from stations s join libraries l on l.station_id = s.id
    where s.id = ${stationId}`
  return row?.isFilled
}

describe('after a restart', () => {
  test('the queued song starts on time without the library, and the queue is refilled', async ({
    sql,
    redisUrl
  }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedStation(sql)
    const { endedShId, dueAtMs, rows } = await playUntilDue(playout, sql, stationId, 0)
    const cold = restarted(playout)
    const { outcome, state } = await advanceAndRead(cold, { stationId, endedShId, cause: 'due' })
    expect(outcome).toBe('advanced')
    expect(cold.libraries.copies.size).toBe(0)
    expect(state?.current?.dueAtMs).toBe(rows[1]?.playsAtMs)
    expect([state?.shown?.startedAtMs, state?.shown?.song.title]).toEqual([dueAtMs, rows[0]?.title])
    expect(state?.next?.song.title).toBe(rows[1]?.title)
    expect([(await readQueue(sql, stationId)).length, await isFilled(sql, stationId)]).toEqual([2, false])
    await refillQueues(cold, openStationRoundRobin())
    const refilled = await readQueue(sql, stationId)
    expect(refilled).toHaveLength(3)
    expect(refilled.slice(0, 2)).toEqual(rows.slice(1))
    expect(await isFilled(sql, stationId)).toBe(true)
    expect(findCachedLibrary(cold.libraries, stationId)).not.toBeNull()
  })

  test('a song that is late after an outage starts now', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedStation(sql)
    const { endedShId, dueAtMs, rows } = await playUntilDue(playout, sql, stationId, 20_000)
    const cold = restarted(playout)
    await advance(cold, { stationId, endedShId, cause: 'due' })
    expect(cold.libraries.copies.size).toBe(0)
    const [ended, current] = await readHistory(sql, stationId)
    expect(current?.title).toBe(rows[0]?.title)
    expect(current?.startedAtMs).toBe(ended?.endedAtMs)
    expect(current?.startedAtMs).toBeGreaterThanOrEqual(dueAtMs + 20_000)
    await refillQueues(cold, openStationRoundRobin())
    const [next] = await readQueue(sql, stationId)
    expect(next?.playsAtMs).toBe((current?.startedAtMs ?? 0) + 60_000)
  })

  test.for([
    ['the library changed since the queue was planned', 0],
    ['all songs of the queue are over', 600_000],
    ['the library is in memory', 0]
  ] as const)('the queue is planned at once if %s', async ([reason, agoMs], { sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedStation(sql)
    const { endedShId } = await playUntilDue(playout, sql, stationId, agoMs)
    if (reason.startsWith('the library changed'))
      await sql`update playlists set weight = 7 where station_id = ${stationId}`
    const services = reason === 'the library is in memory' ? playout : restarted(playout)
    await advance(services, { stationId, endedShId, cause: 'due' })
    expect(findCachedLibrary(services.libraries, stationId)).not.toBeNull()
    expect(await readQueue(sql, stationId)).toHaveLength(3)
    expect(await isFilled(sql, stationId)).toBe(true)
  })

  test('the queue is planned at once after a skip', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedStation(sql)
    await advance(playout, { stationId, endedShId: 0, cause: 'wake' })
    const cold = restarted(playout)
    await sql`update song_history set started_at_ms = started_at_ms - 1000 where station_id = ${stationId}`
    await advance(cold, { stationId, endedShId: null, cause: 'skip' })
    expect(cold.libraries.copies.size).toBe(1)
    expect(await isFilled(sql, stationId)).toBe(true)
  })
})

test('later runs find what changed at once, and every station in turn', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stations = await seedStations(sql, { stations: 4 })
  const ids = stations.map(({ id }) => id)
  const [unplanned = 0, changed = 0, forgotten = 0, untouched = 0] = ids
  // More than a run looks at in turn.
  await sql`insert into stations (name, short_name, is_enabled)
    select 'Other ' || n, 'other_' || n, false from generate_series(1, 4000) n`
  for (const id of ids) await advance(playout, { stationId: id, endedShId: 0, cause: 'wake' })
  const rotation = openStationRoundRobin()
  // The second run looks at the first stations in turn.
  for (let run = 1; run <= 2; run++) await refillQueues(playout, rotation)
  // A version that is too old to be a recent change.
  await sql`update libraries set version = version - 100000`
  await sql`update stations s set filled_version = l.version from libraries l where l.station_id = s.id`
  const [{ version } = { version: 0 }] = await sql<{ version: number }[]>`
    select filled_version as version from stations where id = ${untouched}`
  await sql`update stations set filled_version = -1 where id = ${unplanned}`
  await sql`update stations set filled_version = 0 where id = ${forgotten}`
  await sql`update playlists set weight = 7 where station_id = ${changed}`
  expect(await isFilled(sql, changed)).toBe(false)
  await refillQueues(playout, rotation)
  expect([await isFilled(sql, unplanned), await isFilled(sql, changed)]).toEqual([true, true])
  expect(await isFilled(sql, forgotten)).toBe(false)
  for (let run = 1; run <= 2; run++) await refillQueues(playout, rotation)
  expect(await isFilled(sql, forgotten)).toBe(true)
  expect(await sql`select filled_version as version from stations where id = ${untouched}`).toEqual([
    { version }
  ])
})

describe('libraries are loaded ahead', () => {
  /** Stations whose songs end in the given numbers of seconds. */
  async function seedDue(playout: EngineServices, sql: Sql, seconds: readonly number[]): Promise<number[]> {
    const stations = await seedStations(sql, { stations: seconds.length })
    for (const { id } of stations) await advance(playout, { stationId: id, endedShId: 0, cause: 'wake' })
    for (const [index, { id }] of stations.entries())
      await sql`
        update song_history set due_at_ms = ${Date.now() + (seconds[index] ?? 0) * 1_000} where station_id = ${id}`
    return stations.map(({ id }) => id)
  }

  test('for the songs that end next, the first one first', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const ids = await seedDue(playout, sql, [20, 5, 50, -1, 15, 25, 10])
    const cold = restarted(playout)
    await preloadLibraries(cold, Date.now())
    expect([...cold.libraries.copies.keys()].map(id => ids.indexOf(id))).toEqual([3, 1, 6, 4, 0, 5])
    const [first = 0] = ids
    const loaded = findCachedLibrary(cold.libraries, first)
    expect(loaded?.version).toBe(findCachedLibrary(playout.libraries, first)?.version)
    await preloadLibraries(cold, Date.now())
    expect(findCachedLibrary(cold.libraries, first)).toBe(loaded)
  })

  test('up to half of the cache, without evicting what is needed earlier', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const ids = await seedDue(
      playout,
      sql,
      Array.from({ length: 20 }, (_, index) => index)
    )
    const one = playout.libraries.bytes / ids.length
    const small = { ...playout, libraries: openLibraryCache({ bytesAtMost: 20 * one }) }
    await preloadLibraries(small, Date.now())
    const loaded = [...small.libraries.copies.keys()]
    expect(loaded).toEqual(ids.slice(0, loaded.length))
    expect(loaded.length).toBeGreaterThanOrEqual(10)
    expect(loaded.length).toBeLessThanOrEqual(15)
    expect(small.libraries.bytes).toBeLessThanOrEqual(small.libraries.bytesAtMost)
  })

  test('and are used by the next step', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedStation(sql)
    const { endedShId } = await playUntilDue(playout, sql, stationId, 0)
    const cold = restarted(playout)
    await preloadLibraries(cold, Date.now())
    const loaded = findCachedLibrary(cold.libraries, stationId)
    await advance(cold, { stationId, endedShId, cause: 'due' })
    expect(findCachedLibrary(cold.libraries, stationId)).toBe(loaded)
    expect([(await readQueue(sql, stationId)).length, await isFilled(sql, stationId)]).toEqual([3, true])
  })
})
