import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { defaultStaleAfterMs, nextTurnMs, statusAt } from '../../../web/client/client.ts'
import type { Course } from '../../../web/client/course.ts'
import type { Message } from '../../../web/client/message.ts'
import { dueAtMs } from '../../../web/client/moves.ts'
import { type Input, step } from '../../../web/client/step.ts'
import { afterSong, aStation } from '../../support/builders.ts'
import { connected, documentOf, openCourse, published } from '../../support/web-client.ts'

const np = documentOf()
const opened = (way: string) => [{ type: 'open', connection: expect.any(Number), way }]
const closed = [{ type: 'close' }]

/** A course that is live over a WebSocket since the time 0. */
function live() {
  const course = openCourse()
  course.take({ type: 'timer' }, 0)
  course.hear(connected(), 0)
  course.hear(published(np, 7), 0)
  return course
}

test('ways are tried in their order; when none is open there is a pause that grows up to 15 seconds', () => {
  const course = openCourse()
  let atMs = 0
  const pauses: number[] = []
  for (let round = 0; round < 7; round++) {
    expect(course.take({ type: 'timer' }, atMs)).toEqual(opened('websocket'))
    expect(course.end(atMs)).toEqual(opened('sse'))
    expect(course.end(atMs)).toEqual(opened('poll'))
    expect(course.end(atMs)).toEqual(closed)
    pauses.push(dueAtMs(course.course) - atMs)
    atMs = dueAtMs(course.course)
  }
  expect(pauses).toEqual([2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000])
  expect(statusAt(course.course, atMs)).toEqual({ status: 'offline', reason: 'unreachable' })
})

test('a way that does not answer within 8 seconds is closed', () => {
  const course = openCourse()
  course.take({ type: 'timer' }, 0)
  expect(course.take({ type: 'timer' }, 7_999)).toEqual([])
  expect(course.take({ type: 'timer' }, 8_000)).toEqual(opened('sse'))
})

test('what was open before is tried first again, and where it was, it goes on', () => {
  const course = openCourse()
  course.take({ type: 'timer' }, 0)
  course.end(0)
  course.hear(connected(), 10)
  course.hear(published(np, 7), 10)
  expect(course.end(15_000)).toEqual(closed)
  expect(course.take({ type: 'timer' }, dueAtMs(course.course))).toEqual(opened('sse'))
  expect(course.course.document).toMatchObject({ offset: 7, epoch: 'e1' })
})

test('a way that falls silent, or breaks at once, is tried last', () => {
  const silent = live()
  expect(silent.take({ type: 'timer' }, 19_999)).toEqual([])
  expect(silent.take({ type: 'timer' }, 20_000)).toEqual(closed)
  expect(silent.take({ type: 'timer' }, dueAtMs(silent.course))).toEqual(opened('sse'))
  const broken = live()
  broken.end(4_000)
  expect(broken.take({ type: 'timer' }, dueAtMs(broken.course))).toEqual(opened('sse'))
})

test('who is let in and thrown out at once asks ever less often', () => {
  const course = openCourse()
  let atMs = 0
  const pauses: number[] = []
  for (let round = 0; round < 5; round++) {
    course.take({ type: 'timer' }, atMs)
    course.hear(connected(), atMs)
    course.hear(published(np, round), atMs)
    course.end(atMs + 100)
    pauses.push(dueAtMs(course.course) - atMs - 100)
    atMs = dueAtMs(course.course)
  }
  expect(pauses).toEqual([2_000, 4_000, 8_000, 15_000, 15_000])
})

test('a shutdown spreads the return over five seconds', () => {
  const course = live()
  course.hear({ type: 'dismissed', code: 3001 }, 10_000, 0.5)
  expect(dueAtMs(course.course)).toBe(12_500)
  expect(course.take({ type: 'timer' }, 12_500)).toEqual(opened('websocket'))
})

test('without a network nobody is believed for longer than without a connection', () => {
  const course = live()
  expect(course.take({ type: 'cut' }, 10_000)).toEqual(closed)
  expect([course.status(14_999), course.status(15_000)]).toEqual(['live', 'stale'])
  // Back again, it goes on where it was.
  expect(course.take({ type: 'woken' }, 15_000)).toEqual(opened('websocket'))
  expect(course.take({ type: 'cut' }, 15_001)).toEqual([])
})

test('who is told not to come back does not', () => {
  const course = live()
  expect(course.hear({ type: 'dismissed', code: 3501 }, 10_000)).toEqual(closed)
  expect(statusAt(course.course, 10_000)).toEqual({ status: 'offline', reason: 'refused' })
  expect(dueAtMs(course.course)).toBe(Infinity)
  expect(course.take({ type: 'woken' }, 20_000)).toEqual([])
})

test('what a connection says that was given up is not heard', () => {
  const course = live()
  const { connection } = course.course
  course.end(10_000)
  course.take({ type: 'timer' }, dueAtMs(course.course))
  const before = course.course
  course.take({ type: 'message', connection, message: published(np, 99) }, 11_000)
  course.take({ type: 'ended', connection }, 11_000)
  expect(course.course).toBe(before)
})

test('patches are applied to what this connection sent last', () => {
  const course = live()
  const patch = { np: { listeners: { total: 3 } }, current_time: 1_783_468_821 }
  course.hear({ type: 'published', data: patch, isPatch: true, offset: 8, epoch: null }, 1_000)
  expect(course.course.document).toEqual({
    np: { ...np, listeners: { ...np.listeners, total: 3 } },
    epoch: 'e1',
    offset: 8
  })
  expect(course.course.clock.aheadMs).toBe(1_783_468_821_000 - 1_000)
})

test('a patch without anything to apply it to ends the connection', () => {
  const course = live()
  course.end(10_000)
  course.take({ type: 'timer' }, dueAtMs(course.course))
  course.hear(connected('e1', 7), 11_000)
  const patch: Message = { type: 'published', data: {}, isPatch: true, offset: 8, epoch: null }
  expect(course.hear(patch, 11_000)).toEqual(closed)
  expect(course.course.document?.offset).toBe(7)
})

test('what the server doubts is stale at once, since it was last sure, and is waited for', () => {
  const course = live()
  const data = { np, current_time: 100, stale_since: 93 }
  course.hear({ type: 'published', data, isPatch: false, offset: 8, epoch: null }, 12_000)
  expect(course.status(12_000)).toBe('stale')
  expect(course.course.document?.offset).toBe(8)
  expect(course.course.newsAtMs).toBe(12_000 - 7_000)
  expect(course.take({ type: 'timer' }, 40_000)).toEqual([])
  course.hear(published(np, 9), 41_000)
  expect(course.status(41_000)).toBe('live')
})

test('who is up to date is told so, and it counts as news', () => {
  const course = live()
  course.end(10_000)
  course.take({ type: 'timer' }, 11_000)
  expect(course.status(30_000)).toBe('stale')
  course.hear(connected('e1', 7), 30_000)
  expect(course.status(30_000)).toBe('live')
})

test('a server that is behind is not believed within an epoch; another epoch is', () => {
  const course = live()
  const older = documentOf(afterSong(aStation(), { title: 'Older' }))
  course.hear(published(older, 6, 'e1'), 1_000)
  expect(course.course.document?.offset).toBe(7)
  course.hear(published(older, 1, 'e2'), 1_000)
  expect(course.course.document).toMatchObject({ np: older, offset: 1, epoch: 'e2' })
})

test('a station that is not there is not shown, and appears when it does', () => {
  const course = live()
  course.hear({ type: 'missing', timeMs: null }, 1_000)
  expect(course.course.document).toBeNull()
  expect(statusAt(course.course, 1_000)).toEqual({ status: 'offline', reason: 'unknown' })
  // Pings are all there is to hear of it.
  course.hear({ type: 'pinged' }, 55_000)
  expect(course.take({ type: 'timer' }, 61_000)).toEqual([])
  course.hear(published(np, 9), 70_000)
  expect(course.status(70_000)).toBe('live')
})

test('nothing stays live without news: not in silence, and not alone', () => {
  const silent = live()
  expect(silent.status(19_999)).toBe('live')
  expect(silent.status(20_000)).toBe('stale')
  const alone = live()
  alone.end(10_000)
  expect(alone.status(14_999)).toBe('live')
  expect(alone.status(15_000)).toBe('stale')
  expect(alone.status(299_999)).toBe('stale')
  expect(alone.status(300_000)).toBe('offline')
})

test('a page is live from what the server put into it, and says so when nobody answers', () => {
  const course = openCourse({ known: { np, epoch: 'e1', offset: 7, timeMs: 5_000 } })
  expect(course.status(0)).toBe('live')
  expect(course.course.clock.aheadMs).toBe(5_000)
  expect(course.status(5_000)).toBe('stale')
})

test('waking up tries at once what waits, and leaves alone what works', () => {
  const course = live()
  expect(course.take({ type: 'woken' }, 10_000)).toEqual([])
  expect(course.take({ type: 'woken' }, 20_000)).toEqual(opened('websocket'))
  course.end(20_000)
  course.end(20_000)
  course.end(20_000)
  expect(course.take({ type: 'woken' }, 20_001)).toEqual(opened('websocket'))
})

test('after a jump of the clock the time is true at once if it was set, and as soon as the server tells it after sleep', () => {
  const course = live()
  course.hear({ type: 'timed', timeMs: 50_000 }, 10_000)
  expect(course.take({ type: 'jumped', byMs: 700 }, 10_700)).toEqual(opened('websocket'))
  expect(course.course.clock.aheadMs).toBe(40_000 - 700)
  expect(course.status(10_700)).toBe('live')
  course.end(10_700)
  course.end(10_700)
  course.end(10_700)
  expect(course.take({ type: 'jumped', byMs: 3_600_000 }, 3_610_700)).toEqual(opened('websocket'))
  expect(course.status(3_610_700)).not.toBe('live')
  course.hear({ type: 'connected', epoch: 'e1', upTo: 7, timeMs: 9_000_000 }, 3_610_800)
  expect(course.course.clock).toEqual({ aheadMs: 9_000_000 - 3_610_800, isDoubted: false })
})

test('polling gives way to push at the next interruption', () => {
  const course = openCourse()
  course.take({ type: 'timer' }, 0)
  course.end(0)
  course.end(0)
  course.hear(published(np, 7, 'e1'), 0)
  course.end(60_000)
  expect(course.take({ type: 'timer' }, dueAtMs(course.course))).toEqual(opened('websocket'))
})

const messages = fc.oneof(
  fc
    .record({
      type: fc.constant('published' as const),
      offset: fc.nat(5),
      epoch: fc.constantFrom('e1', 'e2', null)
    })
    .map(({ offset, epoch }) => published(np, offset, epoch)),
  fc.nat(5).map(offset => ({ type: 'published' as const, data: {}, isPatch: true, offset, epoch: null })),
  fc.tuple(fc.constantFrom('e1', 'e2'), fc.option(fc.nat(5))).map(([epoch, upTo]) => connected(epoch, upTo)),
  fc.constantFrom<Message>(
    { type: 'missing', timeMs: 1_000 },
    { type: 'confirmed' },
    { type: 'pinged' },
    { type: 'garbled' },
    { type: 'dismissed', code: 3008 }
  )
)

const inputs = fc.record({
  afterMs: fc.oneof(fc.nat(1_000), fc.nat(60_000)),
  chance: fc.double({ min: 0, max: 1, noNaN: true }),
  act: fc.oneof(
    { weight: 6, arbitrary: messages.map(message => ({ type: 'message' as const, message })) },
    { weight: 2, arbitrary: fc.constant({ type: 'ended' as const }) },
    { weight: 1, arbitrary: fc.constant({ type: 'woken' as const }) },
    { weight: 1, arbitrary: fc.nat(100_000).map(byMs => ({ type: 'jumped' as const, byMs })) }
  )
})

type Act =
  | { readonly type: 'message'; readonly message: Message }
  | { readonly type: 'ended' }
  | { readonly type: 'woken' }
  | { readonly type: 'jumped'; readonly byMs: number }

const inputOf = (act: Act, { connection }: Course): Input =>
  act.type === 'woken' || act.type === 'jumped' ? act : { ...act, connection }

/** What must never be true after a step from `before` to `course`. */
function brokenAt(before: Course, course: Course, atMs: number): string[] {
  const { status } = statusAt(course, atMs)
  const { document: old } = before
  const { document, newsAtMs } = course
  const isLive = status === 'live'
  const faults = {
    'live and old': isLive && atMs - (newsAtMs ?? -Infinity) >= defaultStaleAfterMs,
    'live for ever': isLive && nextTurnMs(course, atMs) === Infinity,
    'nothing to show': (isLive || status === 'stale') && document === null,
    'nothing to come': dueAtMs(course) > atMs + 60_000,
    'gone back': old !== null && document?.epoch === old.epoch && document.offset < old.offset
  }
  return Object.entries(faults).flatMap(([name, isBroken]) => (isBroken ? [name] : []))
}

test('whatever happens: live means fresh, offsets do not go back, and there is always something to come', () => {
  fc.assert(
    fc.property(fc.array(inputs, { maxLength: 60 }), acts => {
      const driven = openCourse()
      let atMs = 0
      const check = (before: Course) => expect(brokenAt(before, driven.course, atMs)).toEqual([])
      for (const { afterMs, chance, act } of acts) {
        // Timers come when they are due, as the driver sees to.
        const untilMs = atMs + afterMs
        for (let dueMs = dueAtMs(driven.course); dueMs <= untilMs; dueMs = dueAtMs(driven.course)) {
          atMs = Math.max(atMs, dueMs)
          const before = driven.course
          driven.take({ type: 'timer' }, atMs, chance)
          expect(driven.course).not.toBe(before)
          check(before)
          // With a chance of nothing a pause is nothing, and a way that fails at once would be tried for
          // ever.
          if (chance === 0) break
        }
        atMs = untilMs
        const before = driven.course
        driven.take(inputOf(act, before), atMs, chance)
        check(before)
      }
    })
  )
})

test('an input that changes nothing gives the same course', () => {
  const { course } = live()
  for (const input of [{ type: 'timer' }, { type: 'woken' }, { type: 'ended', connection: 99 }] as const)
    expect(step(course, input, 1_000, 1).course).toBe(course)
})
