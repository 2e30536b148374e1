import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  defaultStaleAfterMs,
  type FollowState,
  nextStatusChangeMs,
  followStatusAt
} from '../../../web/client/follow-state.ts'
import { followTimerDueAtMs, type FollowInput, applyFollowInput } from '../../../web/client/follow-step.ts'
import type { ServerMessage } from '../../../web/client/message.ts'
import { afterSong, aStation } from '../../support/builders.ts'
import { connectMessage, openDriver, publication, renderDocument } from '../../support/web-client.ts'

const np = renderDocument()
const opened = (transport: string) => ({ type: 'open', connection: expect.any(Number), transport })
const closed = { type: 'close' }

/** A driver that is live over a WebSocket since time 0. */
function live() {
  const driver = openDriver()
  driver.take({ type: 'timer' }, 0)
  driver.receive(connectMessage(), 0)
  driver.receive(publication(np, 7), 0)
  return driver
}

test('transports are tried in order; if all fail, the backoff grows to 15 seconds', () => {
  const driver = openDriver()
  let atMs = 0
  const pauses: number[] = []
  for (let round = 0; round < 7; round++) {
    expect(driver.take({ type: 'timer' }, atMs)).toEqual(opened('websocket'))
    expect(driver.end(atMs)).toEqual(opened('sse'))
    expect(driver.end(atMs)).toEqual(opened('poll'))
    expect(driver.end(atMs)).toEqual(closed)
    pauses.push(followTimerDueAtMs(driver.state) - atMs)
    atMs = followTimerDueAtMs(driver.state)
  }
  expect(pauses).toEqual([2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000])
  expect(followStatusAt(driver.state, atMs)).toEqual({ status: 'offline', reason: 'unreachable' })
})

test('a transport that does not connect within 8 seconds is closed', () => {
  const driver = openDriver()
  driver.take({ type: 'timer' }, 0)
  expect(driver.take({ type: 'timer' }, 7_999)).toBeNull()
  expect(driver.take({ type: 'timer' }, 8_000)).toEqual(opened('sse'))
})

test('a stable transport is tried first after an interruption, and the client keeps its position', () => {
  const driver = openDriver()
  driver.take({ type: 'timer' }, 0)
  driver.end(0)
  driver.receive(connectMessage(), 10)
  driver.receive(publication(np, 7), 10)
  expect(driver.end(15_000)).toEqual(closed)
  expect(driver.take({ type: 'timer' }, followTimerDueAtMs(driver.state))).toEqual(opened('sse'))
  expect(driver.state.document).toMatchObject({ offset: 7, epoch: 'e1' })
})

test('a transport that goes silent or ends early is tried last', () => {
  const silent = live()
  expect(silent.take({ type: 'timer' }, 34_999)).toBeNull()
  expect(silent.take({ type: 'timer' }, 35_000)).toEqual(closed)
  expect(silent.take({ type: 'timer' }, followTimerDueAtMs(silent.state))).toEqual(opened('sse'))
  const broken = live()
  broken.end(4_000)
  expect(broken.take({ type: 'timer' }, followTimerDueAtMs(broken.state))).toEqual(opened('sse'))
})

test('connections that end early increase the backoff', () => {
  const driver = openDriver()
  let atMs = 0
  const pauses: number[] = []
  for (let round = 0; round < 5; round++) {
    driver.take({ type: 'timer' }, atMs)
    driver.receive(connectMessage(), atMs)
    driver.receive(publication(np, round), atMs)
    driver.end(atMs + 100)
    pauses.push(followTimerDueAtMs(driver.state) - atMs - 100)
    atMs = followTimerDueAtMs(driver.state)
  }
  expect(pauses).toEqual([2_000, 4_000, 8_000, 15_000, 15_000])
})

test('a shutdown spreads reconnects over five seconds', () => {
  const driver = live()
  driver.receive({ type: 'disconnect', code: 3001 }, 10_000, 0.5)
  expect(followTimerDueAtMs(driver.state)).toBe(12_500)
  expect(driver.take({ type: 'timer' }, 12_500)).toEqual(opened('websocket'))
})

test('without a network the status becomes stale as without a connection', () => {
  const driver = live()
  expect(driver.take({ type: 'offline' }, 10_000)).toEqual(closed)
  expect([driver.status(14_999), driver.status(15_000)]).toEqual(['live', 'stale'])
  expect(driver.take({ type: 'woken' }, 15_000)).toEqual(opened('websocket'))
  expect(driver.take({ type: 'offline' }, 15_001)).toBeNull()
})

test('a client that was refused does not reconnect', () => {
  const driver = live()
  expect(driver.receive({ type: 'disconnect', code: 3501 }, 10_000)).toEqual(closed)
  expect(followStatusAt(driver.state, 10_000)).toEqual({ status: 'offline', reason: 'refused' })
  expect(followTimerDueAtMs(driver.state)).toBe(Infinity)
  expect(driver.take({ type: 'woken' }, 20_000)).toBeNull()
})

test('messages of a closed connection are ignored', () => {
  const driver = live()
  const { connection } = driver.state
  driver.end(10_000)
  driver.take({ type: 'timer' }, followTimerDueAtMs(driver.state))
  const before = driver.state
  driver.take({ type: 'message', connection, message: publication(np, 99) }, 11_000)
  driver.take({ type: 'ended', connection }, 11_000)
  expect(driver.state).toBe(before)
})

test('deltas are applied to the last publication of the connection', () => {
  const driver = live()
  const patch = { np: { listeners: { total: 3 } }, current_time: 1_783_468_821 }
  driver.receive({ type: 'publication', data: patch, isDelta: true, offset: 8, epoch: null }, 1_000)
  expect(driver.state.document).toEqual({
    np: { ...np, listeners: { ...np.listeners, total: 3 } },
    epoch: 'e1',
    offset: 8
  })
  expect(driver.state.clock.aheadMs).toBe(1_783_468_821_000 - 1_000)
})

test('a delta without a base ends the connection', () => {
  const driver = live()
  driver.end(10_000)
  driver.take({ type: 'timer' }, followTimerDueAtMs(driver.state))
  driver.receive(connectMessage('e1', 7), 11_000)
  const patch: ServerMessage = { type: 'publication', data: {}, isDelta: true, offset: 8, epoch: null }
  expect(driver.receive(patch, 11_000)).toEqual(closed)
  expect(driver.state.document?.offset).toBe(7)
})

test('a publication with stale_since is stale since then, and the connection is kept', () => {
  const driver = live()
  const data = { np, current_time: 100, stale_since: 93 }
  driver.receive({ type: 'publication', data, isDelta: false, offset: 8, epoch: null }, 12_000)
  expect(driver.status(12_000)).toBe('stale')
  expect(driver.state.document?.offset).toBe(8)
  expect(driver.state.confirmedAtMs).toBe(12_000 - 7_000)
  expect(driver.take({ type: 'timer' }, 40_000)).toBeNull()
  driver.receive(publication(np, 9), 41_000)
  expect(driver.status(41_000)).toBe('live')
})

test('a connect frame without publications confirms the document', () => {
  const driver = live()
  driver.end(10_000)
  driver.take({ type: 'timer' }, 11_000)
  expect(driver.status(30_000)).toBe('stale')
  driver.receive(connectMessage('e1', 7), 30_000)
  expect(driver.status(30_000)).toBe('live')
})

test('a lower offset is ignored within an epoch, and accepted in another epoch', () => {
  const driver = live()
  const older = renderDocument(afterSong(aStation(), { title: 'Older' }))
  driver.receive(publication(older, 6, 'e1'), 1_000)
  expect(driver.state.document?.offset).toBe(7)
  driver.receive(publication(older, 1, 'e2'), 1_000)
  expect(driver.state.document).toMatchObject({ np: older, offset: 1, epoch: 'e2' })
})

test('an unknown station is not shown, and is shown once it exists', () => {
  const driver = live()
  driver.receive({ type: 'missing', timeMs: null }, 1_000)
  expect(driver.state.document).toBeNull()
  expect(followStatusAt(driver.state, 1_000)).toEqual({ status: 'offline', reason: 'unknown' })
  // Only pings arrive for it.
  driver.receive({ type: 'ping' }, 55_000)
  expect(driver.take({ type: 'timer' }, 61_000)).toBeNull()
  driver.receive(publication(np, 9), 70_000)
  expect(driver.status(70_000)).toBe('live')
})

test('the status becomes stale without messages and without a connection', () => {
  const silent = live()
  expect(silent.status(34_999)).toBe('live')
  expect(silent.status(35_000)).toBe('stale')
  const alone = live()
  alone.end(10_000)
  expect(alone.status(14_999)).toBe('live')
  expect(alone.status(15_000)).toBe('stale')
  expect(alone.status(299_999)).toBe('stale')
  expect(alone.status(300_000)).toBe('offline')
})

test('pings confirm a state, unless the server has published that it is stale', () => {
  const driver = live()
  driver.receive({ type: 'ping' }, 25_000)
  expect(driver.status(59_999)).toBe('live')
  expect(driver.status(60_000)).toBe('stale')
  const stale = live()
  const data = { np, current_time: 100, stale_since: 93 }
  stale.receive({ type: 'publication', data, isDelta: false, offset: 8, epoch: null }, 12_000)
  stale.receive({ type: 'ping' }, 25_000)
  expect(stale.status(25_000)).toBe('stale')
})

test('a page is live with the document that the server rendered, and stale if no server answers', () => {
  const driver = openDriver({ known: { np, epoch: 'e1', offset: 7, timeMs: 5_000 } })
  expect(driver.status(0)).toBe('live')
  expect(driver.state.clock.aheadMs).toBe(5_000)
  expect(driver.status(5_000)).toBe('stale')
})

test('waking retries at once, and keeps a connection that works', () => {
  const driver = live()
  expect(driver.take({ type: 'woken' }, 10_000)).toBeNull()
  expect(driver.take({ type: 'woken' }, 35_000)).toEqual(opened('websocket'))
  driver.end(35_000)
  driver.end(35_000)
  driver.end(35_000)
  expect(driver.take({ type: 'woken' }, 35_001)).toEqual(opened('websocket'))
})

test('waking asks again for a station that the server did not show', () => {
  const driver = live()
  driver.receive({ type: 'missing', timeMs: null }, 10_000)
  expect(driver.take({ type: 'woken' }, 10_001)).toEqual(opened('websocket'))
})

test('after a clock jump server time is exact at once, or after sleep with the next message', () => {
  const driver = live()
  driver.receive({ type: 'time', timeMs: 50_000 }, 10_000)
  expect(driver.take({ type: 'jumped', byMs: 700 }, 10_700)).toEqual(opened('websocket'))
  expect(driver.state.clock.aheadMs).toBe(40_000 - 700)
  expect(driver.status(10_700)).toBe('live')
  driver.end(10_700)
  driver.end(10_700)
  driver.end(10_700)
  expect(driver.take({ type: 'jumped', byMs: 3_600_000 }, 3_610_700)).toEqual(opened('websocket'))
  expect(driver.status(3_610_700)).not.toBe('live')
  driver.receive({ type: 'connect', epoch: 'e1', upTo: 7, timeMs: 9_000_000 }, 3_610_800)
  expect(driver.state.clock).toEqual({ aheadMs: 9_000_000 - 3_610_800, isSuspect: false })
})

test('after polling is interrupted, push is tried first', () => {
  const driver = openDriver()
  driver.take({ type: 'timer' }, 0)
  driver.end(0)
  driver.end(0)
  driver.receive(publication(np, 7, 'e1'), 0)
  driver.end(60_000)
  expect(driver.take({ type: 'timer' }, followTimerDueAtMs(driver.state))).toEqual(opened('websocket'))
})

const messages = fc.oneof(
  fc
    .record({
      type: fc.constant('publication' as const),
      offset: fc.nat(5),
      epoch: fc.constantFrom('e1', 'e2', null)
    })
    .map(({ offset, epoch }) => publication(np, offset, epoch)),
  fc.nat(5).map(offset => ({ type: 'publication' as const, data: {}, isDelta: true, offset, epoch: null })),
  fc
    .tuple(fc.constantFrom('e1', 'e2'), fc.option(fc.nat(5)))
    .map(([epoch, upTo]) => connectMessage(epoch, upTo)),
  fc.constantFrom<ServerMessage>(
    { type: 'missing', timeMs: 1_000 },
    { type: 'unchanged' },
    { type: 'ping' },
    { type: 'malformed' },
    { type: 'disconnect', code: 3008 }
  )
)

const inputs = fc.record({
  afterMs: fc.oneof(fc.nat(1_000), fc.nat(60_000)),
  random: fc.double({ min: 0, max: 1, noNaN: true }),
  act: fc.oneof(
    { weight: 6, arbitrary: messages.map(message => ({ type: 'message' as const, message })) },
    { weight: 2, arbitrary: fc.constant({ type: 'ended' as const }) },
    { weight: 1, arbitrary: fc.constant({ type: 'woken' as const }) },
    { weight: 1, arbitrary: fc.nat(100_000).map(byMs => ({ type: 'jumped' as const, byMs })) }
  )
})

type Act =
  | { readonly type: 'message'; readonly message: ServerMessage }
  | { readonly type: 'ended' }
  | { readonly type: 'woken' }
  | { readonly type: 'jumped'; readonly byMs: number }

const toInput = (act: Act, { connection }: FollowState): FollowInput =>
  act.type === 'woken' || act.type === 'jumped' ? act : { ...act, connection }

/** The invariants that a step from `before` to `state` violates. */
function findViolations(before: FollowState, state: FollowState, atMs: number): string[] {
  const { status } = followStatusAt(state, atMs)
  const { document: old } = before
  const { document, confirmedAtMs } = state
  const isLive = status === 'live'
  const violations = {
    'live but unconfirmed': isLive && atMs - (confirmedAtMs ?? -Infinity) >= defaultStaleAfterMs,
    'live without a deadline': isLive && nextStatusChangeMs(state, atMs) === Infinity,
    'shown without a document': (isLive || status === 'stale') && document === null,
    'no next action': followTimerDueAtMs(state) > atMs + 60_000,
    'offset went back': old !== null && document?.epoch === old.epoch && document.offset < old.offset
  }
  return Object.entries(violations).flatMap(([name, isViolated]) => (isViolated ? [name] : []))
}

test('for any input: live means confirmed, offsets do not go back, and an action is always due', () => {
  fc.assert(
    fc.property(fc.array(inputs, { maxLength: 60 }), acts => {
      const driver = openDriver()
      let atMs = 0
      const check = (before: FollowState) => expect(findViolations(before, driver.state, atMs)).toEqual([])
      for (const { afterMs, random, act } of acts) {
        // The client sets a timer for each due time.
        const untilMs = atMs + afterMs
        for (
          let dueMs = followTimerDueAtMs(driver.state);
          dueMs <= untilMs;
          dueMs = followTimerDueAtMs(driver.state)
        ) {
          atMs = Math.max(atMs, dueMs)
          const before = driver.state
          driver.take({ type: 'timer' }, atMs, random)
          expect(driver.state).not.toBe(before)
          check(before)
          // Without randomness the backoff is 0, and this loop would not end.
          if (random === 0) break
        }
        atMs = untilMs
        const before = driver.state
        driver.take(toInput(act, before), atMs, random)
        check(before)
      }
    })
  )
})

test('an input that changes nothing returns the same state object', () => {
  const { state } = live()
  for (const input of [{ type: 'timer' }, { type: 'woken' }, { type: 'ended', connection: 99 }] as const)
    expect(applyFollowInput(state, input, 1_000, 1).state).toBe(state)
})
