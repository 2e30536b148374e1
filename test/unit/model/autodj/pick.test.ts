import { describe, expect, test } from 'vitest'

import type { SlotDecision } from '../../../../src/model/autodj/candidates.ts'
import type { AutodjLibrary, QueueSlot } from '../../../../src/model/autodj/library.ts'
import { pickForSlot } from '../../../../src/model/autodj/pick.ts'
import { createSeededRandom } from '../../../../src/model/autodj/random.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aPlayOf,
  aRequest,
  aSlot,
  aTrack,
  minuteMs,
  noonMs,
  type PlaylistParts,
  timeOf
} from '../../../support/autodj/library.ts'
import { sized } from '../../../support/tier.ts'

const pickIn = (library: AutodjLibrary, parts: Partial<QueueSlot> = {}, seed = 1): SlotDecision | null =>
  pickForSlot(aSlot(library, parts.atMs ?? noonMs, parts), createSeededRandom(seed, 1))

/** The picked playlist and track. */
function picked(library: AutodjLibrary, parts: Partial<QueueSlot> = {}, seed = 1): string {
  const track = pickIn(library, parts, seed)?.tracks[0]
  return track ? `${track.playlistId}: ${track.trackId}` : 'nothing'
}

const seeds = Array.from({ length: 30 }, (_, seed) => seed)
const lastWas = (number: number) => ({ rowsBefore: [aPlay(number, noonMs - 3 * minuteMs)] })
const allDay = [anItem(0, 0, { id: 1 }), anItem(15, 0, { id: 2 })]

describe('what is picked first', () => {
  const kinds: PlaylistParts[] = [
    { type: 'once_per_hour', hourMinute: 0 },
    { type: 'once_per_x_songs', everySongs: 1 },
    { type: 'once_per_x_minutes', everyMinutes: 1 },
    { type: 'default' }
  ]
  const inOrder = kinds.flatMap(parts => [{ ...parts, schedule: allDay }, parts])

  test('depends on type, and playlists with a schedule come first', () => {
    const playlists = inOrder.map((parts, index) => aPlaylist({ id: index + 1, ...parts }))
    for (let first = 0; first < playlists.length; first++)
      for (const seed of seeds) {
        const left = playlists.slice(first).toReversed()
        expect(pickIn(aLibrary({ playlists: left }), {}, seed)?.tracks[0].playlistId).toBe(first + 1)
      }
  })

  test('is a request that is due', () => {
    const playlists = inOrder.map((parts, index) => aPlaylist({ id: index + 1, ...parts }))
    const decision = pickIn(aLibrary({ playlists, requests: [aRequest(5)] }))
    expect(decision?.tracks).toHaveLength(1)
    expect(decision?.tracks[0]).toMatchObject({
      playlistId: null,
      trackId: null,
      requestId: 5,
      mediaId: 5,
      isVisible: true
    })
  })

  test('is never a playlist that interrupts', () => {
    const playlists = [aPlaylist({ options: ['interrupt'], schedule: allDay })]
    expect(picked(aLibrary({ playlists }))).toBe('nothing')
  })

  test('is null if nothing may play', () => {
    expect(picked(aLibrary({ playlists: [] }))).toBe('nothing')
    const silent = [{ isEnabled: false }, { tracks: [] }, { type: 'custom' as const }]
    expect(picked(aLibrary({ playlists: silent.map((parts, id) => aPlaylist({ id, ...parts })) }))).toBe(
      'nothing'
    )
  })
})

describe('the previous song', () => {
  test('does not follow itself, even from another playlist', () => {
    for (const seed of seeds) {
      const list = aLibrary({ playlists: [aPlaylist({ tracks: [101, 102] })] })
      expect(picked(list, lastWas(101), seed)).toBe('1: 102')
      const two = aLibrary({
        playlists: [aPlaylist({ id: 1, tracks: [101] }), aPlaylist({ id: 2, tracks: [201] })]
      })
      expect(picked(two, lastWas(101), seed)).toBe('2: 201')
    }
  })

  test('does not follow itself while a playlist of lower rank has another song', () => {
    const show = aPlaylist({ id: 1, tracks: [101], schedule: allDay })
    const playlists = [show, aPlaylist({ id: 2, tracks: [201] })]
    expect(picked(aLibrary({ playlists }))).toBe('1: 101')
    expect(picked(aLibrary({ playlists }), lastWas(101))).toBe('2: 201')
  })

  test('is repeated if nothing else is left', () => {
    expect(picked(aLibrary({ playlists: [aPlaylist({ tracks: [101] })] }), lastWas(101))).toBe('1: 101')
    const merged = aPlaylist({ tracks: [101], options: ['merge'] })
    expect(picked(aLibrary({ playlists: [merged] }), lastWas(101))).toBe('1: 101')
    const sequence = aPlaylist({ tracks: [101], order: 'sequential' })
    expect(picked(aLibrary({ playlists: [sequence] }), lastWas(101))).toBe('1: 101')
  })

  test('is repeated from the playlist of the highest rank', () => {
    const one = (id: number, parts: PlaylistParts) =>
      aPlaylist({ id, tracks: [aTrack(id * 100, { song: 101 })], ...parts })
    const playlists = [one(1, {}), one(2, { schedule: allDay })]
    expect(picked(aLibrary({ playlists }), lastWas(101))).toBe('2: 200')
  })

  test('may follow itself in a sequence that contains it twice', () => {
    const twice = [aTrack(101, { song: 7 }), aTrack(102, { song: 7 }), aTrack(103)]
    const ahead = [aPlayOf(1, 101, noonMs, { song: { song: 7, title: 1, artists: [] } })]
    const sequence = aPlaylist({ id: 1, tracks: twice, order: 'sequential' })
    const other = aPlaylist({ id: 2 })
    for (const seed of seeds) {
      const first = pickIn(
        aLibrary({ playlists: [sequence, { ...other, weight: 1e-9 }] }),
        { rowsBefore: ahead },
        seed
      )
      expect(first?.tracks[0].trackId).toBe(102)
      const shuffled = { ...sequence, order: 'shuffle' as const }
      expect(picked(aLibrary({ playlists: [shuffled] }), { rowsBefore: ahead }, seed)).toBe('1: 103')
    }
  })

  test('from another playlist is skipped by a sequence, which waits for the next slot', () => {
    const playlists = [aPlaylist({ id: 1, tracks: [101, 102], order: 'sequential' }), aPlaylist({ id: 2 })]
    for (const seed of seeds) expect(picked(aLibrary({ playlists }), lastWas(101), seed)).toMatch(/^2: /)
  })
})

describe('a track that was just removed', () => {
  test('is not chosen again', () => {
    const library = aLibrary({ playlists: [aPlaylist({ tracks: [101, 102] })] })
    for (const seed of seeds) expect(picked(library, { rejected: new Set([101]) }, seed)).toBe('1: 102')
  })

  test('is chosen again if nothing else is left', () => {
    const library = aLibrary({ playlists: [aPlaylist({ tracks: [101] })] })
    expect(picked(library, { rejected: new Set([101]) })).toBe('1: 101')
  })
})

describe('weights', () => {
  /** How often each playlist is picked. */
  function counts(weights: readonly number[], parts: PlaylistParts, slots: number): number[] {
    const playlists = weights.map((weight, index) =>
      aPlaylist({ id: index, weight, tracks: [index], ...parts })
    )
    const slot = aSlot(aLibrary({ playlists }))
    const found = weights.map(() => 0)
    for (let seq = 0; seq < slots; seq++) {
      const id = pickForSlot(slot, createSeededRandom(42, seq))?.tracks[0].playlistId ?? 0
      found[id] = (found[id] ?? 0) + 1
    }
    return found
  }

  test.for<[kind: string, parts: PlaylistParts]>([
    ['rotation', {}],
    ['hourly playlists', { type: 'once_per_hour', hourMinute: 0 }]
  ])('share the choices among %s', ([, parts]) => {
    const slots = sized({ quick: 1_000, deep: 20_000 })
    const weights = [3, 5, 2]
    const chiSquare = counts(weights, parts, slots).reduce((sum, count, index) => {
      const expected = (slots * (weights[index] ?? 0)) / 10
      return sum + (count - expected) ** 2 / expected
    }, 0)
    // Two degrees of freedom, p = 0.001.
    expect(chiSquare).toBeLessThan(13.816)
  })

  test('of 0 mean 3', () => {
    expect(counts([0, 3], {}, 300)).toEqual(counts([3, 3], {}, 300))
  })
})

describe('a stream without a schedule', () => {
  const stream = (parts: PlaylistParts = {}) =>
    aPlaylist({ id: 9, source: 'stream', tracks: [901], ...parts })

  test('plays for ten minutes if nothing else may', () => {
    const decision = pickIn(aLibrary({ playlists: [stream(), aPlaylist({ isEnabled: false })] }))
    expect(decision?.tracks[0]).toMatchObject({ playlistId: 9, durationMs: 10 * minuteMs })
    expect(picked(aLibrary({ playlists: [stream(), aPlaylist()] }))).toMatch(/^1: /)
    expect(picked(aLibrary({ playlists: [stream(), aPlaylist({ tracks: [101] })] }), lastWas(101))).toBe(
      '1: 101'
    )
  })

  test('with a schedule plays to the end of its window', () => {
    const playlists = [stream({ schedule: [anItem(1100, 1330)] }), aPlaylist()]
    const decision = pickIn(aLibrary({ playlists }), { atMs: timeOf('12:10') })
    expect(decision?.tracks[0]).toMatchObject({ playlistId: 9, durationMs: 80 * minuteMs })
  })
})
