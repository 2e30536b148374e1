import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { airtimeMs } from '../../../src/autodj/estimate.ts'
import type { Playlist, Track } from '../../../src/autodj/library.ts'
import { type QueuedRow, refill, type Situation } from '../../../src/autodj/refill.ts'

const tracks = (count: number, pass = 1): Track[] =>
  Array.from({ length: count }, (_, index) => ({
    trackId: index + 1,
    mediaId: index + 1,
    pass,
    songId: `song-${index + 1}`,
    durationMs: 60_000 + index
  }))

const rotation = (hand: Track[]): Playlist => ({ id: 1, name: 'Rotation', weight: 3, isJingle: false, hand })

const aSituation = (parts: Partial<Situation> = {}): Situation => ({
  library: [rotation(tracks(10))],
  running: { startedAtMs: 900_000, endsAtMs: 1_100_000 },
  songOnAir: 'on-air',
  queue: [],
  queueLength: 3,
  rejected: new Set(),
  seed: 7,
  nextSeq: 1,
  ...parts
})

const queued = (durationMs: number, parts: Partial<QueuedRow> = {}): QueuedRow => ({
  id: 1,
  songId: 'queued',
  trackId: null,
  pass: 0,
  durationMs,
  cuedAtMs: 0,
  playsAtMs: 0,
  ...parts
})

test('expected times follow from the end of the current track', () => {
  const queue = [queued(180_000), queued(4_000, { id: 2 }), queued(240_000, { id: 3 })]
  expect(refill(aSituation({ queue })).retime).toEqual([
    { id: 1, cuedAtMs: 900_000, playsAtMs: 1_100_000 },
    { id: 2, cuedAtMs: 1_100_000, playsAtMs: 1_280_000 },
    { id: 3, cuedAtMs: 1_280_000, playsAtMs: 1_284_000 }
  ])
})

test('a length that is not known counts as three minutes', () => {
  const { insert } = refill(aSituation({ queue: [queued(0)], queueLength: 2 }))
  expect(insert[0]?.playsAtMs).toBe(1_100_000 + 180_000)
})

test('rows whose times are right are left alone', () => {
  const queue = [queued(60_000, { cuedAtMs: 900_000, playsAtMs: 1_100_000 })]
  expect(refill(aSituation({ queue })).retime).toEqual([])
})

test('no row is added that would start more than six hours ahead', () => {
  const long = tracks(10).map(track => ({ ...track, durationMs: 4 * 3_600_000 }))
  expect(refill(aSituation({ library: [rotation(long)], queueLength: 25 })).insert).toHaveLength(2)
})

const situations = fc
  .record({
    playlists: fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 100 })), {
      maxLength: 4
    }),
    queueLength: fc.integer({ min: 2, max: 25 }),
    seed: fc.nat(),
    nextSeq: fc.nat({ max: 1_000_000 })
  })
  .map(({ playlists, ...rest }) =>
    aSituation({
      ...rest,
      library: playlists.map(([count, weight], id) => ({
        ...rotation(
          tracks(count).map(track => ({
            ...track,
            trackId: track.trackId + id * 100,
            songId: `song-${track.trackId + id * 100}`
          }))
        ),
        id,
        weight
      }))
    })
  )

test('a plan computed twice is the same plan', () => {
  fc.assert(
    fc.property(situations, situation => {
      expect(refill(situation)).toEqual(refill(situation))
    })
  )
})

test('a queue is filled to its length whenever there is a track at all', () => {
  fc.assert(
    fc.property(situations, situation => {
      const hasTracks = situation.library.some(playlist => playlist.hand.length > 0)
      expect(refill(situation).insert).toHaveLength(hasTracks ? situation.queueLength : 0)
    })
  )
})

test('rows follow each other without gap or overlap, in the order of their slots', () => {
  fc.assert(
    fc.property(situations, situation => {
      let expectedMs = situation.running.endsAtMs
      for (const [index, row] of refill(situation).insert.entries()) {
        expect(row.seq).toBe(situation.nextSeq + index)
        expect(row.playsAtMs).toBe(expectedMs)
        expectedMs += airtimeMs(row.track.durationMs)
      }
    })
  )
})

test('no track is queued twice while another one has not been', () => {
  fc.assert(
    fc.property(situations, situation => {
      const chosen = refill(situation).insert.map(row => row.track.trackId)
      const available = situation.library.flatMap(playlist => playlist.hand).length
      expect(new Set(chosen).size).toBe(Math.min(chosen.length, available))
    })
  )
})
