import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  type StepCounts,
  maxSeriesPoints,
  computeSeriesPoints,
  computeSeriesRange
} from '../../../src/api/stations/listener-series.ts'

const minuteMs = 60_000

test.for<[what: string, minutes: number, stepMinutes: number]>([
  ['a day', 1_440, 1],
  ['a day and an hour', 1_500, 1],
  ['two days', 2_880, 2],
  ['a week', 10_080, 10],
  ['a month', 44_640, 30],
  ['a year', 525_600, 360],
  ['ten years', 5_256_000, 3 * 1_440],
  ['nothing', 0, 1]
])('%s (%i minutes) has a step of %i minutes', ([, minutes, stepMinutes]) => {
  expect(computeSeriesRange(0, minutes * minuteMs - 1, null).stepMinutes).toBe(stepMinutes)
})

test('a step that needs too many points is refused with the shortest allowed step', () => {
  const endMs = 3_000 * minuteMs - 1
  expect(() => computeSeriesRange(0, endMs, 60)).toThrow('step must be at least 120')
  expect(computeSeriesRange(0, endMs, 120)).toMatchObject({ stepMinutes: 2 })
})

test('a minute without a change keeps the previous count', () => {
  const points = computeSeriesPoints(
    { firstMinute: 10, lastMinute: 13, stepMinutes: 1 },
    { total: 5, unique: 4 },
    [{ index: 1, total: 7, unique: 6, most: 9, fewest: 5 }]
  )
  expect(points).toEqual([
    { at: 600, total: 5, unique: 4, most: 5, fewest: 5 },
    { at: 660, total: 7, unique: 6, most: 9, fewest: 5 },
    { at: 720, total: 7, unique: 6, most: 7, fewest: 7 },
    { at: 780, total: 7, unique: 6, most: 7, fewest: 7 }
  ])
})

test('a span that ends before it begins has no points', () => {
  expect(computeSeriesPoints(computeSeriesRange(5 * minuteMs, 0, null), { total: 1, unique: 1 }, [])).toEqual(
    []
  )
})

test('points never exceed the limit, and cover the span', () => {
  const second = fc.integer({ min: 0, max: 4_000_000_000 })
  fc.assert(
    fc.property(second, second, (one, other) => {
      const [start, end] = [Math.min(one, other) * 1_000, Math.max(one, other) * 1_000]
      const span = computeSeriesRange(start, end, null)
      const points = computeSeriesPoints(span, { total: 0, unique: 0 }, [])
      expect(points.length).toBeLessThanOrEqual(maxSeriesPoints)
      expect(points[0]?.at).toBe(Math.floor(start / minuteMs) * 60)
      const last = points.at(-1)?.at ?? 0
      expect(last).toBeLessThanOrEqual(end / 1_000)
      expect(last + span.stepMinutes * 60).toBeGreaterThan(Math.floor(end / minuteMs) * 60)
    })
  )
})

test('for any changes a count is within its extremes, and each step begins with the previous count', () => {
  const change = fc.tuple(fc.nat(50), fc.nat(20))
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), fc.nat(20), (totals, first) => {
      // As the engine writes them: the highest and lowest of a minute include its first count.
      const changes = new Map<number, StepCounts>()
      let total = first
      for (const [index, next] of totals.toSorted(([a], [b]) => a - b)) {
        const { most, fewest } = changes.get(index) ?? { most: total, fewest: total }
        changes.set(index, {
          index,
          total: next,
          unique: next,
          most: Math.max(most, next),
          fewest: Math.min(fewest, next)
        })
        total = next
      }
      const span = { firstMinute: 0, lastMinute: 50, stepMinutes: 1 }
      const points = computeSeriesPoints(span, { total: first, unique: first }, [...changes.values()])
      let before = first
      const wrong: unknown[] = []
      for (const point of points) {
        for (const count of [before, point.total])
          if (count > point.most || count < point.fewest) wrong.push({ point, count })
        before = point.total
      }
      expect(wrong).toEqual([])
      expect(before).toBe(total)
    })
  )
})
