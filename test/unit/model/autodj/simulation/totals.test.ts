import { expect, test } from 'vitest'

import { measureTotals } from '../../../../../src/model/autodj/simulation/totals.ts'
import { aPlaylist, aRun, at } from '../../../../support/simulated.ts'

test('plays, airtime, silence and variety are counted up to the end of the run', () => {
  const playlists = [aPlaylist(1), aPlaylist(2)]
  const track = (id: number) => ({ of: 1, minutes: 10, trackId: id, mediaId: id })
  const run = aRun(playlists, [track(100), track(101), track(100), { of: 0, minutes: 60 }])
  expect(measureTotals({ ...run, untilMs: at(1) })).toEqual({
    plays: 3,
    silences: 1,
    silentMs: 30 * 60_000,
    songsHeard: 2,
    songs: 20,
    playlists: [
      {
        playlistId: 1,
        name: 'List 1',
        plays: 3,
        airtimeMs: 30 * 60_000,
        tracksHeard: 2,
        tracks: 10,
        overruns: 0,
        longestOverrunMs: 0
      },
      {
        playlistId: 2,
        name: 'List 2',
        plays: 0,
        airtimeMs: 0,
        tracksHeard: 0,
        tracks: 10,
        overruns: 0,
        longestOverrunMs: 0
      }
    ]
  })
})

test('a song in two playlists is one song', () => {
  const tracks = aPlaylist(1).tracks
  expect(
    measureTotals(
      aRun(
        [
          { ...aPlaylist(1), tracks },
          { ...aPlaylist(2), tracks }
        ],
        []
      )
    ).songs
  ).toBe(10)
})

test('a play beyond its window is an overrun, up to its end it is not', () => {
  const show = aPlaylist(1, {
    schedule: [
      { start_time: 0, end_time: 100 },
      { start_time: 200, end_time: 300 }
    ]
  })
  const heard = (minutes: number) => ({ of: 1, minutes })
  const { playlists } = measureTotals(aRun([show], [heard(50), heard(25), heard(45), heard(60), heard(9)]))
  expect(playlists).toMatchObject([{ overruns: 1, longestOverrunMs: 15 * 60_000 }])
})
