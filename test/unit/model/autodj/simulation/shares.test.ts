import { expect, test } from 'vitest'

import { measureAirtimeShares } from '../../../../../src/model/autodj/simulation/totals.ts'
import { aPlaylist, aRun, aTrack } from '../../../../support/simulated.ts'

const song = (of: number, minutes = 3) => ({ of, minutes })

test('rotations share airtime by weight and the length of their tracks', () => {
  const short = aPlaylist(1, { weight: 4, tracks: [aTrack(1, { durationMs: 120_000 })] })
  const long = aPlaylist(2, {
    weight: 1,
    tracks: [aTrack(2, { durationMs: 360_000 }), aTrack(3, { durationMs: 600_000 })]
  })
  const shares = measureAirtimeShares(aRun([short, long], [song(1, 2), song(2, 6), song(1, 2), song(1, 10)]))
  expect(shares).toMatchObject([
    { name: 'List 1', weight: 4, plays: 3, airtimeMs: 14 * 60_000, expected: 0.5, measured: 0.7 },
    { name: 'List 2', weight: 1, plays: 1, airtimeMs: 6 * 60_000, expected: 0.5, measured: 0.3 }
  ])
})

test('a weight of 0 counts as 3', () => {
  const shares = measureAirtimeShares(
    aRun([aPlaylist(1, { weight: 0 }), aPlaylist(2, { weight: 1 })], [song(1)])
  )
  expect(shares.map(({ weight, expected }) => [weight, expected])).toEqual([
    [3, 0.75],
    [1, 0.25]
  ])
})

test('plays that start during a program, and other types of playlists, do not count', () => {
  const lists = [
    aPlaylist(1),
    aPlaylist(2),
    aPlaylist(3, { schedule: [{ start_time: 3, end_time: 6 }] }),
    aPlaylist(4, { type: 'once_per_x_songs', everySongs: 1 }),
    aPlaylist(5, { isEnabled: false }),
    aPlaylist(6, { options: ['interrupt'] }),
    aPlaylist(7, { source: 'stream' }),
    aPlaylist(8, { tracks: [] })
  ]
  const shares = measureAirtimeShares(aRun(lists, [song(1), song(2), song(1), song(4), song(2)]))
  expect(shares.map(({ playlistId, plays }) => [playlistId, plays])).toEqual([
    [1, 2],
    [2, 1]
  ])
})

test('a single rotation has no shares', () => {
  expect(measureAirtimeShares(aRun([aPlaylist(1)], [song(1)]))).toEqual([])
  expect(measureAirtimeShares(aRun([aPlaylist(1), aPlaylist(2)], []))).toEqual([])
})

test('two points are allowed, more if there are few plays', () => {
  const allowed = (plays: number) => {
    const heard = Array.from({ length: plays }, (_, index) => song(1 + (index % 2), 1))
    return measureAirtimeShares(aRun([aPlaylist(1), aPlaylist(2)], heard))[0]?.allowed
  }
  // Three standard deviations of a fair coin.
  expect(allowed(100)).toBeCloseTo(0.15)
  expect(allowed(10_000)).toBe(0.02)
})
