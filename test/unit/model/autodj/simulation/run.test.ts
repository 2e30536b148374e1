import { expect, test } from 'vitest'

import { simulateUntil } from '../../../../../src/model/autodj/simulation/run.ts'
import { aLibrary, aPlaylist, at, monday } from '../../../../support/simulated.ts'

const beginning = (...playlists: ReturnType<typeof aPlaylist>[]) => ({
  library: aLibrary(playlists),
  queue: [],
  startedAtMs: monday,
  fromMs: monday,
  queueLength: 3,
  nextSeq: 1
})

test('plays are contiguous up to the end', () => {
  const { plays, fromMs, untilMs } = simulateUntil(beginning(aPlaylist(1)), at(5))
  expect([fromMs, untilMs]).toEqual([monday, at(5)])
  expect(plays).toHaveLength(100)
  expect(plays[0]?.startsAtMs).toBe(monday)
  expect(plays.slice(1).map(each => each.startsAtMs)).toEqual(plays.slice(0, -1).map(each => each.endsAtMs))
})

test('a station without anything to play is one silence', () => {
  expect(simulateUntil(beginning(), at(24)).plays).toEqual([
    { startsAtMs: monday, endsAtMs: at(24), play: null, log: [] }
  ])
})

test('silence before and after a program is one entry each', () => {
  const morning = aPlaylist(1, { schedule: [{ start_time: 600, end_time: 700, days: [1] }] })
  const jingles = aPlaylist(2, {
    type: 'once_per_hour',
    hourMinute: 30,
    schedule: [{ start_time: 600, end_time: 700 }]
  })
  const { plays } = simulateUntil(beginning(morning, jingles), at(24))
  const silences = plays.filter(({ play }) => play === null)
  expect(silences).toHaveLength(2)
  expect(silences[0]).toMatchObject({ startsAtMs: monday, endsAtMs: at(6) })
  expect(silences[1]?.endsAtMs).toBeGreaterThanOrEqual(at(24))
})
