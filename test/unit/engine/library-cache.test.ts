import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { cacheLibrary, findCachedLibrary, openLibraryCache } from '../../../src/engine/queue/library-cache.ts'
import type { StationLibrary } from '../../../src/engine/queue/packed-library.ts'
import { aPlaylist } from '../../support/autodj/library.ts'

const aLibrary = (tracks: number): StationLibrary => ({
  version: 1,
  playlists: [aPlaylist({ tracks: Array.from({ length: tracks }, (_, index) => index + 1) })],
  past: { plays: [], older: new Map() }
})

/** Bytes of a library with this many tracks. */
function sizeOf(tracks: number): number {
  const libraries = openLibraryCache()
  cacheLibrary(libraries, 1, aLibrary(tracks))
  return libraries.bytes
}

test('the cache never exceeds its limit, except with a single larger library, and has the newest one', () => {
  const uses = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 60 })), {
    maxLength: 40
  })
  const most = sizeOf(50)
  fc.assert(
    fc.property(uses, list => {
      const libraries = openLibraryCache({ bytesAtMost: most, unpackedAtMost: 2 })
      for (const [stationId, tracks] of list) {
        cacheLibrary(libraries, stationId, aLibrary(tracks))
        const sizes = [...libraries.copies.values()].map(({ bytes }) => bytes)
        expect(libraries.bytes).toBe(sizes.reduce((sum, each) => sum + each, 0))
        expect(libraries.bytes <= most || sizes.length === 1).toBe(true)
        expect([...libraries.copies.keys()].at(-1)).toBe(stationId)
      }
    })
  )
})

test('libraries that were not used lately are packed, and found as they were cached', () => {
  const libraries = openLibraryCache({ unpackedAtMost: 2 })
  const cached = [1, 2, 3, 4].map(id => aLibrary(10 * id))
  for (const [index, library] of cached.entries()) cacheLibrary(libraries, index + 1, library)
  expect([...libraries.unpacked]).toEqual([3, 4])
  expect(cached.map((_, index) => findCachedLibrary(libraries, index + 1))).toEqual(cached)
  expect(findCachedLibrary(libraries, 4)).toBe(cached[3])
  expect([...libraries.copies.values()].map(({ content }) => content instanceof Uint8Array)).toEqual([
    true,
    true,
    false,
    false
  ])
})

test('the least recently used library is evicted first', () => {
  const libraries = openLibraryCache({ bytesAtMost: 3 * sizeOf(30) })
  for (const id of [1, 2, 3]) cacheLibrary(libraries, id, aLibrary(30))
  cacheLibrary(libraries, 1, aLibrary(30))
  cacheLibrary(libraries, 4, aLibrary(30))
  expect([...libraries.copies.keys()]).toEqual([3, 1, 4])
})
