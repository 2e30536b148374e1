import { expect, test } from 'vitest'

import { drawFaults, type Fault, type FaultKind, faultKinds } from '../../chaos/plan.ts'
import { uncoveredMs } from '../../chaos/violation.ts'

function draw(seed: number, count: number, kinds: readonly FaultKind[] = faultKinds): Fault[] {
  const drawn: Fault[] = []
  for (const fault of drawFaults(seed, kinds)) {
    drawn.push(fault)
    if (drawn.length === count) break
  }
  return drawn
}

test('a seed always draws the same faults, and another seed different ones', () => {
  expect(draw(7, 50)).toEqual(draw(7, 50))
  expect(draw(8, 50)).not.toEqual(draw(7, 50))
})

test('every kind is drawn once before any is repeated', () => {
  const drawn = draw(3, 2 * faultKinds.length).map(({ kind }) => kind)
  expect(new Set(drawn.slice(0, faultKinds.length))).toEqual(new Set(faultKinds))
  expect(new Set(drawn.slice(faultKinds.length))).toEqual(new Set(faultKinds))
})

test('the uncovered part of a time span is measured', () => {
  const span = { fromMs: 10, toMs: 20 }
  expect(uncoveredMs(span, [])).toBe(10)
  expect(uncoveredMs(span, [{ fromMs: 0, toMs: Infinity }])).toBe(0)
  expect(
    uncoveredMs(span, [
      { fromMs: 15, toMs: 17 },
      { fromMs: 5, toMs: 12 },
      { fromMs: 11, toMs: 13 },
      { fromMs: 30, toMs: 40 }
    ])
  ).toBe(5)
})
