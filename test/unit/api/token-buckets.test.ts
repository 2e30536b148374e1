import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { openTokenBuckets } from '../../../src/api/core/token-buckets.ts'

/** Buckets with a clock that the test controls. */
function openBuckets(perSecond: number, burst: number) {
  let nowMs = 0
  const buckets = openTokenBuckets(perSecond, burst, () => nowMs)
  return { ...buckets, pass: (ms: number) => void (nowMs += ms) }
}

test('a full bucket allows its burst, then returns the time until the next token', () => {
  const { take, peek, pass } = openBuckets(5, 3)
  expect([take('a'), take('a'), take('a')]).toEqual([0, 0, 0])
  expect([take('a'), peek('a')]).toEqual([1, 1])
  pass(199)
  expect(take('a')).toBe(1)
  pass(1)
  expect([peek('a'), take('a'), take('a')]).toEqual([0, 0, 1])
})

test('a slow bucket returns whole seconds until the next token', () => {
  const { take, pass } = openBuckets(0.4, 1)
  expect([take('a'), take('a')]).toEqual([0, 3])
  pass(600)
  expect(take('a')).toBe(2)
  pass(1_900)
  expect(take('a')).toBe(0)
})

test('names have separate buckets, and peek takes no token', () => {
  const { take, peek } = openBuckets(1, 1)
  expect([peek('a'), peek('a'), take('a'), take('a'), take('b')]).toEqual([0, 0, 0, 1, 0])
})

test('the least recently used bucket is dropped', () => {
  const { take } = openBuckets(0.001, 1)
  take('quiet')
  take('busy')
  for (let index = 0; index < 9_999; index++) {
    take('busy')
    take(`other ${index}`)
  }
  expect(take('busy')).toBeGreaterThan(0)
  expect(take('quiet')).toBe(0)
})

test('in any period at most burst and refill are taken, and a token is available after the returned wait', () => {
  const steps = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 3_000 }), times: fc.nat({ max: 20 }) }))
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }).map(tenths => tenths / 10),
      fc.integer({ min: 1, max: 50 }),
      steps,
      (perSecond, burst, all) => {
        const { take, peek, pass } = openBuckets(perSecond, burst)
        let given = 0
        let passedMs = 0
        for (const { ms, times } of all) {
          pass(ms)
          passedMs += ms
          for (let turn = 0; turn < times; turn++) {
            const announced = peek('a')
            const wait = take('a')
            expect(wait).toBe(announced)
            if (wait === 0) given++
          }
          expect(given).toBeLessThanOrEqual(burst + (passedMs * perSecond) / 1000 + 1e-6)
        }
        const wait = peek('a')
        expect(Number.isInteger(wait)).toBe(true)
        pass(wait * 1000 + 1)
        expect(take('a')).toBe(0)
      }
    )
  )
})
