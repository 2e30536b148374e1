import { describe, expect, test } from 'vitest'

import { airtimeMs, nextStartMs } from '../../../../src/model/autodj/durations.ts'
import { planQueue } from '../../../../src/model/autodj/queue-planner.ts'
import { applyQueuePlan } from '../../../../src/model/autodj/simulate.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aPlayOf,
  aRow,
  aSituation,
  noonMs,
  timeOf
} from '../../../support/autodj/library.ts'

const nowMs = 1_000_000

interface Case {
  overlap: number
  /** Start and length of the current track, in seconds. */
  current: readonly [start: number, duration: number] | null
  durations: readonly number[]
  playedAt: readonly number[]
  cuedAt: readonly number[]
}

describe('the expected times at 1000 seconds', () => {
  test.for<[what: string, expected: Case]>([
    [
      'follow from the lengths',
      {
        overlap: 0,
        current: [900, 200],
        durations: [180, 4, 240],
        playedAt: [1100, 1280, 1284],
        cuedAt: [900, 1100, 1280]
      }
    ],
    [
      'count the overlap, but for a track that is shorter',
      {
        overlap: 3,
        current: [900, 200],
        durations: [180, 2, 240],
        playedAt: [1097, 1274, 1276],
        cuedAt: [900, 1097, 1274]
      }
    ],
    [
      'begin now where the current track is overdue',
      { overlap: 0, current: [700, 200], durations: [60, 60], playedAt: [1000, 1060], cuedAt: [700, 1000] }
    ],
    [
      'begin now where nothing plays',
      { overlap: 0, current: null, durations: [60], playedAt: [1000], cuedAt: [1000] }
    ],
    [
      'leave a second of a track that is as long as the overlap',
      { overlap: 3, current: [900, 200], durations: [3, 100], playedAt: [1097, 1098], cuedAt: [900, 1097] }
    ]
  ])('%s', ([, { overlap, current, durations, playedAt, cuedAt }]) => {
    const overlapMs = overlap * 1_000
    const [start, duration] = current ?? [1_000, 0]
    const endsAtMs = current ? nextStartMs(start * 1_000, duration * 1_000, overlapMs) : nowMs
    const queue = durations.map((seconds, index) =>
      aRow(index + 1, aPlay(index, 0, { durationMs: seconds * 1_000 }), { isManual: true })
    )
    const plan = planQueue(
      aSituation({
        library: aLibrary({ playlists: [], rules: { overlapMs } }),
        nowMs,
        queue,
        running: { startedAtMs: start * 1_000, endsAtMs: Math.max(nowMs, endsAtMs) }
      })
    )
    const rows = applyQueuePlan(queue, plan)
    expect(rows.map(({ startsAtMs }) => startsAtMs / 1_000)).toEqual(playedAt)
    expect(rows.map(({ cuedAtMs }) => cuedAtMs / 1_000)).toEqual(cuedAt)
  })

  test('follow the overlap of a single row, unless songs do not overlap', () => {
    const queue = [8_000, 0, undefined].map((overlapMs, index) =>
      aRow(
        index + 1,
        aPlay(index, 0, { durationMs: 100_000, ...(overlapMs === undefined ? {} : { overlapMs }) }),
        {
          isManual: true
        }
      )
    )
    const startsWith = (overlapMs: number) => {
      const library = aLibrary({ playlists: [], rules: { overlapMs } })
      const plan = planQueue(aSituation({ library, nowMs, queue, running: { endsAtMs: nowMs } }))
      return applyQueuePlan(queue, plan).map(({ startsAtMs }) => (startsAtMs - nowMs) / 1_000)
    }
    expect(startsWith(3_000)).toEqual([0, 92, 192])
    expect(startsWith(0)).toEqual([0, 100, 200])
  })

  test('do not change the time at which a row was sent', () => {
    const queue = [
      aRow(1, aPlay(1, nowMs), { isSent: true, cuedAtMs: 950_123 }),
      aRow(2, aPlay(2, nowMs), { isManual: true })
    ]
    const rows = applyQueuePlan(
      queue,
      planQueue(aSituation({ library: aLibrary({ playlists: [] }), nowMs, queue }))
    )
    expect(rows.map(({ cuedAtMs }) => cuedAtMs)).toEqual([950_123, nowMs + 180_000])
  })

  test('are not moved if they are right', () => {
    const queue = [aRow(1, aPlay(1, nowMs + 180_000), { isManual: true, cuedAtMs: nowMs })]
    const plan = planQueue(aSituation({ library: aLibrary({ playlists: [] }), nowMs, queue }))
    expect(plan.move).toEqual([])
  })
})

test('an unknown length counts as three minutes, and is stored as unknown', () => {
  expect(airtimeMs(0)).toBe(180_000)
  const queue = [0, 60_000].map((durationMs, index) =>
    aRow(index + 1, aPlay(index, 0, { durationMs }), { isManual: true })
  )
  const plan = planQueue(aSituation({ library: aLibrary({ playlists: [] }), queue }))
  expect(applyQueuePlan(queue, plan).map(({ durationMs, startsAtMs }) => [durationMs, startsAtMs])).toEqual([
    [0, noonMs + 180_000],
    [60_000, noonMs + 360_000]
  ])
})

test('a track is on air for at least a second', () => {
  expect(nextStartMs(0, 300, 0)).toBe(1_000)
  expect(nextStartMs(0, 300, 200)).toBe(1_000)
  expect(nextStartMs(0, 3_500, 3_000)).toBe(1_000)
})

test('no row is added that would start more than six hours ahead', () => {
  const tracks = [101, 102, 103]
  const playlist = aPlaylist({ source: 'stream', schedule: [anItem(1200, 1130)], tracks })
  const plan = planQueue(aSituation({ library: aLibrary({ playlists: [playlist] }), queueLength: 25 }))
  expect(plan.insert).toHaveLength(1)
  expect(plan.insert[0]).toMatchObject({
    startsAtMs: timeOf('12:03'),
    durationMs: timeOf('2026-01-16T11:30Z') - timeOf('12:03')
  })
})

test('a stream ends with its window, whenever it starts', () => {
  const playlist = aPlaylist({ id: 1, source: 'stream', schedule: [anItem(1200, 1300)], tracks: [101] })
  const queue = [aRow(1, aPlayOf(1, 101, timeOf('12:01'), { durationMs: 59 * 60_000 }))]
  const plan = planQueue(aSituation({ library: aLibrary({ playlists: [playlist] }), queue }))
  expect(plan.move).toMatchObject([{ id: 1, startsAtMs: timeOf('12:03'), durationMs: 57 * 60_000 }])
})
