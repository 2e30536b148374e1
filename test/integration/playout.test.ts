import { expect } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { changeStation } from '../../src/engine/change-station.ts'
import { openStateComparison } from '../../src/engine/compare-states.ts'
import { recordListenerReport } from '../../src/engine/listeners/count-listeners.ts'
import { flushStationCounts } from '../../src/engine/listeners/flush-counts.ts'
import { addSongsToQueue, toUnrequestedSongs } from '../../src/engine/queue/manual-queue.ts'
import { removeFromQueue } from '../../src/engine/queue/queue.ts'
import { publishStation, publishAboveOffset } from '../../src/engine/repair-states.ts'
import type { EngineServices } from '../../src/engine/services.ts'
import { lockStations, type StationOnAir } from '../../src/engine/station-facts.ts'
import { removeOldTombstones } from '../../src/engine/station-removal.ts'
import type { StationRoundRobin } from '../../src/engine/station-round-robin.ts'
import { sweep } from '../../src/engine/sweep.ts'
import { readSnapshots } from '../../src/stores/db/snapshots.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import { positionsKey, shardOf, stationKey } from '../../src/stores/redis/keys.ts'
import {
  commitState,
  removeStationState,
  readShardPositions,
  readStationStates
} from '../../src/stores/redis/station-store.ts'
import { countsBasis } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { advanceAndRead, openPlayout } from '../support/playout.ts'
import { readHistory, seedStation, seedStations } from '../support/stations.ts'
import { changeUnpublished, settleEpochs } from '../support/unpublished.ts'
import { waitFor } from '../support/wait.ts'

const wake = (stationId: number) => ({ stationId, endedShId: 0, cause: 'wake' }) as const
const skip = (stationId: number) => ({ stationId, endedShId: null, cause: 'skip' }) as const

const removeRow = (playout: EngineServices, stationId: number, queueId: number) =>
  changeStation(playout, stationId, change => removeFromQueue(change, queueId, Date.now()))

async function queueOf(sql: Sql, stationId: number) {
  return sql<{ id: number; title: string; playsAtMs: number; cuedAtMs: number }[]>`
    select q.id, m.title, q.plays_at_ms as "playsAtMs", q.cued_at_ms as "cuedAtMs"
    from queue q join media m on m.id = q.media_id
    where q.station_id = ${stationId} and q.played_at_ms is null and q.skipped_at_ms is null order by q.position`
}

test('a silent station with songs starts to play and fills its queue', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { queueLength: 4 })
  const { state } = await advanceAndRead(playout, wake(stationId))
  const queue = await queueOf(sql, stationId)
  const startedAtMs = state?.shown?.startedAtMs ?? 0
  expect(state).toMatchObject({ offset: expect.any(Number), current: { dueAtMs: startedAtMs + 60_000 } })
  expect(queue.map(row => row.playsAtMs - startedAtMs)).toEqual([60_000, 120_000, 180_000, 240_000])
  expect(queue.map(row => row.cuedAtMs - startedAtMs)).toEqual([0, 60_000, 120_000, 180_000])
  expect(state?.next?.song.title).toBe(queue[0]?.title)
})

test('the announced song plays next, and the ended song is first in the history', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const first = (await advanceAndRead(playout, wake(stationId))).state
  const second = (await advanceAndRead(playout, skip(stationId))).state
  expect(second?.shown?.song).toEqual(first?.next?.song)
  expect(second?.history.map(play => play.shId)).toEqual([first?.shown?.shId])
  const [ended, open] = await readHistory(sql, stationId)
  expect(ended?.endedAtMs).toBe(open?.startedAtMs)
  expect(open?.endedAtMs).toBeNull()
})

test('twenty concurrent reports of the same end advance once', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const { state } = await advanceAndRead(playout, wake(stationId))
  const shId = state?.current?.shId ?? 0
  await sql`update song_history set started_at_ms = started_at_ms - 60000, due_at_ms = due_at_ms - 60000 where id = ${shId}`
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () => advance(playout, { stationId, endedShId: shId, cause: 'due' }))
  )
  expect(outcomes.filter(({ outcome }) => outcome === 'advanced')).toHaveLength(1)
  expect(await readHistory(sql, stationId)).toHaveLength(2)
  const [stored] = await readStationStates(playout.redis, [stationId])
  expect(stored?.offset).toBeGreaterThan(state?.offset ?? 0)
})

test('a track that ended recently is followed without a gap, one that ended long ago from now', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stations = await seedStations(sql, { stations: 2 })
  const stepLate = async (stationId: number, lateMs: number) => {
    const { state } = await advanceAndRead(playout, wake(stationId))
    const shId = state?.current?.shId ?? 0
    const dueAtMs = Date.now() - lateMs
    await sql`update song_history set started_at_ms = ${dueAtMs - 60_000}, due_at_ms = ${dueAtMs} where id = ${shId}`
    await advance(playout, { stationId, endedShId: shId, cause: 'due' })
    const [ended, next] = await readHistory(sql, stationId)
    expect(next?.startedAtMs).toBe(ended?.endedAtMs)
    return (next?.startedAtMs ?? 0) - dueAtMs
  }
  expect(await stepLate(stations[0]?.id ?? 0, 3_000)).toBe(0)
  expect(await stepLate(stations[1]?.id ?? 0, 60_000)).toBeGreaterThanOrEqual(60_000)
})

test('a job before the track is due ends nothing', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const { state } = await advanceAndRead(playout, wake(stationId))
  const early = await advance(playout, { stationId, endedShId: state?.current?.shId ?? 0, cause: 'due' })
  expect(early.outcome).toBe('not-due')
  expect(await readHistory(sql, stationId)).toHaveLength(1)
})

test('every track plays once per pass, whatever is skipped', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 7 })
  // Otherwise the least recently played track comes first, and all passes are equal.
  await sql`update stations set duplicate_prevention_time_range = 0 where id = ${stationId}`
  await advance(playout, wake(stationId))
  for (let play = 1; play < 21; play++) await advance(playout, skip(stationId))
  const plays = await readHistory(sql, stationId)
  for (const [index, play] of plays.entries()) expect(play.title).not.toBe(plays[index + 1]?.title)
  const passes = [0, 7, 14].map(start => plays.slice(start, start + 7).map(play => play.title))
  for (const pass of passes) expect(new Set(pass).size).toBe(7)
  expect(new Set(passes.map(String)).size).toBe(3)
})

test('a song that is queued on a silent station starts with the next sweep, whichever stations have their turn', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 2 })
  await sql`update playlists set type = 'custom' where station_id = ${stationId}`
  expect((await advance(playout, wake(stationId))).outcome).toBe('silent')
  const noTurns: StationRoundRobin = {
    begin: async (_sql, others) => ({ isChosen: sql`s.id in (${others})`, complete: () => {} })
  }
  await sweep(playout, openStateComparison(playout), noTurns)
  expect(await readHistory(sql, stationId)).toHaveLength(0)
  const [media] = await sql<{ id: number }[]>`select id from media where station_id = ${stationId} limit 1`
  await changeStation(playout, stationId, change =>
    addSongsToQueue(change, toUnrequestedSongs([media?.id ?? 0]))
  )
  await sweep(playout, openStateComparison(playout), noTurns)
  expect(await readHistory(sql, stationId)).toMatchObject([{ endedAtMs: null }])
})

test('a station without tracks goes offline, and resumes when it has tracks again', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 2 })
  await advance(playout, wake(stationId))
  await sql`update playlists set is_enabled = false where station_id = ${stationId}`
  await sql`delete from queue where station_id = ${stationId} and played_at_ms is null`
  const { state } = await advanceAndRead(playout, skip(stationId))
  expect(state).toMatchObject({ current: null, shown: null, next: null })
  expect(state?.history).toHaveLength(1)
  expect((await advance(playout, skip(stationId))).outcome).toBe('silent')

  await sql`update playlists set is_enabled = true where station_id = ${stationId}`
  await sweep(playout, openStateComparison(playout))
  const [back] = await readStationStates(playout.redis, [stationId])
  expect(back?.current).not.toBeNull()
})

test('a station whose row is locked does not delay the sweep of others', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stations = await seedStations(sql, { stations: 3 })
  const [locked, ...others] = stations.map(({ id }) => id)
  const holder = openSql(databaseUrl, { max: 1, name: 'holder' })
  const startedAtMs = performance.now()
  await holder.begin(async tx => {
    await tx`select from stations where id = ${locked ?? 0} for update`
    await sweep(playout, openStateComparison(playout))
  })
  await holder.end({ timeout: 5 })
  expect(performance.now() - startedAtMs).toBeLessThan(2_000)
  const shown = await readStationStates(playout.redis, others)
  expect(shown.map(state => state?.current !== null)).toEqual([true, true])
  await sweep(playout, openStateComparison(playout))
  expect((await readStationStates(playout.redis, [locked ?? 0]))[0]?.current).not.toBeNull()
})

test('a deleted queue row is replaced, releases its track, and the remaining rows move forward', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const { state } = await advanceAndRead(playout, wake(stationId))
  const before = await queueOf(sql, stationId)
  await removeRow(playout, stationId, before[0]?.id ?? 0)
  const after = await queueOf(sql, stationId)
  expect(after.map(row => row.title).slice(0, 2)).toEqual(before.map(row => row.title).slice(1))
  expect(after).toHaveLength(3)
  expect(after.map(row => row.title)).not.toContain(before[0]?.title)
  expect(after[0]?.playsAtMs).toBe(before[0]?.playsAtMs)
  const [shown] = await readStationStates(playout.redis, [stationId])
  expect(shown?.offset).toBeGreaterThan(state?.offset ?? 0)
  expect(shown?.next?.song.title).toBe(after[0]?.title)
  await expect(removeRow(playout, stationId, before[0]?.id ?? 0)).rejects.toMatchObject({
    status: 404
  })
})

test('listener reports are counted, recorded with the play, and written only if they change', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await advance(playout, wake(stationId))
  const nothing = { mounts: [], remotes: [], hls: [] }
  for (const total of [5, 8, 6, 7])
    await recordListenerReport(playout, stationId, { totals: { total, unique: total - 1 }, ...nothing })
  const [before] = await readStationStates(playout.redis, [stationId])
  const mounts = [{ path: '/radio.mp3', total: 7, unique: 6 }]
  await recordListenerReport(playout, stationId, { totals: { total: 7, unique: 6 }, ...nothing })
  expect(await readStationStates(playout.redis, [stationId])).toEqual([before])
  await recordListenerReport(playout, stationId, { totals: { total: 7, unique: 6 }, ...nothing, mounts })
  const [state] = await readStationStates(playout.redis, [stationId])
  expect(Object.values(state?.listeners.mounts ?? {})).toEqual([{ total: 7, unique: 6 }])
  await advance(playout, skip(stationId))
  await flushStationCounts(playout, [stationId])
  const [play] =
    await sql`select listeners_start, listeners_end, listeners_peak, delta_positive, delta_negative,
    unique_listeners from song_history where station_id = ${stationId} order by id limit 1`
  expect(play).toEqual({
    listeners_start: 0,
    listeners_end: 7,
    listeners_peak: 8,
    delta_positive: 9,
    delta_negative: 2,
    unique_listeners: 7
  })
})

test('the listener statistics of a play stop at the maximum of their type', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await advance(playout, wake(stationId))
  const nothing = { mounts: [], remotes: [], hls: [] }
  for (let round = 0; round < 25; round++) {
    for (const total of [100_000_000, 0])
      await recordListenerReport(playout, stationId, { totals: { total, unique: 0 }, ...nothing })
  }
  await flushStationCounts(playout, [stationId])
  const [play] =
    await sql`select delta_positive, delta_negative from song_history where station_id = ${stationId}`
  expect(play).toEqual({ delta_positive: 2_147_483_647, delta_negative: 2_147_483_647 })
})

test('a report with an unknown mount changes nothing', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const report = {
    totals: { total: 9, unique: 9 },
    mounts: [
      { path: '/radio.mp3', total: 9, unique: 9 },
      { path: '/other.mp3', total: 1, unique: 1 },
      { path: '/radio.mp3', total: 8, unique: 8 }
    ],
    remotes: [{ id: 4_711, total: 1, unique: 1 }],
    hls: []
  }
  await publishStation(playout, stationId)
  const before = [await readStationStates(playout.redis, [stationId]), await readSnapshots(sql, [stationId])]
  await expect(recordListenerReport(playout, stationId, report)).rejects.toMatchObject({
    status: 400,
    extraData: {
      errors: [
        { field: 'mounts.1.path', code: 'not_found' },
        { field: 'mounts.2.path', code: 'duplicate' },
        { field: 'remotes.0.id', code: 'not_found' }
      ]
    }
  })
  await flushStationCounts(playout, [stationId])
  const after = [await readStationStates(playout.redis, [stationId]), await readSnapshots(sql, [stationId])]
  expect(after).toEqual(before)
})

/** As if a process with a clock an hour ahead had advanced the station. */
async function moveAnHourAhead(sql: Sql, stationId: number): Promise<void> {
  await sql`
    update song_history set started_at_ms = started_at_ms + ${hourMs}, ended_at_ms = ended_at_ms + ${hourMs},
      due_at_ms = due_at_ms + ${hourMs} where station_id = ${stationId}`
}

const hourMs = 3_600_000

test('plays that start in the future are moved to now, in order and without overlap', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const [swept = 0, skipped = 0] = (await seedStations(sql, { stations: 2 })).map(({ id }) => id)
  for (const id of [swept, skipped]) {
    await advance(playout, wake(id))
    await advance(playout, skip(id))
    await moveAnHourAhead(sql, id)
  }
  const { outcome } = await advance(playout, skip(skipped))
  expect(outcome).toBe('advanced')
  await sweep(playout, openStateComparison(playout))
  await sweep(playout, openStateComparison(playout))
  for (const id of [swept, skipped]) {
    const plays = await readHistory(sql, id)
    for (const [index, { startedAtMs, endedAtMs }] of plays.entries()) {
      expect(startedAtMs).toBeLessThanOrEqual(Date.now() + 50)
      if (index < plays.length - 1) expect(endedAtMs).toBe(plays[index + 1]?.startedAtMs)
    }
    const [state] = await readStationStates(playout.redis, [id])
    const last = plays.at(-1)
    expect(state?.shown?.startedAtMs).toBe(last?.startedAtMs)
    expect(state?.current?.dueAtMs).toBe((last?.startedAtMs ?? 0) + 60_000)
  }
})

test('a station that wakes does not play before its last play has ended', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await advance(playout, wake(stationId))
  await sql`update song_history set ended_at_ms = started_at_ms + 60000 where station_id = ${stationId}`
  await moveAnHourAhead(sql, stationId)
  await advance(playout, wake(stationId))
  const [before, after] = await readHistory(sql, stationId)
  expect(after?.startedAtMs).toBeLessThanOrEqual(Date.now() + 50)
  expect(after?.startedAtMs).toBeGreaterThanOrEqual(before?.endedAtMs ?? Infinity)
})

test('advancing a station sees changes that were committed while it waited for the lock', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await advance(playout, wake(stationId))
  let waiting: Promise<StationOnAir[]> | undefined
  await sql.begin(async tx => {
    await tx`select from stations where id = ${stationId} for no key update`
    waiting = sql.begin(other => lockStations(other, [stationId]))
    const isWaiting = async () =>
      (await sql`select from pg_stat_activity where wait_event_type = 'Lock'`).count > 0
    await waitFor(isWaiting, { deadlineMs: 4_000, what: 'a connection to wait for the station' })
    await tx`
      insert into broadcasts (station_id, username, streamer_name, started_at_ms) values (${stationId}, 'dj', 'DJ', 1)`
    await tx`insert into webhooks (station_id, type) values (${stationId}, 'generic')`
  })
  expect(await waiting).toMatchObject([{ station: { liveSinceMs: 1, hookTriggers: [[]] } }])
})

test('a lost live state is rebuilt under a new epoch, and its next advance is scheduled', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stations = await seedStations(sql, { stations: 3 })
  for (const { id } of stations) await advance(playout, wake(id))
  const ids = stations.map(({ id }) => id)
  const before = await readStationStates(playout.redis, ids)
  await settleEpochs(sql)
  await playout.redis.flushall()
  await sweep(playout, openStateComparison(playout))
  const after = await readStationStates(playout.redis, ids)
  for (const [index, state] of after.entries()) {
    expect(state?.shown).toEqual(before[index]?.shown)
    expect(state?.epoch).not.toBe(before[index]?.epoch)
  }
  expect((await playout.scheduledPlays.count(0)).count).toBe(3)
})

test('a change that was not published to Redis is found by the second sweep', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await advance(playout, wake(stationId))
  await changeUnpublished(
    sql,
    tx => tx`update stations set name = 'Renamed', revision = revision + 1, station_revision = revision + 1
    where id = ${stationId}`
  )
  const comparison = openStateComparison(playout)
  await sweep(playout, comparison)
  expect(comparison.differing()).toEqual(new Set([stationId]))
  await sweep(playout, comparison)
  const [state] = await readStationStates(playout.redis, [stationId])
  expect(state?.profile.name).toBe('Renamed')
})

/** A difference counts if it lasts. */
async function sweepTwice(playout: EngineServices): Promise<void> {
  const comparison = openStateComparison(playout)
  await sweep(playout, comparison)
  await sweep(playout, comparison)
}

const positionOf = async (playout: EngineServices, stationId: number) =>
  (await readShardPositions(playout.redis, shardOf(stationId))).get(stationId)

/** Sets the position of a station in Redis without changing its state. */
async function setPosition({ redis }: EngineServices, stationId: number, position: string): Promise<void> {
  await redis.hset(stationKey(stationId), 'position', position)
  await redis.hset(positionsKey(shardOf(stationId)), String(stationId), position)
}

const dumpOf = ({ redis }: EngineServices, stationId: number) => redis.hgetall(stationKey(stationId))

async function restore(playout: EngineServices, stationId: number, dump: Record<string, string>) {
  await playout.redis.hset(stationKey(stationId), dump)
  await setPosition(playout, stationId, dump['position'] ?? '')
}

test('the sweep rebuilds live states that an older version of the program has written', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const { state } = await advanceAndRead(playout, wake(stationId))
  // As an older version has written it, without a change since then.
  const [position = ''] = [...(await readShardPositions(playout.redis, shardOf(stationId))).values()]
  await setPosition(playout, stationId, position.replace(/\d+$/, '1'))
  expect(await readStationStates(playout.redis, [stationId])).toEqual([null])
  await sweepTwice(playout)
  const [rebuilt] = await readStationStates(playout.redis, [stationId])
  expect(rebuilt?.shown?.shId).toBe(state?.shown?.shId)
  expect(rebuilt?.epoch).toBe(state?.epoch)
  expect(rebuilt?.offset).toBeGreaterThan(state?.offset ?? 0)
})

test('live states of a newer release are not changed', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await advance(playout, wake(stationId))
  const newer = ((await positionOf(playout, stationId)) ?? '').replace(/\d+$/, '99')
  await setPosition(playout, stationId, newer)
  const { outcome, state } = await advanceAndRead(playout, skip(stationId))
  expect({ outcome, state }).toEqual({ outcome: 'advanced', state: null })
  await sweepTwice(playout)
  expect(await positionOf(playout, stationId)).toBe(newer)
})

test('a lost epoch is replaced by one new epoch, however many processes notice it', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  await using other = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const { state } = await advanceAndRead(playout, wake(stationId))
  await settleEpochs(sql)
  await playout.redis.flushall()
  const seen = new Set<string>()
  const watch = async () => {
    const epoch = (await positionOf(playout, stationId))?.split(':')[0]
    if (epoch) seen.add(epoch)
  }
  await Promise.all(
    [playout, other, playout, other].map(each => sweep(each, openStateComparison(each)).then(watch))
  )
  await Promise.all([publishStation(playout, stationId), publishStation(other, stationId)])
  await watch()
  expect(seen.size).toBe(1)
  expect(seen).not.toContain(state?.epoch)
  expect((await readSnapshots(sql, [stationId]))[0]?.epoch).toBe([...seen][0])
})

test('after an old dump of Redis offsets are higher, and an ended epoch does not return', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await advance(playout, wake(stationId))
  const dump = await dumpOf(playout, stationId)
  const { state: before } = await advanceAndRead(playout, skip(stationId))
  await restore(playout, stationId, dump)
  await sweepTwice(playout)
  const [again] = await readStationStates(playout.redis, [stationId])
  expect(again).toMatchObject({ epoch: before?.epoch, current: before?.current })
  expect(again?.offset).toBeGreaterThan(before?.offset ?? 0)
  await settleEpochs(sql)
  await playout.redis.flushall()
  await sweep(playout, openStateComparison(playout))
  await settleEpochs(sql)
  const [after] = await readStationStates(playout.redis, [stationId])
  await restore(playout, stationId, dump)
  await sweepTwice(playout)
  const [newest] = await readStationStates(playout.redis, [stationId])
  expect(new Set([before?.epoch, after?.epoch, newest?.epoch]).size).toBe(3)
})

test('a state that was shown with a higher offset than in Redis gets a still higher one', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const { state } = await advanceAndRead(playout, wake(stationId))
  const { epoch = '', offset = 0 } = state ?? {}
  await publishAboveOffset(playout, { stationId, epoch, offset })
  await publishAboveOffset(playout, { stationId, epoch: 'other', offset: offset + 10 ** 9 })
  expect(await readStationStates(playout.redis, [stationId])).toEqual([state])
  await publishAboveOffset(playout, { stationId, epoch, offset: offset + 10 ** 9 })
  expect(await readStationStates(playout.redis, [stationId])).toEqual([
    { ...state, offset: offset + 10 ** 9 + 1 }
  ])
})

test('a station that was made private is not public again after Redis has lost changes', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await sql`update stations set is_public = true where id = ${stationId}`
  await advance(playout, wake(stationId))
  const dump = await playout.redis.hgetall(stationKey(stationId))
  await changeUnpublished(
    sql,
    tx => tx`update stations set is_public = false, revision = revision + 1, station_revision = revision + 1
    where id = ${stationId}`
  )
  const shown = await publishStation(playout, stationId)
  if (!shown) throw new Error('nothing was published')
  await playout.redis.hset(stationKey(stationId), dump)
  await publishAboveOffset(playout, shown)
  const [renewed] = await readStationStates(playout.redis, [stationId])
  expect(renewed?.profile.isPublic).toBe(false)
  expect(renewed?.offset).toBeGreaterThan(shown.offset)
})

test('a corrupt live state is rebuilt, and affects no other station', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stations = await seedStations(sql, { stations: 3 })
  for (const { id } of stations) await advance(playout, wake(id))
  const [damaged = 0, foreign = 0, other = 0] = stations.map(({ id }) => id)
  await playout.redis.hset(stationKey(damaged), 'state', '{bad')
  await setPosition(playout, foreign, ((await positionOf(playout, foreign)) ?? '').replace(/\d+$/, '0'))
  for (const id of [damaged, foreign, other]) await advance(playout, skip(id))
  const states = await readStationStates(playout.redis, [damaged, foreign, other])
  const facts = await readSnapshots(sql, [damaged, foreign, other])
  const current = new Map(facts.map(each => [each.stationId, each.current?.shId]))
  for (const state of states) expect(state?.current?.shId).toBe(current.get(state?.stationId ?? 0))
})

test('a lost position is written again', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const { state } = await advanceAndRead(playout, wake(stationId))
  const key = positionsKey(shardOf(stationId))
  const position = await playout.redis.hget(key, String(stationId))
  await playout.redis.hdel(key, String(stationId))
  await sweep(playout, openStateComparison(playout))
  expect(await playout.redis.hget(key, String(stationId))).toBe(position)
  expect((await readStationStates(playout.redis, [stationId]))[0]).toEqual(state)
})

test('data restored from a backup takes precedence over a newer live state', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  const { state } = await advanceAndRead(playout, wake(stationId))
  await changeUnpublished(
    sql,
    tx => tx`update stations set name = 'Older', revision = 2, station_revision = 1, playback_revision = 1,
    queue_revision = 1 where id = ${stationId}`
  )
  const rebuilt = await publishStation(playout, stationId)
  expect(rebuilt?.profile.name).toBe('Older')
  expect(rebuilt?.epoch).not.toBe(state?.epoch)
})

test.for([
  { by: 'the same change', isRenamed: false },
  { by: 'a different change', isRenamed: true }
])(
  'data restored from a backup also takes precedence if a change follows immediately, by $by',
  async ({ isRenamed }, { sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const stationId = await seedStation(sql)
    const { state: backedUp } = await advanceAndRead(playout, wake(stationId))
    const restoreBackup = await backUp(sql)
    const { state: lost } = await advanceAndRead(playout, skip(stationId))
    if (isRenamed)
      await changeUnpublished(
        sql,
        tx => tx`update stations set name = 'Lost', revision = next_revision(revision),
      station_revision = next_revision(revision) where id = ${stationId}`
      )
    expect((await publishStation(playout, stationId))?.profile.name === 'Lost').toBe(isRenamed)
    await restoreBackup()
    // No sweep has run since the restore.
    const { state } = await advanceAndRead(playout, skip(stationId))
    expect(state?.current?.shId).toBe(lost?.current?.shId)
    expect(state?.shown?.startedAtMs).toBe((await readHistory(sql, stationId)).at(-1)?.startedAtMs)
    expect(state?.profile.name).toBe(backedUp?.profile.name)
    expect(state?.offset).toBeGreaterThan(lost?.offset ?? Infinity)
  }
)

/** Copies the tables that a change writes. Returns a function that restores them. */
async function backUp(sql: Sql): Promise<() => Promise<void>> {
  const tables = ['stations', 'song_history', 'queue']
  for (const table of tables) await sql`create table ${sql(`kept_${table}`)} as table ${sql(table)}`
  return async () => {
    await sql.begin(async tx => {
      await tx`set local session_replication_role = replica`
      for (const table of tables) {
        const [{ names } = { names: [] }] = await tx<{ names: string[] }[]>`
          select array_agg(column_name::text) as names from information_schema.columns
          where table_name = ${table} and is_generated = 'NEVER'`
        await tx`delete from ${tx(table)}`
        await tx`insert into ${tx(table)} (${tx(names)}) overriding system value
          select ${tx(names)} from ${tx(`kept_${table}`)}`
        await tx`select setval(pg_get_serial_sequence(${table}, 'id'), max(id)) from ${tx(table)}`
      }
    })
  }
}

test('the sweep removes a station that is missing in Postgres, and it is not restored', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const [deleted = 0, other = 0] = (await seedStations(sql, { stations: 2 })).map(({ id }) => id)
  const { state } = await advanceAndRead(playout, wake(deleted))
  await advance(playout, wake(other))
  await sql`delete from stations where id = ${deleted}`
  await sweep(playout, openStateComparison(playout))
  expect(await positionOf(playout, deleted)).toBe('')
  expect(await playout.redis.exists(stationKey(deleted))).toBe(0)
  expect(await positionOf(playout, other)).not.toBe('')
  // A process that read it earlier commits too late, and so does the job that ends its song.
  if (state)
    expect(
      await commitState(playout.redis, { state, counts: countsBasis(state), over: '', triggers: [] })
    ).toBe(null)
  const late = await advance(playout, {
    stationId: deleted,
    endedShId: state?.current?.shId ?? 0,
    cause: 'due'
  })
  expect(late.outcome).toBe('deleted')
  expect(await publishStation(playout, deleted)).toBeNull()
  await sweep(playout, openStateComparison(playout))
  expect(await readStationStates(playout.redis, [deleted])).toEqual([null])
})

test('the tombstone of a station survives the loss of Redis, and is removed after a week', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql)
  await publishStation(playout, stationId)
  await sql`delete from stations where id = ${stationId}`
  await sweep(playout, openStateComparison(playout))
  await playout.redis.flushall()
  await sweep(playout, openStateComparison(playout))
  expect(await positionOf(playout, stationId)).toBe('')
  expect(await removeOldTombstones(playout)).toBe(0)
  await sql`update deleted_stations set deleted_at = now() - interval '8 days'`
  expect(await removeOldTombstones(playout)).toBe(1)
  await sweep(playout, openStateComparison(playout))
  expect(await positionOf(playout, stationId)).toBeUndefined()
})

test('a deleted station that was restored from a backup is shown again', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 0 })
  await publishStation(playout, stationId)
  await settleEpochs(sql)
  await removeStationState(playout.redis, stationId)
  await sweep(playout, openStateComparison(playout))
  expect(await readStationStates(playout.redis, [stationId])).toMatchObject([{ stationId }])
})

test('a jingle is played but not shown', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 5 })
  const { state: song } = await advanceAndRead(playout, wake(stationId))
  await sql`update queue set is_visible = false
    where id = (select min(id) from queue where station_id = ${stationId} and played_at_ms is null)`
  const { state: jingle } = await advanceAndRead(playout, skip(stationId))
  expect(jingle?.shown).toEqual(song?.shown)
  expect(jingle?.current).toMatchObject({ isVisible: false })
  expect(jingle?.history).toEqual([])
  expect(jingle?.next?.playsAtMs).toBe(jingle?.current?.dueAtMs)
})
