import { expect, test } from 'vitest'

import { type HourCounts, renderListenerCharts } from '../../../src/api/reports/listener-charts.ts'
import { getTimeZone } from '../../../src/model/autodj/time-zone.ts'

const berlin = getTimeZone('Europe/Berlin')
const hourOf = (time: string) => Date.parse(time) / 3_600_000
const count = (time: string, totals: number, minutes = 60): HourCounts => ({
  hour: hourOf(time),
  minutes,
  totals,
  unique: totals / 60
})

test('the listeners of hours are averaged by day, weekday and hour of the station', () => {
  // Two hours of a Wednesday, with half of the second, and one of the next one.
  const hours = [
    count('2026-07-07T22:00:00Z', 600),
    count('2026-07-07T23:00:00Z', 600, 30),
    count('2026-07-14T22:00:00Z', 1_200)
  ]
  const { daily, day_of_week: week, hourly } = renderListenerCharts('average', berlin, hours)
  expect(daily.metrics[0]?.data).toEqual([
    { x: Date.parse('2026-07-07T22:00:00Z'), y: 13.33 },
    { x: Date.parse('2026-07-14T22:00:00Z'), y: 20 }
  ])
  expect(week.metrics[0]?.data).toEqual([0, 0, 16, 0, 0, 0, 0])
  for (const name of ['all', 'day2'])
    expect(hourly[name]?.metrics[0]?.data).toEqual([15, 20, ...Array.from({ length: 22 }, () => 0)])
  expect(hourly['day3']?.metrics[0]?.data).toEqual(Array.from({ length: 24 }, () => 0))
  expect(renderListenerCharts('unique', berlin, hours).hourly['all']?.metrics[0]?.data.slice(0, 2)).toEqual([
    20, 10
  ])
})

test('the charts of three years are rendered in linear time', () => {
  const first = hourOf('2023-01-01T00:00:00Z')
  const hours = Array.from({ length: 26_280 }, (_, index) => ({
    hour: first + index,
    minutes: 60,
    totals: 60,
    unique: 1
  }))
  const startedMs = performance.now()
  expect(renderListenerCharts('average', berlin, hours).daily.metrics[0]?.data).toHaveLength(1_096)
  // It was ten times as long when each day went through all hours.
  expect(performance.now() - startedMs).toBeLessThan(1_500)
})
