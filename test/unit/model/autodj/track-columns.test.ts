import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  buildTrackColumns,
  forkTrackColumns,
  findTrackIndex,
  markTrackAired,
  overlapAt,
  replaceTrackColumns,
  songKeysAt
} from '../../../../src/model/autodj/track-columns.ts'
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
      const tracks = buildTrackColumns(list)
      for (const [index, { id, song, title, artists }] of list.entries()) {
        expect(findTrackIndex(tracks, id)).toBe(index)
        expect(songKeysAt(tracks, index)).toEqual({ song, title, artists })
      }
    })
  )
})

test('a track that is not in the list is not found', () => {
  fc.assert(
    fc.property(rows, fc.maxSafeNat(), (list, id) => {
      fc.pre(!list.some(each => each.id === id))
      expect(findTrackIndex(buildTrackColumns(list), id)).toBe(-1)
    })
  )
})

test('overlaps are kept when tracks are replaced, and need no memory without any', () => {
  const tracks = buildTrackColumns([aTrack(1), aTrack(2, { overlapMs: 0 }), aTrack(3, { overlapMs: 4_000 })])
  expect([0, 1, 2, 3].map(index => overlapAt(tracks, index))).toEqual([null, 0, 4_000, null])
  const isThird = (index: number) => index === 2
  const replaced = replaceTrackColumns(tracks, isThird, buildTrackColumns([]))
  expect([0, 1].map(index => overlapAt(replaced, index))).toEqual([null, 0])
  expect(replaceTrackColumns(tracks, index => index > 0, buildTrackColumns([])).overlaps).toBeNull()
})

test('plays are marked in the copy only, and never go back', () => {
  const tracks = buildTrackColumns([aTrack(7), aTrack(3), aTrack(5)])
  const fork = forkTrackColumns(tracks)
  markTrackAired(fork, 1, 4, noonMs)
  markTrackAired(fork, 1, 2, noonMs - 1)
  markTrackAired(fork, -1, 9, noonMs)
  expect([...fork.lastPass]).toEqual([0, 4, 0])
  expect([...fork.lastAired]).toEqual([0, noonMs, 0])
  expect([...tracks.lastPass]).toEqual([0, 0, 0])
})
