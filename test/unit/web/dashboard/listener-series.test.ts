import { expect, test } from 'vitest'

import {
  chartDayRange,
  summarizeSeries,
  toChartColumns
} from '../../../../web/dashboard/ui/listener-series.ts'

const point = (at: number, total: number, most = total + 1, fewest = total - 1) => ({
  at,
  total,
  unique: total,
  most,
  fewest
})

test('a count is drawn over the step that it ends, and steps without data are gaps', () => {
  expect(toChartColumns({ points: [point(0, 5), point(60, 7), point(300, 2)], step: 60 })).toEqual([
    [0, 60, 120, 210, 300, 360],
    [5, 5, 7, null, 2, 2]
  ])
  expect(toChartColumns({ points: [], step: 60 })).toEqual([[], []])
})

test('a chart always shows 24 hours', () => {
  expect(chartDayRange({ points: [point(86_400, 1)], step: 60 }, 5)).toEqual([60, 86_460])
  expect(chartDayRange({ points: [], step: 60 }, 86_500)).toEqual([100, 86_500])
})

test('a chart is described in a sentence', () => {
  const points = [point(0, 5, 5, 5), point(300, 9, 12, 9), point(600, 3, 4, 1)]
  expect(summarizeSeries(points, seconds => `${seconds / 60}`)).toBe(
    'Listeners since 0: 3 now, peak 12 at 5, minimum 1 at 10'
  )
  expect(summarizeSeries([], String)).toBe('No listener data yet')
})
