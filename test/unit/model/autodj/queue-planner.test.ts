import { describe, expect, test } from 'vitest'

import type { PlayOrRow } from '../../../../src/model/autodj/library.ts'
import type { PlannerInput, QueuedRow } from '../../../../src/model/autodj/queue-draft.ts'
import { planQueue } from '../../../../src/model/autodj/queue-planner.ts'
import { applyQueuePlan } from '../../../../src/model/autodj/simulate.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aPlayOf,
  aRequest,
  aRow,
  aSituation,
  aTrack,
  minuteMs,
  noonMs,
  timeOf
} from '../../../support/autodj/library.ts'

/** Rows of three minutes each, the first at 12:03. */
const rowsOf = (plays: readonly PlayOrRow[], parts: Partial<QueuedRow> = {}): QueuedRow[] =>
  plays.map((play, index) => {
    const startsAtMs = noonMs + (index + 1) * 3 * minuteMs
    return aRow(index + 1, { ...play, startsAtMs }, { cuedAtMs: startsAtMs - 3 * minuteMs, ...parts })
  })

/** The queue after a plan: the playlist, request or song of each row. */
function queueAfter(situation: PlannerInput): string[] {
  return applyQueuePlan(situation.queue, planQueue(situation)).map(
    ({ playlistId, trackId, requestId, mediaId }) =>
      requestId !== null
        ? `request ${requestId}`
        : playlistId === null
          ? `song ${mediaId}`
          : `${playlistId}: ${trackId}`
  )
}

const rotation = aPlaylist({ id: 1, tracks: [101, 102, 103, 104, 105, 106, 107, 108] })
const rotationRows = rowsOf([101, 102, 103].map(id => aPlayOf(1, id, 0)))

describe('a duplicate of an earlier song', () => {
  const plays = [aPlayOf(1, 101, noonMs - 60 * minuteMs), aPlayOf(1, 102, noonMs - 3 * minuteMs)]
  const queue = rowsOf([101, 102].map(id => aPlayOf(1, id, 0, { pass: 2 })))

  test('stays while nothing else is eligible', () => {
    const list = aPlaylist({ id: 1, tracks: [101, 102].map(id => aTrack(id, { lastPass: 1 })) })
    const library = aLibrary({ playlists: [list], plays })
    expect(queueAfter(aSituation({ library, queue, queueLength: 2 }))).toEqual(['1: 101', '1: 102'])
  })

  test('is replaced by added songs', () => {
    const rows = [101, 102].map(id => aTrack(id, { lastPass: 1 }))
    const list = aPlaylist({ id: 1, tracks: [...rows, aTrack(103), aTrack(104)] })
    const library = aLibrary({ playlists: [list], plays })
    const after = queueAfter(aSituation({ library, queue, queueLength: 2 }))
    expect(after.toSorted()).toEqual(['1: 103', '1: 104'])
  })
})

describe('a queue', () => {
  test.for([2, 3, 25])('is filled to %d rows', length => {
    expect(planQueue(aSituation({ queueLength: length })).insert).toHaveLength(length)
  })

  test('has at least two rows', () => {
    expect(planQueue(aSituation({ queueLength: 0 })).insert).toHaveLength(2)
  })

  test('ends six hours after the current play', () => {
    const insert = planQueue(aSituation({ queueLength: 1_000 })).insert
    expect(insert).toHaveLength((6 * 60) / 3)
    expect(insert.at(-1)?.startsAtMs).toBe(timeOf('18:00'))
  })

  test('is planned up to 2,000 rows', () => {
    const ids = Array.from({ length: 2_003 }, (_, index) => index + 1)
    const queue = ids.map(id => aRow(id, aPlay(id, 0), { isManual: true }))
    const plan = planQueue(aSituation({ queue }))
    expect(plan.withdraw).toEqual([])
    expect(plan.move.map(({ id }) => id)).toEqual(ids.slice(0, 2_000))
  })

  test('counts all sent rows as one', () => {
    const queue = rowsOf([1, 2, 3].map(id => aPlay(id, 0))).map(row => ({ ...row, isSent: true }))
    expect(planQueue(aSituation({ queue })).insert).toHaveLength(2)
  })

  test('is not changed if it is right', () => {
    const library = aLibrary({ playlists: [rotation] })
    const plan = planQueue(aSituation({ library, queue: rotationRows }))
    expect(plan).toMatchObject({ insert: [], withdraw: [], move: [], runningEndsMs: timeOf('12:03') })
    expect(plan.first).toMatchObject({ id: 1, startsAtMs: timeOf('12:03'), endsAtMs: timeOf('12:06') })
  })

  test('has every slot once, in order', () => {
    const plan = planQueue(aSituation({ nextSeq: 40, queueLength: 4 }))
    expect(plan.insert.map(({ seq }) => seq)).toEqual([40, 41, 42, 43])
    expect(plan.insert.map(({ position }) => position)).toEqual([40, 41, 42, 43])
    expect(plan.first).toMatchObject({ id: null, seq: 40 })
  })

  test('is deterministic, and differs by slot', () => {
    const situation = aSituation({ library: aLibrary({ playlists: [{ ...rotation, order: 'random' }] }) })
    expect(planQueue(situation)).toEqual(planQueue(situation))
    const others = [1, 2, 3, 4, 5].map(nextSeq => planQueue({ ...situation, nextSeq }).insert[0]?.trackId)
    expect(new Set(others).size).toBeGreaterThan(1)
  })

  test('without anything to play is empty, with a wake time', () => {
    const later = aPlaylist({ schedule: [anItem(1400, 1500)] })
    const plan = planQueue(
      aSituation({ library: aLibrary({ playlists: [later] }), running: { endsAtMs: noonMs } })
    )
    expect(plan).toMatchObject({ insert: [], first: null, wakeAtMs: timeOf('14:00') })
  })

  test.for<[what: string, parts: Parameters<typeof aLibrary>[0], wakeAt: string | null]>([
    [
      'an hourly playlist at its minute',
      { playlists: [aPlaylist({ type: 'once_per_hour', hourMinute: 30 })] },
      '12:30'
    ],
    [
      'minutes after the last play',
      {
        playlists: [aPlaylist({ id: 1, type: 'once_per_x_minutes', everyMinutes: 30 })],
        plays: [aPlayOf(1, 101, timeOf('11:50'))]
      },
      '12:20'
    ],
    [
      'a request when it is due',
      { playlists: [], requests: [aRequest(1, { dueAtMs: timeOf('12:07') })] },
      '12:07'
    ],
    ['nothing but a change', { playlists: [aPlaylist({ type: 'once_per_x_songs' })] }, null]
  ])('that is empty waits for %s', ([, parts, wakeAt]) => {
    const plan = planQueue(aSituation({ library: aLibrary(parts), running: { endsAtMs: noonMs } }))
    expect(plan.wakeAtMs).toBe(wakeAt === null ? null : timeOf(wakeAt))
  })
})

describe('precedence', () => {
  const show = (parts = {}) => aPlaylist({ id: 2, schedule: [anItem(1206, 1300)], ...parts })

  test('scheduled rotation replaces rotation from its window on', () => {
    const library = aLibrary({ playlists: [rotation, show()] })
    const after = queueAfter(aSituation({ library, queue: rotationRows }))
    expect(after.map(row => row[0])).toEqual(['1', '2', '2'])
    expect(after[0]).toBe('1: 101')
  })

  test('rotation returns at the end of the window', () => {
    const library = aLibrary({ playlists: [rotation, show({ schedule: [anItem(1206, 1208)] })] })
    expect(queueAfter(aSituation({ library, queue: rotationRows })).map(row => row[0])).toEqual([
      '1',
      '2',
      '1'
    ])
  })

  test('a playlist that is due goes before rotation, which moves back', () => {
    const hourly = aPlaylist({ id: 2, type: 'once_per_hour', hourMinute: 5, tracks: [201] })
    const library = aLibrary({ playlists: [rotation, hourly] })
    const situation = aSituation({ library, queue: rotationRows })
    expect(queueAfter(situation)).toEqual(['1: 101', '2: 201', '1: 102', '1: 103'])
    const plan = planQueue(situation)
    expect(plan.move.map(({ id, log }) => ({ id, log }))).toEqual([
      {
        id: 2,
        log: [
          { step: 'moved', from: timeOf('12:06') / 1_000, to: timeOf('12:09') / 1_000, why: 'window_open' }
        ]
      },
      {
        id: 3,
        log: [
          { step: 'moved', from: timeOf('12:09') / 1_000, to: timeOf('12:12') / 1_000, why: 'window_open' }
        ]
      }
    ])
  })

  test('a playlist that is due goes before those of lower rank', () => {
    const jingles = aPlaylist({
      id: 3,
      type: 'once_per_x_songs',
      everySongs: 1,
      tracks: [301],
      isJingle: true
    })
    const hourly = aPlaylist({ id: 2, type: 'once_per_hour', hourMinute: 5, tracks: [201] })
    const queue = rowsOf([aPlayOf(1, 101, 0), aPlayOf(3, 301, 0, { isVisible: false }), aPlayOf(1, 102, 0)])
    const library = aLibrary({ playlists: [rotation, hourly, jingles], plays: [aPlayOf(3, 301, noonMs)] })
    expect(queueAfter(aSituation({ library, queue })).slice(0, 3)).toEqual(['1: 101', '2: 201', '3: 301'])
  })

  test('a row that was queued for the same reason is moved to the front', () => {
    const hourly = aPlaylist({ id: 2, type: 'once_per_hour', hourMinute: 5, tracks: [201, 202] })
    const queue = rowsOf([aPlayOf(1, 101, 0), aPlayOf(1, 102, 0), aPlayOf(2, 201, 0)])
    const library = aLibrary({ playlists: [rotation, hourly] })
    expect(queueAfter(aSituation({ library, queue }))).toEqual(['1: 101', '2: 201', '1: 102'])
    expect(planQueue(aSituation({ library, queue })).withdraw).toEqual([])
  })

  test('a playlist that is no longer due is withdrawn', () => {
    const hourly = aPlaylist({ id: 2, type: 'once_per_hour', hourMinute: 5, tracks: [201] })
    const queue = rowsOf([aPlayOf(2, 201, 0), ...[101, 102].map(id => aPlayOf(1, id, 0))])
    const library = aLibrary({ playlists: [rotation, { ...hourly, hourMinute: 45 }] })
    const after = queueAfter(aSituation({ library, queue }))
    expect(after.slice(0, 2)).toEqual(['1: 101', '1: 102'])
    expect(after).toHaveLength(3)
  })
})

describe('requests', () => {
  const library = (parts: Parameters<typeof aLibrary>[0] = {}) =>
    aLibrary({ playlists: [rotation], requests: [aRequest(5), aRequest(6), aRequest(7)], ...parts })

  test('go before rotation, up to the limit in a row', () => {
    const after = queueAfter(aSituation({ library: library(), queue: rotationRows, queueLength: 5 }))
    expect(after).toEqual(['request 5', 'request 6', '1: 101', 'request 7', '1: 102', '1: 103'])
  })

  test('go after sent and manual rows', () => {
    const [sent, manual] = rowsOf([aPlay(1, 0), aPlay(2, 0)]).map((row, index) => ({
      ...row,
      isSent: index === 0,
      isManual: index === 1
    }))
    const queue = [sent, manual, ...rotationRows].flatMap((row, index) =>
      row ? [{ ...row, id: index, position: index }] : []
    )
    const after = queueAfter(aSituation({ library: library(), queue, queueLength: 6 }))
    expect(after.slice(0, 5)).toEqual(['song 1', 'song 2', 'request 5', 'request 6', '1: 101'])
  })

  test('wait for the first slot after their due time', () => {
    const requests = [aRequest(5, { dueAtMs: timeOf('12:05') })]
    const after = queueAfter(aSituation({ library: library({ requests }), queue: rotationRows }))
    expect(after).toEqual(['1: 101', 'request 5', '1: 102', '1: 103'])
  })

  test('are logged as the reason for a move', () => {
    const plan = planQueue(aSituation({ library: library({ requests: [aRequest(5)] }), queue: rotationRows }))
    expect(plan.insert.map(({ log }) => log[0])).toEqual([
      { step: 'slot', at: timeOf('12:03') / 1_000, why: 'request_due' }
    ])
    expect(plan.move[0]?.log).toEqual([
      { step: 'moved', from: timeOf('12:03') / 1_000, to: timeOf('12:06') / 1_000, why: 'request_inserted' }
    ])
  })

  const asked = (id: number) => aPlay(id, 0, { requestId: id })

  test('that became adjacent are separated by later rows', () => {
    const queue = rowsOf([asked(5), asked(6), asked(7), aPlayOf(1, 101, 0)])
    expect(queueAfter(aSituation({ library: library(), queue }))).toEqual([
      'request 5',
      'request 6',
      '1: 101',
      'request 7'
    ])
  })

  test('that became adjacent are separated by new rows', () => {
    const queue = rowsOf([asked(5), asked(6), asked(7)])
    const after = queueAfter(aSituation({ library: library(), queue }))
    expect(after.map(row => row.replace(/^1: .*/, 'rotation'))).toEqual([
      'request 5',
      'request 6',
      'rotation',
      'request 7'
    ])
  })

  test('that became adjacent are pending again if nothing separates them', () => {
    const queue = rowsOf([asked(5), asked(6), asked(7)])
    const situation = aSituation({ library: library({ playlists: [] }), queue })
    expect(planQueue(situation).withdraw).toEqual([3])
    expect(queueAfter(situation)).toEqual(['request 5', 'request 6'])
  })

  test('do not play before their due time when an earlier row is withdrawn', () => {
    const requests = [aRequest(5, { dueAtMs: timeOf('12:05') })]
    const queue = rowsOf([asked(5), aPlayOf(1, 101, 0), aPlayOf(1, 102, 0)])
    expect(queueAfter(aSituation({ library: library({ requests }), queue }))).toEqual([
      '1: 101',
      'request 5',
      '1: 102'
    ])
  })

  test('do not follow their own song', () => {
    const queue = rowsOf([asked(101), aPlayOf(1, 102, 0), aPlayOf(1, 103, 0)])
    const plays = [aPlayOf(1, 101, noonMs)]
    expect(queueAfter(aSituation({ library: library({ requests: [], plays }), queue }))).toEqual([
      '1: 102',
      'request 101',
      '1: 103'
    ])
  })
})

describe('a batch', () => {
  const merged = aPlaylist({ id: 2, options: ['merge'], order: 'sequential', tracks: [201, 202, 203] })
  const batch = rowsOf(
    [201, 202, 203].map(id => aPlayOf(2, id, 0, { pass: 2 })),
    { batch: 9 }
  )

  test('is the whole list, regardless of duplicates', () => {
    const plays = [203, 202, 201].map((id, index) => aPlayOf(2, id, noonMs - (index + 2) * minuteMs))
    const tracks = [201, 202, 203].map(id => aTrack(id, { lastPass: 1 }))
    const list = aPlaylist({ ...merged, tracks, options: ['merge'] })
    const plan = planQueue(aSituation({ library: aLibrary({ playlists: [list], plays }), nextSeq: 70 }))
    const rows = plan.insert.map(({ trackId, pass, batch: of, log }) => [trackId, pass, of, log.length > 1])
    expect(rows).toEqual([
      [201, 2, 70, true],
      [202, 2, 70, false],
      [203, 2, 70, false]
    ])
  })

  test.for<[string, number[]]>([
    ['longer', [201, 202, 203, 204]],
    ['shorter', [201, 203]],
    ['in another order', [203, 202, 201]]
  ])('is planned again after its list became %s', ([, ids]) => {
    const tracks = ids.map(id => aTrack(id, { lastPass: 1 }))
    const list = aPlaylist({ ...merged, tracks, options: ['merge'] })
    const queue = queueAfter(aSituation({ library: aLibrary({ playlists: [list] }), queue: batch }))
    expect(queue.slice(0, ids.length)).toEqual(ids.map(id => `2: ${id}`))
  })

  test('is longer than the queue', () => {
    expect(
      planQueue(aSituation({ library: aLibrary({ playlists: [merged] }), queueLength: 2 })).insert
    ).toHaveLength(3)
  })

  test('is not split by a request or a jingle after it has begun', () => {
    const jingles = aPlaylist({
      id: 3,
      type: 'once_per_x_songs',
      everySongs: 1,
      tracks: [301],
      isJingle: true
    })
    const library = aLibrary({
      playlists: [{ ...merged, pass: 2 }, jingles],
      plays: [aPlayOf(2, 201, noonMs, { pass: 2 })],
      requests: [aRequest(5)]
    })
    const queue = batch
      .slice(1)
      .map((row, index) => ({ ...row, startsAtMs: noonMs + (index + 1) * 3 * minuteMs }))
    const after = queueAfter(aSituation({ library, queue, queueLength: 4 }))
    expect(after.slice(0, 3)).toEqual(['2: 202', '2: 203', 'request 5'])
  })

  test('is moved as a whole before it has begun', () => {
    const tracks = [201, 202, 203].map(id => aTrack(id, { lastPass: 1 }))
    const list = aPlaylist({ ...merged, tracks, options: ['merge'] })
    const queue = batch
    const requests = [aRequest(5)]
    expect(queueAfter(aSituation({ library: aLibrary({ playlists: [list], requests }), queue }))).toEqual([
      'request 5',
      '2: 201',
      '2: 202',
      '2: 203'
    ])
    const show = aPlaylist({ id: 4, schedule: [anItem(1200, 1300)] })
    const plan = planQueue(aSituation({ library: aLibrary({ playlists: [list, show] }), queue }))
    expect(plan.withdraw).toEqual([1, 2, 3])
  })

  test('ends when its playlist is disabled', () => {
    const library = aLibrary({
      playlists: [{ ...merged, isEnabled: false }, rotation],
      plays: [aPlayOf(2, 201, noonMs, { pass: 2 })]
    })
    const after = queueAfter(aSituation({ library, queue: batch.slice(1) }))
    expect(after.filter(row => row.startsWith('2:'))).toEqual([])
  })

  test.for<['default' | 'once_per_hour']>([['default'], ['once_per_hour']])(
    'of type %s keeps its other rows where an operator takes out the first',
    ([type]) => {
      const tracks = [201, 202, 203].map(id => aTrack(id, { lastPass: 1 }))
      const list = aPlaylist({ ...merged, tracks, options: ['merge'], type })
      const removed = [
        { playlistId: 2, trackId: 201, pass: 2, startsAtMs: timeOf('12:03'), occurrenceMs: noonMs }
      ]
      const library = aLibrary({ playlists: [list, rotation], removed })
      expect(queueAfter(aSituation({ library, queue: batch.slice(1) })).slice(0, 2)).toEqual([
        '2: 202',
        '2: 203'
      ])
    }
  )

  test('of a very long list is followed by the rest of the list', () => {
    const tracks = Array.from({ length: 620 }, (_, index) => aTrack(2_000 + index, { durationMs: 1_000 }))
    const long = aPlaylist({ id: 2, options: ['merge'], order: 'sequential', tracks })
    const library = aLibrary({ playlists: [long] })
    const first = planQueue(aSituation({ library }))
    expect(first.insert).toHaveLength(500)
    const queue = applyQueuePlan([], first)
    const then = planQueue(aSituation({ library, queue, queueLength: 501, nextSeq: 2_000 }))
    expect(then.insert.map(({ trackId }) => trackId)).toEqual(tracks.slice(500).map(({ id }) => id))
  })
})

describe('a withdrawn row', () => {
  test('returns: a sequence continues with it', () => {
    const sequence = aPlaylist({ id: 1, order: 'sequential', tracks: [101, 102, 103, 104] })
    const library = aLibrary({ playlists: [sequence] })
    const queue = rowsOf([102, 103].map(id => aPlayOf(1, id, 0)))
    const situation = aSituation({ library, queue })
    expect(queueAfter(situation)).toEqual(['1: 101', '1: 102', '1: 103'])
    expect(planQueue(situation).withdraw).toEqual([1, 2])
  })

  test('returns: a shuffled playlist plays it in the same pass', () => {
    const list = aPlaylist({ id: 1, tracks: [101, 102, 103, 104] })
    const queue = rowsOf([101, 102, 103].map(id => aPlayOf(1, id, 0)))
    const situation = aSituation({
      library: aLibrary({ playlists: [list] }),
      queue: queue.slice(1),
      queueLength: 4
    })
    const rows = applyQueuePlan(situation.queue, planQueue(situation))
    const inFirst = rows.filter(({ pass }) => pass === 1).map(({ trackId }) => trackId)
    expect(inFirst.toSorted((a, b) => Number(a) - Number(b))).toEqual([101, 102, 103, 104])
  })

  test('does not let a song follow itself', () => {
    const queue = rowsOf([aPlayOf(1, 101, 0), aPlayOf(1, 102, 0)])
    const library = aLibrary({
      playlists: [rotation],
      plays: [aPlayOf(9, 101, noonMs, { song: aPlay(101, 0).song })]
    })
    const after = queueAfter(aSituation({ library, queue }))
    expect(after[0]).toBe('1: 102')
    expect(after).toHaveLength(3)
  })

  test('is never a manual row', () => {
    const queue = rowsOf([aPlay(1, 0), aPlay(1, 0)], { isManual: true })
    expect(queueAfter(aSituation({ library: aLibrary({ playlists: [] }), queue }))).toEqual([
      'song 1',
      'song 1'
    ])
  })
})
