import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { triggerNames } from '../../../src/model/station/triggers.ts'
import {
  chooseNextDelivery,
  type HookSendState,
  type PendingDelivery
} from '../../../src/webhooks/deliveries/next-delivery.ts'
import type { RetryPolicy } from '../../../src/webhooks/types/hook-type.ts'
import { sized } from '../../support/tier.ts'

const second = 1_000
const nowMs = 1_767_950_000_000

const pending = (id: number, changes: Partial<PendingDelivery> = {}): PendingDelivery => ({
  id,
  triggers: ['song_changed'],
  happenedAtMs: nowMs - 100 * second + id,
  attempts: 0,
  nextAttemptMs: nowMs - 100 * second + id,
  isAgain: false,
  ...changes
})

const hookState = (changes: Partial<HookSendState> = {}): HookSendState => ({
  policy: 'every',
  rateLimitMs: 0,
  lastSentMs: 0,
  pausedUntilMs: 0,
  ...changes
})

describe('the next delivery', () => {
  test('is none if nothing is pending', () => {
    expect(chooseNextDelivery([], hookState(), nowMs)).toEqual({ ended: [], send: null, nextCheckMs: null })
  })

  test('is the oldest event', () => {
    const next = chooseNextDelivery([pending(1), pending(2)], hookState(), nowMs)
    expect(next).toEqual({ ended: [], send: { id: 1, triggers: ['song_changed'] }, nextCheckMs: null })
  })

  test('waits for the first retry of a failed event, and no longer', () => {
    const failed = pending(1, { attempts: 1, nextAttemptMs: nowMs + 5 * second })
    expect(chooseNextDelivery([failed, pending(2)], hookState(), nowMs)).toMatchObject({
      send: null,
      nextCheckMs: nowMs + 5 * second
    })
    const due = { ...failed, nextAttemptMs: nowMs }
    expect(chooseNextDelivery([due, pending(2)], hookState(), nowMs).send?.id).toBe(1)
    const twice = pending(1, { attempts: 2, nextAttemptMs: nowMs + 300 * second })
    expect(chooseNextDelivery([twice, pending(2)], hookState(), nowMs).send?.id).toBe(2)
    expect(chooseNextDelivery([twice], hookState(), nowMs)).toMatchObject({
      send: null,
      nextCheckMs: nowMs + 300 * second
    })
  })

  test('is none while the web hook is paused', () => {
    const paused = hookState({ pausedUntilMs: nowMs + 60 * second })
    expect(chooseNextDelivery([pending(1)], paused, nowMs)).toMatchObject({
      send: null,
      nextCheckMs: nowMs + 60 * second
    })
  })

  test('is the newest of 100,000 within a second', () => {
    const events = Array.from({ length: 100_000 }, (_, index) => pending(index + 1))
    const limited = hookState({ policy: 'newest', rateLimitMs: 60 * second })
    const startedAt = performance.now()
    const { ended, send } = chooseNextDelivery(events, limited, nowMs + 100_000 * second)
    expect(performance.now() - startedAt).toBeLessThan(1_000)
    expect([ended.length, send?.id]).toEqual([99_999, 100_000])
  })

  test('is none within the rate limit, then the newest event with all triggers', () => {
    const limited = hookState({ rateLimitMs: 60 * second, lastSentMs: nowMs - 59 * second })
    const events = [
      pending(1, { triggers: ['song_changed'] }),
      pending(2, { triggers: ['listener_gained'] }),
      pending(3)
    ]
    expect(chooseNextDelivery(events, limited, nowMs)).toEqual({
      ended: [],
      send: null,
      nextCheckMs: nowMs + second
    })
    expect(chooseNextDelivery(events, limited, nowMs + second)).toEqual({
      ended: [
        { id: 1, as: 'merged' },
        { id: 2, as: 'merged' }
      ],
      send: { id: 3, triggers: ['song_changed', 'listener_gained'] },
      nextCheckMs: null
    })
  })

  test('with a limit of a minute and events at 0, 5, 20 and 70 s is at 0, 60 and 120 s', () => {
    const events = [0, 5, 20, 70].map((atS, index) =>
      pending(index, { happenedAtMs: nowMs + atS * second, nextAttemptMs: nowMs + atS * second })
    )
    const sent: [atS: number, id: number][] = []
    const over = new Set<number>()
    let lastSentMs = 0
    for (let atS = 0; atS < 300; atS++) {
      const atMs = nowMs + atS * second
      const waiting = events.filter(({ id, happenedAtMs }) => happenedAtMs <= atMs && !over.has(id))
      const { send, ended } = chooseNextDelivery(
        waiting,
        hookState({ rateLimitMs: 60 * second, lastSentMs }),
        atMs
      )
      for (const { id } of ended) over.add(id)
      if (!send) continue
      over.add(send.id)
      lastSentMs = atMs
      sent.push([atS, send.id])
    }
    expect(sent).toEqual([
      [0, 0],
      [60, 2],
      [120, 3]
    ])
  })

  test('is not a retry if a newer event supersedes it', () => {
    const retry = pending(1, { attempts: 1, nextAttemptMs: nowMs + second })
    const newest = hookState({ policy: 'newest' })
    expect(chooseNextDelivery([retry, pending(2)], newest, nowMs)).toMatchObject({
      ended: [{ id: 1, as: 'superseded' }],
      send: { id: 2 }
    })
    expect(chooseNextDelivery([retry], newest, nowMs)).toMatchObject({
      ended: [],
      nextCheckMs: nowMs + second
    })
  })

  test('is not a retry an hour after an event for people, but the first attempt is made', () => {
    const old = { happenedAtMs: nowMs - 3_600 * second }
    const hour = hookState({ policy: 'hour' })
    expect(chooseNextDelivery([pending(1, { ...old, attempts: 3 })], hour, nowMs)).toEqual({
      ended: [{ id: 1, as: 'expired' }],
      send: null,
      nextCheckMs: null
    })
    expect(chooseNextDelivery([pending(1, old)], hour, nowMs).send?.id).toBe(1)
    expect(
      chooseNextDelivery(
        [pending(1, { ...old, happenedAtMs: old.happenedAtMs + 1, attempts: 3 })],
        hour,
        nowMs
      ).ended
    ).toEqual([])
  })

  test('is a new event before one that an operator sends again', () => {
    const again = pending(1, { isAgain: true })
    expect(chooseNextDelivery([again, pending(2)], hookState(), nowMs).send?.id).toBe(2)
    expect(chooseNextDelivery([again], hookState(), nowMs).send?.id).toBe(1)
  })

  test('waits for nothing and is merged with nothing if an operator sends it again', () => {
    const failed = pending(1, { attempts: 1, nextAttemptMs: nowMs + second })
    const again = pending(2, { isAgain: true })
    const limited = hookState({ rateLimitMs: 60 * second, lastSentMs: nowMs })
    expect(chooseNextDelivery([failed, again, pending(3)], limited, nowMs)).toEqual({
      ended: [],
      send: { id: 2, triggers: ['song_changed'] },
      nextCheckMs: null
    })
  })
})

describe('for any deliveries', () => {
  const anyPending = fc
    .array(
      fc.record({
        happened: fc.integer({ min: -7_200, max: 0 }),
        due: fc.integer({ min: -7_200, max: 7_200 }),
        attempts: fc.integer({ min: 0, max: 4 }),
        isAgain: fc.boolean(),
        raised: fc.uniqueArray(fc.constantFrom(...triggerNames), { minLength: 1, maxLength: 3 })
      }),
      { maxLength: 12 }
    )
    .map(list =>
      list
        .toSorted((a, b) => a.happened - b.happened)
        .map(({ happened, due, attempts, isAgain, raised }, index) => ({
          id: index + 1,
          triggers: raised,
          happenedAtMs: nowMs + happened * second,
          attempts,
          nextAttemptMs: nowMs + (attempts === 0 ? happened : due) * second,
          isAgain
        }))
    )
  const anyState = fc.record({
    policy: fc.constantFrom<RetryPolicy>('every', 'newest', 'hour'),
    rateLimitMs: fc.constantFrom(0, 60 * second),
    lastSentMs: fc.constantFrom(0, nowMs - 30 * second, nowMs - 600 * second),
    pausedUntilMs: fc.constantFrom(0, nowMs - second, nowMs + second)
  })

  test('none is both sent and ended, untried ones are only merged, and no trigger is lost by merging', () => {
    fc.assert(
      fc.property(anyPending, anyState, (waiting, state) => {
        const next = chooseNextDelivery(waiting, state, nowMs)
        const endedIds = next.ended.map(({ id }) => id)
        expect(new Set(endedIds).size).toBe(endedIds.length)
        expect(endedIds).not.toContain(next.send?.id)
        const ended = next.ended.map(({ id, as }) => ({ as, each: waiting.find(other => other.id === id) }))
        for (const { as, each } of ended) {
          expect(each?.isAgain).toBe(false)
          expect(as === 'merged').toBe(each?.attempts === 0)
        }
        const merged = ended.flatMap(({ as, each }) => (as === 'merged' ? (each?.triggers ?? []) : []))
        expect(merged.filter(trigger => !next.send?.triggers.includes(trigger))).toEqual([])
      })
    )
  })

  test('one is sent, or there is a time of the next check at which something is due', () => {
    fc.assert(
      fc.property(anyPending, anyState, (waiting, given) => {
        const next = chooseNextDelivery(waiting, given, nowMs)
        const left = waiting.filter(({ id }) => !next.ended.some(each => each.id === id))
        const isWaiting = left.length > 0 && next.send === null
        expect(next.nextCheckMs !== null).toBe(isWaiting)
        const later = chooseNextDelivery(left, given, next.nextCheckMs ?? nowMs)
        const isDone =
          later.send !== null || later.ended.length > 0 || (later.nextCheckMs ?? 0) > (next.nextCheckMs ?? 0)
        expect(isWaiting ? (next.nextCheckMs ?? 0) > nowMs && isDone : true).toBe(true)
      })
    )
  })

  test('events arrive in order without failures, each by itself or merged into a newer one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 20 }),
        fc.constantFrom(0, 7 * second, 60 * second),
        (offsets, rateLimitMs) => {
          const events = offsets
            .toSorted((a, b) => a - b)
            .map((offset, index) => {
              const atMs = nowMs + offset * second
              return pending(index + 1, { happenedAtMs: atMs, nextAttemptMs: atMs })
            })
          const arrived: number[] = []
          const gaps: number[] = []
          const over = new Set<number>()
          let lastSentMs = 0
          for (let atMs = nowMs; atMs <= nowMs + 300 * second; atMs += 100) {
            const waiting = events.filter(({ id, happenedAtMs }) => happenedAtMs <= atMs && !over.has(id))
            const { send, ended } = chooseNextDelivery(waiting, hookState({ rateLimitMs, lastSentMs }), atMs)
            for (const { id } of ended) over.add(id)
            if (!send) continue
            gaps.push(lastSentMs === 0 ? Infinity : atMs - lastSentMs)
            over.add(send.id)
            lastSentMs = atMs
            arrived.push(send.id)
          }
          expect(arrived).toEqual(arrived.toSorted((a, b) => a - b))
          expect(Math.min(...gaps)).toBeGreaterThanOrEqual(rateLimitMs)
          expect(over.size).toBe(events.length)
          expect(arrived.at(-1)).toBe(events.at(-1)?.id)
        }
      ),
      { numRuns: sized({ quick: 30, deep: 500 }) }
    )
  })
})
