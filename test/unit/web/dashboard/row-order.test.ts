import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { findDropIndex, moveElement, rebaseMove } from '../../../../web/dashboard/queue/row-order.ts'

test('a dragged row passes another one when its edge passes the middle of that row', () => {
  const heights = [60, 60, 100, 60]
  expect([0, 29, 31, 109, 111, 500].map(dy => findDropIndex(heights, 0, dy))).toEqual([0, 0, 1, 1, 2, 3])
  expect([0, -49, -51, -131, -500].map(dy => findDropIndex(heights, 3, dy))).toEqual([3, 3, 2, 1, 0])
})

test('a row that is not dragged stays, and no row leaves the list', () => {
  const rows = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(rows, fc.nat(), fc.integer({ min: -5_000, max: 5_000 }), (heights, at, dy) => {
      const from = at % heights.length
      expect(findDropIndex(heights, from, 0)).toBe(from)
      const to = findDropIndex(heights, from, dy)
      expect(Math.sign(to - from) * Math.sign(dy)).toBeGreaterThanOrEqual(0)
      const list = heights.map((_, index) => index)
      const moved = moveElement(list, from, to)
      expect(moved[to]).toBe(from)
      expect(moved.filter(each => each !== from)).toEqual(list.filter(each => each !== from))
    })
  )
})

test('a dropped row follows the row that precedes it, whatever was added or removed meanwhile', () => {
  const rows = (ids: string) => ids.split('').map(id => ({ id }))
  expect(rebaseMove(rows('abcd'), 0, 2, rows('abcd'))).toEqual({ from: 0, to: 2 })
  expect(rebaseMove(rows('abcd'), 1, 2, rows('bcdx'))).toEqual({ from: 0, to: 1 })
  expect(rebaseMove(rows('abcd'), 3, 1, rows('bcdx'))).toEqual({ from: 2, to: 0 })
  expect(rebaseMove(rows('abcd'), 3, 0, rows('xbcd'))).toEqual({ from: 3, to: 0 })
  expect(rebaseMove(rows('abcd'), 0, 2, rows('bcdx'))).toBeNull()
})
