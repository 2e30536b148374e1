import { expect, test } from 'vitest'

import { profileListeners } from '../../../../web/dashboard/reports/listener-profile.ts'
import { getZoneClock } from '../../../../web/dashboard/ui/time.ts'

const at = (time: string, total: number, most = total) => ({
  at: Date.parse(time) / 1_000,
  total,
  unique: total,
  most,
  fewest: 0
})

test('points are grouped by day, hour and weekday in the time zone of the station', () => {
  const points = [
    at('2026-11-22T22:30:00Z', 10),
    at('2026-11-22T23:30:00Z', 20, 25),
    at('2026-11-23T00:30:00Z', 5)
  ]
  const { days, hours, weekdays } = profileListeners({ step: 3_600, points }, getZoneClock('Europe/Berlin'))
  expect(days).toEqual([
    { key: '2026-11-22', average: 10, peak: 10 },
    { key: '2026-11-23', average: 12.5, peak: 25 }
  ])
  expect(hours.map(({ key }) => key)).toEqual(Array.from({ length: 24 }, (_, hour) => String(hour)))
  expect([hours[23], hours[0], hours[1], hours[2]].map(hour => hour?.average)).toEqual([10, 20, 5, 0])
  expect(weekdays).toHaveLength(7)
  expect([weekdays[6], weekdays[0]]).toEqual([
    { key: '7', average: 10, peak: 10 },
    { key: '1', average: 12.5, peak: 25 }
  ])
})

test('an hour that clocks repeat is one group', () => {
  const points = [at('2026-10-25T00:30:00Z', 4), at('2026-10-25T01:30:00Z', 8)]
  const { hours } = profileListeners({ step: 3_600, points }, getZoneClock('Europe/Berlin'))
  expect(hours[2]).toEqual({ key: '2', average: 6, peak: 8 })
})
