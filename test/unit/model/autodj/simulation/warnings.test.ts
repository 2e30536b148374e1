import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { Playlist } from '../../../../../src/model/autodj/library.ts'
import { simulateUntil } from '../../../../../src/model/autodj/simulation/run.ts'
import { findScheduleWarnings } from '../../../../../src/model/autodj/simulation/warnings.ts'
import { aLibrary, aPlaylist, aTrack, at, monday } from '../../../../support/simulated.ts'
import { sized } from '../../../../support/tier.ts'

function warn(
  playlists: readonly Playlist[],
  { hours = 8, hasAutodj = true, notLoaded = [] as number[] } = {}
) {
  const active = playlists.filter(({ isEnabled, type }) => isEnabled && type !== 'custom')
  const start = {
    library: aLibrary(active),
    queue: [],
    startedAtMs: monday,
    fromMs: monday,
    queueLength: 3,
    nextSeq: 1
  }
  const run = simulateUntil(start, at(hours))
  return { run, warnings: findScheduleWarnings({ playlists, run, hasAutodj, notLoaded: new Set(notLoaded) }) }
}

const codesOf = (...playlists: Playlist[]) =>
  warn([aPlaylist(1), ...playlists]).warnings.map(({ playlistId, code }) => [playlistId, code])

test('a rotation with songs has no warning', () => {
  expect(codesOf()).toEqual([])
})

test.for<[string, Playlist]>([
  ['disabled', aPlaylist(2, { isEnabled: false })],
  ['manual_only', aPlaylist(2, { type: 'custom' })],
  ['no_songs', aPlaylist(2, { tracks: [] })],
  ['no_interval', aPlaylist(2, { type: 'once_per_x_songs', everySongs: 0 })],
  ['no_interval', aPlaylist(2, { type: 'once_per_x_minutes', everyMinutes: 0 })],
  ['interrupt_never_due', aPlaylist(2, { options: ['interrupt'] })],
  ['dates_past', aPlaylist(2, { schedule: [{ start_time: 600, end_time: 700, end_date: '2026-01-11' }] })],
  [
    'never_active',
    aPlaylist(2, {
      schedule: [
        { start_time: 600, end_time: 700, days: [3], start_date: '2026-01-12', end_date: '2026-01-13' }
      ]
    })
  ],
  ['not_active_yet', aPlaylist(2, { schedule: [{ start_time: 600, end_time: 700, days: [4] }] })],
  [
    'hour_outside_schedule',
    aPlaylist(2, {
      type: 'once_per_hour',
      hourMinute: 45,
      schedule: [{ start_time: 600, end_time: 630 }]
    })
  ],
  [
    'shorter_than_songs',
    aPlaylist(2, {
      tracks: [aTrack(900, { durationMs: 3_600_000 }), aTrack(901, { durationMs: 3_000_000 })],
      schedule: [{ start_time: 600, end_time: 630 }]
    })
  ],
  ['option_without_schedule', aPlaylist(2, { options: ['single_track'] })]
])('%s', ([code, playlist]) => {
  expect(codesOf(playlist)).toEqual([[2, code]])
})

test('a playlist whose time others take names them', () => {
  const all = aPlaylist(2, {
    name: 'All day',
    schedule: [
      { start_time: 0, end_time: 2_359 },
      { start_time: 2_359, end_time: 0 }
    ]
  })
  const { warnings } = warn([aPlaylist(1), all])
  expect(warnings).toEqual([
    {
      playlistId: 1,
      code: 'overlapped',
      isNeverPlayed: true,
      message: 'It does not play in this period: All day took its time.'
    }
  ])
})

test('a station without music, or without an AutoDJ, has a warning of its own', () => {
  const own = (...args: Parameters<typeof warn>) =>
    warn(...args)
      .warnings.filter(({ playlistId }) => playlistId === null)
      .map(({ code }) => code)
  expect(own([aPlaylist(1)], { hasAutodj: false })).toEqual(['autodj_off'])
  expect(own([])).toEqual(['nothing_to_play'])
  expect(own([aPlaylist(1, { isEnabled: false })])).toEqual(['nothing_to_play'])
  expect(own([aPlaylist(1, { isJingle: true })])).toEqual(['only_jingles'])
})

test('songs that are not known yet are not reported as missing', () => {
  const playlists = [aPlaylist(1), aPlaylist(2, { tracks: [] })]
  expect(warn(playlists, { notLoaded: [2] }).warnings.map(({ code }) => code)).toEqual(['not_loaded'])
})

const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 15, 30, 45))
  .map(([h, m]) => h * 100 + m)
const anyPlaylist = fc.record({
  type: fc.constantFrom('default', 'once_per_x_songs', 'once_per_x_minutes', 'once_per_hour', 'custom'),
  isEnabled: fc.boolean(),
  everySongs: fc.integer({ min: 0, max: 4 }),
  everyMinutes: fc.constantFrom(0, 20, 60),
  hourMinute: fc.constantFrom(0, 15, 50),
  options: fc.subarray(['interrupt', 'single_track', 'loop_once'] as const),
  schedule: fc.array(
    fc.record({ start_time: time, end_time: time, days: fc.subarray([1, 2, 3, 4, 5, 6, 7]) }),
    { maxLength: 2 }
  ),
  songs: fc.integer({ min: 0, max: 3 })
})

test('a playlist that plays has no warning that it does not, and each has at most one', () => {
  fc.assert(
    fc.property(fc.array(anyPlaylist, { minLength: 1, maxLength: 4 }), settings => {
      const playlists = settings.map(({ songs, ...each }, index) =>
        aPlaylist(index + 1, {
          ...each,
          tracks: Array.from({ length: songs }, (_, song) => aTrack((index + 1) * 100 + song))
        })
      )
      const { run, warnings } = warn(playlists, { hours: 8 })
      const played = new Set(run.plays.map(({ play }) => play?.playlistId))
      const own = warnings.filter(({ playlistId }) => playlistId !== null)
      expect(own.filter(each => each.isNeverPlayed && played.has(each.playlistId))).toEqual([])
      expect(new Set(own.map(({ playlistId }) => playlistId)).size).toBe(own.length)
    }),
    { numRuns: sized({ quick: 25, deep: 1_000 }) }
  )
})
