import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { PastPlay } from '../../../src/engine/queue/library-past.ts'
import { packLibrary, unpackLibrary } from '../../../src/engine/queue/packed-library.ts'
import { libraryOf, stationSpecs } from '../../support/autodj/days.ts'

const key = fc.nat({ max: 2 ** 52 })
const id = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const nullable = fc.option(id)

const confirmed: fc.Arbitrary<PastPlay> = fc.record({
  stationId: id,
  id,
  playlistId: nullable,
  trackId: nullable,
  mediaId: nullable,
  pass: fc.nat(),
  requestId: nullable,
  occurrenceMs: nullable,
  isVisible: fc.boolean(),
  isInterrupt: fc.boolean(),
  startsAtMs: id,
  durationMs: fc.nat(),
  song: fc.record({ song: key, title: key, artists: fc.array(key, { maxLength: 4 }) })
})
const provisional = confirmed.map((play): PastPlay => ({ ...play, isProvisional: true }))
const plays: fc.Arbitrary<PastPlay[]> = fc.array(fc.oneof(confirmed, provisional))

const older = fc
  .array(fc.tuple(id, fc.record({ startsAtMs: id, visibleAfter: fc.nat() })))
  .map(list => new Map(list))

test('a library is the same after it was packed', () => {
  fc.assert(
    fc.property(stationSpecs(), plays, older, id, (spec, played, last, version) => {
      const library = { version, playlists: libraryOf(spec).playlists, past: { plays: played, older: last } }
      expect(unpackLibrary(packLibrary(library))).toEqual(library)
    })
  )
})
