import { assert, double, integer, property } from 'fast-check'
import { expect, test } from 'vitest'

import {
  computeRowWindow,
  listPagesOfRange,
  scrollTopToReveal
} from '../../../../../web/dashboard/media/row-window.ts'

const rowHeight = 44

test('the window contains all visible rows, and not many more', () => {
  const total = integer({ min: 0, max: 200_000 })
  const height = integer({ min: 0, max: 2_000 })
  assert(
    property(total, height, double({ min: 0, max: 1, noNaN: true }), (rows, viewHeight, part) => {
      const scrollTop = part * Math.max(0, rows * rowHeight - viewHeight)
      const { first, end } = computeRowWindow({ scrollTop, height: viewHeight, rowHeight, total: rows })
      expect(first).toBeGreaterThanOrEqual(0)
      expect(end).toBeLessThanOrEqual(rows)
      expect(first).toBeLessThanOrEqual(Math.floor(scrollTop / rowHeight))
      expect(end).toBeGreaterThanOrEqual(Math.min(rows, Math.ceil((scrollTop + viewHeight) / rowHeight)))
      expect(end - first).toBeLessThanOrEqual(Math.ceil(viewHeight / rowHeight) + 26)
    })
  )
})

test('a list that became shorter than the scroll position still shows its end', () => {
  const { first, end } = computeRowWindow({ scrollTop: 1_000_000, height: 440, rowHeight, total: 30 })
  expect(end).toBe(30)
  expect(first).toBeLessThan(30)
})

test('a range needs the pages that it touches', () => {
  expect(listPagesOfRange({ first: 0, end: 0 }, 200)).toEqual([])
  expect(listPagesOfRange({ first: 0, end: 200 }, 200)).toEqual([0])
  expect(listPagesOfRange({ first: 199, end: 201 }, 200)).toEqual([0, 1])
  expect(listPagesOfRange({ first: 400, end: 401 }, 200)).toEqual([2])
})

test('a row is revealed with the least movement', () => {
  const viewport = { scrollTop: 440, height: 440, rowHeight, total: 100 }
  expect(scrollTopToReveal(12, viewport)).toBe(440)
  expect(scrollTopToReveal(3, viewport)).toBe(132)
  expect(scrollTopToReveal(20, viewport)).toBe(484)
})
