import { isDeepStrictEqual } from 'node:util'

import { expect, test } from 'vitest'

import { buildExampleStation } from '../../../../src/commands/simulate/example-station.ts'
import { getTimeZone } from '../../../../src/model/autodj/time-zone.ts'
import { monday } from '../../../support/simulated.ts'

const zone = getTimeZone('Europe/Berlin')
const playlistsOf = (seed: number) => buildExampleStation(zone, seed, monday).start.library.playlists
const first = buildExampleStation(zone, 1, monday)

test('it has 5,000 tracks in 12 playlists, with distinct ids', () => {
  const { playlists } = first.start.library
  const ids = playlists.flatMap(({ tracks }) => [...tracks.ids])
  expect(playlists).toHaveLength(12)
  expect(ids).toHaveLength(5_000)
  expect(new Set(ids).size).toBe(5_000)
})

test('the same seed makes the same station, another seed a different one', () => {
  // Much faster than toEqual for columns of 5,000 tracks.
  const { playlists } = first.start.library
  expect(isDeepStrictEqual(playlists, playlistsOf(1))).toBe(true)
  expect(isDeepStrictEqual(playlists, playlistsOf(2))).toBe(false)
})

test('songs have names and plausible lengths; the countdown uses songs of the hits', () => {
  const { start: beginning, songName } = first
  const named = (name: string) => beginning.library.playlists.find(playlist => playlist.name === name)?.tracks
  expect(songName(named('Hits')?.media[0] ?? 0)).toMatch(/^\w+ \w+( feat\. \w+ \w+)? - \w+ \w+$/)
  expect(songName(named('Jingles')?.media[39] ?? 0)).toBe('Jingles 40')
  expect(songName(null)).toBe('')
  expect(named('Countdown')?.songs).toEqual(named('Hits')?.songs.slice(0, 20))
  for (const lengthMs of named('Gold')?.durations ?? []) {
    expect(lengthMs).toBeGreaterThanOrEqual(150_000)
    expect(lengthMs).toBeLessThan(300_000)
  }
})
