import { expect } from 'vitest'

import { recordDjDisconnect, recordDjConnect } from '../../src/engine/plays/broadcasts.ts'
import { recordTrackReport } from '../../src/engine/plays/report-track.ts'
import { engineTime, engineTimeMs } from '../../src/platform/runtime/engine-time.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { readDueHooks, pullBackHookTimes } from '../../src/webhooks/deliveries/leases.ts'
import { openOutbox } from '../../src/webhooks/outbox.ts'
import { filterHookTriggers } from '../../src/webhooks/types/hook-types.ts'
import { test } from '../support/fixtures.ts'
import { seedHook, stateOf } from '../support/hooks.ts'
import { openPlayout } from '../support/playout.ts'
import { readHistory, seedStation } from '../support/stations.ts'

// Times in the future are stored after the clock of Postgres was ahead for a while.

const hourMs = 3_600_000

const reportOf = (title: string, startedAtMs: number) => ({
  queueId: null,
  mediaId: null,
  playlistId: null,
  artist: 'Artist',
  title,
  startedAtMs,
  isTimed: true
})

/**
 * Creates a station that relies on reports, with plays that start at these times, in milliseconds from now.
 */
async function seedReported(sql: Sql, startsMs: readonly number[]): Promise<number> {
  const stationId = await seedStation(sql)
  await sql`update stations set backend = 'liquidsoap' where id = ${stationId}`
  const nowMs = Date.now()
  const plays = startsMs.map((startMs, index) => {
    const next = startsMs[index + 1]
    const title = `Title ${index}`
    return { title, start: nowMs + startMs, end: next === undefined ? null : nowMs + next }
  })
  for (const { title, start, end } of plays)
    await sql`
      insert into song_history (station_id, song_id, artist, title, album, duration_ms, started_at_ms, ended_at_ms)
      values (${stationId}, '', 'Artist', ${title}, '', 180000, ${start}, ${end})`
  return stationId
}

/** Expects plays in order, without overlap, none starting in the future. */
async function expectInTime(sql: Sql, stationId: number): Promise<void> {
  const nowMs = Date.now()
  const plays = (await readHistory(sql, stationId)).toSorted(
    (a, b) => a.startedAtMs - b.startedAtMs || a.id - b.id
  )
  for (const [index, { startedAtMs, endedAtMs }] of plays.entries()) {
    const next = plays[index + 1]
    expect(startedAtMs).toBeLessThanOrEqual(nowMs)
    if (next) expect(endedAtMs ?? Infinity).toBeLessThanOrEqual(next.startedAtMs)
    else expect(endedAtMs).toBeNull()
  }
}

test('a report after plays in the future becomes the current play', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedReported(sql, [-2_000, 500, 4_000, hourMs])
  await recordTrackReport(playout, stationId, reportOf('New', Date.now() + hourMs))
  await expectInTime(sql, stationId)
  expect((await readHistory(sql, stationId)).at(-1)).toMatchObject({ title: 'New', endedAtMs: null })
})

/**
 * A play that continued while the clock was ahead, and more plays in that time than a report is compared
 * with.
 */
const manyInFuture = [-60_000, ...Array.from({ length: 60 }, (_, index) => hourMs + index * 1_000)]

test.for([
  ['few', manyInFuture.slice(0, 3)],
  ['many', manyInFuture]
] as const)(
  'a report of a moment ago becomes the current play after %s plays in the future',
  async ([, startsMs], { sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedReported(sql, startsMs)
    await recordTrackReport(playout, stationId, reportOf('New', Date.now() - 500))
    await expectInTime(sql, stationId)
    expect((await readHistory(sql, stationId)).at(-1)).toMatchObject({ title: 'New', endedAtMs: null })
  }
)

test('a late report does not overlap with plays beyond those that it is compared with', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedReported(sql, manyInFuture)
  const beforeMs = Date.now() - 500
  await recordTrackReport(playout, stationId, reportOf('On air', Date.now()))
  await recordTrackReport(playout, stationId, reportOf('Late', beforeMs))
  await expectInTime(sql, stationId)
  const titles = (await readHistory(sql, stationId)).map(({ title }) => title)
  expect(titles).toContain('Late')
})

test.for([-hourMs, hourMs])(
  'a process with a clock that is off by %s ms reports the correct time, and corrects its clock',
  async (offMs, { sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedReported(sql, [-5_000])
    const nowMs = performance.now()
    engineTime.addSample({ sentAtMs: nowMs, answeredAtMs: nowMs, timeMs: Date.now() + offMs })
    const agoMs = 2_000
    await recordTrackReport(playout, stationId, reportOf('New', engineTimeMs() - agoMs))
    const play = (await readHistory(sql, stationId)).at(-1)
    expect(Math.abs((play?.startedAtMs ?? 0) - (Date.now() - agoMs))).toBeLessThan(1_500)
    expect(Math.abs(engineTimeMs() - Date.now())).toBeLessThan(1_000)
  }
)

test('a streamer connects and disconnects now, whatever the clock of the reporting process', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedReported(sql, [-2_000, hourMs])
  const streamer = { username: 'dj', displayName: 'DJ', streamerId: null }
  const broadcasts = async () => {
    const rows = await sql<{ startedAtMs: number; endedAtMs: number | null }[]>`
      select started_at_ms as "startedAtMs", ended_at_ms as "endedAtMs" from broadcasts where station_id = ${stationId}`
    return rows.map(({ startedAtMs, endedAtMs }) => ({
      isBegun: startedAtMs <= Date.now(),
      isOver: endedAtMs !== null && endedAtMs <= Date.now()
    }))
  }
  await recordDjConnect(playout, stationId, streamer, Date.now() + hourMs)
  expect(await broadcasts()).toEqual([{ isBegun: true, isOver: false }])
  await recordDjDisconnect(playout, stationId, { username: 'dj', atMs: Date.now() + hourMs })
  expect(await broadcasts()).toEqual([{ isBegun: true, isOver: true }])
  await expectInTime(sql, stationId)
  const [play] = await sql<{ dueAtMs: number }[]>`
    select due_at_ms as "dueAtMs" from song_history where station_id = ${stationId} and ended_at_ms is null`
  expect(play?.dueAtMs).toBeLessThan(Date.now() + 60_000)
})

test('a retry is not delayed beyond its backoff after the clock was set back, and leases end as well', async ({
  sql
}) => {
  const stationId = await seedStation(sql)
  const hookId = await seedHook(sql, stationId, { config: { webhook_url: 'http://127.0.0.1:9' } })
  const nowMs = Date.now()
  const aheadMs = nowMs + hourMs
  for (const shId of [1, 2])
    await sql.begin(async tx =>
      openOutbox(filterHookTriggers).writeEvent(tx, stateOf(stationId, shId), {
        fact: `song:${shId}`,
        happenedAtMs: nowMs,
        triggers: ['song_changed']
      })
    )
  await sql`
    update webhook_deliveries set attempts = 1, next_attempt_ms = ${aheadMs + 5_000}
    where id = (select min(id) from webhook_deliveries where webhook_id = ${hookId})`
  await sql`
    update webhooks set last_message_sent = ${Math.floor(aheadMs / 1000)}, last_sent_ms = ${aheadMs},
      paused_until_ms = ${aheadMs + 3_000}, holder = 'gone', held_until_ms = ${aheadMs + 8_000}
    where id = ${hookId}`
  await pullBackHookTimes(sql, nowMs)
  const [adjusted] = await sql<{ nextMs: number; pausedMs: number; heldMs: number }[]>`
    select d.next_attempt_ms - ${nowMs} as "nextMs", w.paused_until_ms - ${nowMs} as "pausedMs",
      w.held_until_ms - ${nowMs} as "heldMs"
    from webhook_deliveries d join webhooks w on w.id = d.webhook_id where w.id = ${hookId} order by d.id limit 1`
  expect(adjusted?.nextMs).toBeGreaterThan(4_000)
  expect(adjusted?.nextMs).toBeLessThan(7_000)
  expect(adjusted?.pausedMs).toBeLessThan(5_000)
  expect(adjusted?.heldMs).toBeLessThanOrEqual(8_000)
  expect(await readDueHooks(sql, nowMs + 10_000, 1_000)).toContain(hookId)
})

test('a play that was moved back with all earlier ones, and whose end is in the future, ends now', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const agoMs = -900_000
  const stationId = await seedReported(sql, [agoMs, hourMs + agoMs])
  const nowMs = Date.now()
  for (let play = 1; play <= 8; play++)
    await sql`
      insert into song_history (station_id, song_id, artist, title, album, duration_ms, started_at_ms, ended_at_ms)
      select ${stationId}, '', 'Artist', 'Before', '', 180000, started_at_ms, started_at_ms
      from song_history where station_id = ${stationId} and title = 'Title 0'`
  await recordTrackReport(playout, stationId, reportOf('New', nowMs))
  const plays = await readHistory(sql, stationId)
  expect(plays.filter(({ endedAtMs }) => endedAtMs !== null && endedAtMs > Date.now())).toEqual([])
  expect(plays.find(({ title }) => title === 'Title 0')?.endedAtMs).toBeGreaterThanOrEqual(nowMs)
})
