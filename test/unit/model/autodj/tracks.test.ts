import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  buildTracks,
  forkTracks,
  trackIndex,
  markAired,
  overlapAt,
  replaceTracks,
  songKeysAt
} from '../../../../src/model/autodj/tracks.ts'
import { aTrack, noonMs } from '../../../support/autodj/library.ts'

const rows = fc
  .uniqueArray(
    fc.record({ id: fc.maxSafeNat(), artists: fc.array(fc.nat(), { maxLength: 3 }), title: fc.nat() }),
    { selector: ({ id }) => id }
  )
  .map(list => list.map(({ id, ...parts }) => aTrack(id, { ...parts, song: id })))

test('every track is found by id, with its keys', () => {
  fc.assert(
    fc.property(rows, list => {
      const tracks = buildTracks(list)
      for (const [index, { id, song, title, artists }] of list.entries()) {
        expect(trackIndex(tracks, id)).toBe(index)
        expect(songKeysAt(tracks, index)).toEqual({ song, title, artists })
      }
    })
  )
})

test('a track that is not in the list is not found', () => {
  fc.assert(
    fc.property(rows, fc.maxSafeNat(), (list, id) => {
      fc.pre(!list.some(each => each.id === id))
      expect(trackIndex(buildTracks(list), id)).toBe(-1)
    })
  )
})

test('overlaps are kept when tracks are replaced, and need no memory without any', () => {
  const tracks = buildTracks([aTrack(1), aTrack(2, { overlapMs: 0 }), aTrack(3, { overlapMs: 4_000 })])
  expect([0, 1, 2, 3].map(index => overlapAt(tracks, index))).toEqual([null, 0, 4_000, null])
  const isThird = (index: number) => index === 2
  const replaced = replaceTracks(tracks, isThird, buildTracks([]))
  expect([0, 1].map(index => overlapAt(replaced, index))).toEqual([null, 0])
  expect(replaceTracks(tracks, index => index > 0, buildTracks([])).overlaps).toBeNull()
})

test('plays are marked in the copy only, and never go back', () => {
  const tracks = buildTracks([aTrack(7), aTrack(3), aTrack(5)])
  const fork = forkTracks(tracks)
  markAired(fork, 1, 4, noonMs)
  markAired(fork, 1, 2, noonMs - 1)
  markAired(fork, -1, 9, noonMs)
  expect([...fork.lastPass]).toEqual([0, 4, 0])
  expect([...fork.lastAired]).toEqual([0, noonMs, 0])
  expect([...tracks.lastPass]).toEqual([0, 0, 0])
})
