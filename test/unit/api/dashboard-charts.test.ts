import { expect, test } from 'vitest'

import { renderDashboardCharts } from '../../../src/api/dashboard/charts.ts'

const stations = [
  { id: 1, name: 'One' },
  { id: 2, name: 'Two' },
  { id: 3, name: 'Silent' }
]
const rows = [
  { stationId: 1, day: 20_000, average: 1.234_56, unique: 3 },
  { stationId: 1, day: 20_001, average: 2, unique: 4 },
  { stationId: 2, day: 20_001, average: 0.5, unique: 1 }
]

test('charts have a series for each station with counts, and the sum of all', () => {
  const { average, unique } = renderDashboardCharts(stations, rows, true)
  expect(average.metrics.map(({ label, data }) => [label, data])).toEqual([
    [
      'All Stations',
      [
        { x: 1_728_000_000_000, y: 1.23 },
        { x: 1_728_086_400_000, y: 2.5 }
      ]
    ],
    [
      'One',
      [
        { x: 1_728_000_000_000, y: 1.23 },
        { x: 1_728_086_400_000, y: 2 }
      ]
    ],
    ['Two', [{ x: 1_728_086_400_000, y: 0.5 }]]
  ])
  expect(unique.alt.at(-1)).toEqual({
    label: 'Two',
    values: [{ label: '2024-10-05', type: 'time', original: 1_728_086_400_000, value: '1 Listeners' }]
  })
})

test('without the permission for all stations there is no sum', () => {
  expect(renderDashboardCharts(stations, rows, false).average.metrics.map(({ label }) => label)).toEqual([
    'One',
    'Two'
  ])
})
