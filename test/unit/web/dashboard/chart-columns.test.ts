import { expect, test } from 'vitest'

import { columnsOf, dayOf } from '../../../../web/dashboard/ui/chart-columns.ts'

const point = (at: number, total: number) => ({ at, total, most: total + 1, fewest: total - 1 })

test('what a point tells is drawn over its own step, and where nobody counted there is a gap', () => {
  expect(columnsOf([point(0, 5), point(60, 7), point(300, 2)], 60)).toEqual([
    [0, 60, 120, 210, 300, 360],
    [5, 5, 7, null, 2, 2]
  ])
  expect(columnsOf([], 60)).toEqual([[], []])
})

test('a chart always shows a whole day', () => {
  expect(dayOf([point(86_400, 1)], 60, 5)).toEqual([60, 86_460])
  expect(dayOf([], 60, 86_500)).toEqual([100, 86_500])
})
