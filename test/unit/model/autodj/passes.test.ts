import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { PlayOrRow, QueueSlot } from '../../../../src/model/autodj/library.ts'
import { pickForSlot } from '../../../../src/model/autodj/pick.ts'
import { createSeededRandom } from '../../../../src/model/autodj/random.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aPlayOf,
  aSlot,
  aTrack,
  minuteMs,
  noonMs,
  type PlaylistParts,
  timeOf
} from '../../../support/autodj/library.ts'
import { aStation } from '../../../support/autodj/station.ts'
import { sized } from '../../../support/tier.ts'

/** The tracks and passes that a playlist plays in a number of slots, three minutes apart. */
function played(playlist: PlaylistParts, slots: number, parts: Partial<QueueSlot> = {}, seed = 7): string[] {
  const rules = { duplicateRangeMs: 0, seed }
  const library = aLibrary({ playlists: [aPlaylist({ id: 1, ...playlist })], rules })
  const rowsBefore: PlayOrRow[] = [...(parts.rowsBefore ?? [])]
  for (let slot = 0; slot < slots; slot++) {
    const atMs = (parts.atMs ?? noonMs) + slot * 3 * minuteMs
    const track = pickForSlot(aSlot(library, atMs, { ...parts, rowsBefore }), createSeededRandom(seed, slot))
      ?.tracks[0]
    if (track) rowsBefore.push({ ...track, startsAtMs: atMs })
  }
  return rowsBefore.slice(parts.rowsBefore?.length ?? 0).map(({ trackId, pass }) => `${trackId} in ${pass}`)
}

const consumed = (id: number, lastPass: number) => aTrack(id, { lastPass })

describe('a sequential playlist', () => {
  const sequence: PlaylistParts = { order: 'sequential', tracks: [101, 102, 103] }

  test('plays from the first track to the last, and again', () => {
    expect(played(sequence, 5)).toEqual(['101 in 1', '102 in 1', '103 in 1', '101 in 2', '102 in 2'])
  })

  test('continues where it stopped', () => {
    const tracks = [consumed(101, 4), consumed(102, 4), consumed(103, 3)]
    expect(played({ ...sequence, tracks, pass: 4 }, 3)).toEqual(['103 in 4', '101 in 5', '102 in 5'])
  })

  test('may repeat an artist or a recent song', () => {
    const tracks = [101, 102, 103].map(id => aTrack(id, { artists: [1], title: 1 }))
    expect(played({ ...sequence, tracks, avoidsDuplicates: true }, 3)).toEqual([
      '101 in 1',
      '102 in 1',
      '103 in 1'
    ])
  })

  test('starts a new pass if set', () => {
    const tracks = [consumed(101, 4), consumed(102, 4), consumed(103, 3)]
    expect(played({ ...sequence, tracks, pass: 5 }, 2)).toEqual(['101 in 5', '102 in 5'])
  })

  test('plays a new track at its end in the current pass', () => {
    const tracks = [consumed(101, 4), consumed(102, 4), consumed(103, 3), aTrack(104)]
    expect(played({ ...sequence, tracks, pass: 4 }, 3)).toEqual(['103 in 4', '104 in 4', '101 in 5'])
  })
})

describe('a shuffled playlist', () => {
  const shuffled: PlaylistParts = { tracks: [101, 102, 103, 104, 105, 106] }
  const tracksIn = (plays: readonly string[]) => plays.map(play => play.slice(0, 3))

  test('plays every track once per pass, in another order', () => {
    const plays = tracksIn(played(shuffled, 18))
    const passes = [0, 6, 12].map(from => plays.slice(from, from + 6))
    for (const pass of passes) expect(pass.toSorted()).toEqual(['101', '102', '103', '104', '105', '106'])
    expect(new Set(passes.map(pass => pass.join())).size).toBe(3)
  })

  test('has a different order on every station', () => {
    const orders = [1, 2, 3, 4, 5].map(seed => played(shuffled, 6, {}, seed).join())
    expect(new Set(orders).size).toBe(5)
  })

  test('has every order with the same probability', () => {
    const firsts = new Map<string, number>()
    for (let seed = 0; seed < 600; seed++) {
      const [first = ''] = played(shuffled, 1, {}, seed)
      firsts.set(first, (firsts.get(first) ?? 0) + 1)
    }
    for (const count of firsts.values()) expect(Math.abs(count - 100)).toBeLessThan(45)
    expect(firsts.size).toBe(6)
  })

  test('plays a new track in the current pass', () => {
    const tracks = [consumed(101, 4), consumed(102, 4), aTrack(103)]
    expect(played({ tracks, pass: 4 }, 1)).toEqual(['103 in 4'])
  })

  test('borrows tracks that are not duplicates from the next pass, and plays its rest later', () => {
    const tracks = [
      aTrack(101, { lastPass: 3, artists: [1] }),
      aTrack(102, { lastPass: 4 }),
      consumed(103, 4)
    ]
    const library = (plays: readonly PlayOrRow[]) =>
      aLibrary({ playlists: [aPlaylist({ id: 1, tracks, pass: 4 })], plays })
    const heard = aPlay(1, noonMs - 60 * minuteMs, { song: { song: 1, title: 1, artists: [1] } })
    const other = aPlay(2, noonMs - 3 * minuteMs)
    const first = pickForSlot(aSlot(library([heard, other])), createSeededRandom(1, 1))?.tracks[0]
    expect([102, 103]).toContain(first?.trackId)
    expect(first?.pass).toBe(5)
    const rowsBefore = first ? [{ ...first, startsAtMs: noonMs }] : []
    const later = pickForSlot(
      aSlot(library([other]), noonMs + 3 * minuteMs, { rowsBefore }),
      createSeededRandom(1, 1)
    )?.tracks[0]
    expect(later).toMatchObject({ trackId: 101, pass: 4 })
  })

  test('borrows from the next pass only', () => {
    const tracks = [aTrack(101, { lastPass: 3 }), consumed(102, 5), consumed(103, 5)]
    const rowsBefore = [aPlay(101, noonMs)]
    expect(played({ tracks, pass: 4 }, 1, { rowsBefore })).toEqual(['101 in 4'])
  })

  test('that allows duplicates borrows instead of playing a song twice in a row', () => {
    const tracks = [aTrack(101, { lastPass: 3 }), consumed(102, 4)]
    const rowsBefore = [aPlay(101, noonMs)]
    expect(played({ tracks, pass: 4, avoidsDuplicates: false }, 1, { rowsBefore })).toEqual(['102 in 5'])
  })
})

describe('a song that occurs twice in a playlist', () => {
  const tracks = [aTrack(101), aTrack(102), aTrack(103, { media: 101, song: 101 }), aTrack(104)]

  test('counts once if the order is shuffled or random', () => {
    const plays = played({ tracks }, 9)
    expect(plays.toSorted()).toEqual(
      [1, 2, 3].flatMap(pass => [101, 102, 104].map(id => `${id} in ${pass}`)).toSorted()
    )
    const random = played({ tracks, order: 'random' }, 40)
    expect(new Set(random)).toEqual(new Set(['101 in 1', '102 in 1', '104 in 1']))
    const looped = played(
      { tracks, order: 'random', options: ['loop_once'], schedule: [anItem(1200, 1300)] },
      9
    )
    expect(looped.toSorted()).toEqual(['101 in 1', '102 in 1', '104 in 1'])
  })

  test('plays twice in sequential order', () => {
    expect(played({ tracks, order: 'sequential' }, 4)).toEqual([
      '101 in 1',
      '102 in 1',
      '103 in 1',
      '104 in 1'
    ])
  })
})

describe('a playlist that repeats songs', () => {
  const runs = { numRuns: sized({ quick: 50, deep: 1_000 }) }
  const songs = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 })
  const tracksOf = (list: readonly number[]) =>
    list.map((song, index) => aTrack(100 + index, { media: song, song }))

  test('plays all its entries in their order, if it is sequential', () => {
    fc.assert(
      fc.property(songs, fc.boolean(), (list, avoidsDuplicates) => {
        const expected = Array.from(
          { length: list.length * 3 },
          (_, slot) => `${100 + (slot % list.length)} in ${1 + Math.floor(slot / list.length)}`
        )
        const playlist: PlaylistParts = { order: 'sequential', tracks: tracksOf(list), avoidsDuplicates }
        expect(played(playlist, expected.length)).toEqual(expected)
      }),
      runs
    )
  })

  test('plays every song once per pass, if it is shuffled', () => {
    fc.assert(
      fc.property(songs, list => {
        const firsts = [...new Set(list)].map(song => 100 + list.indexOf(song))
        const plays = played({ order: 'shuffle', tracks: tracksOf(list) }, firsts.length * 3)
        const inPasses = [1, 2, 3].flatMap(pass => firsts.map(id => `${id} in ${pass}`))
        expect(plays.toSorted()).toEqual(inPasses.toSorted())
      }),
      runs
    )
  })
})

describe('a playlist in random order', () => {
  test('has no passes', () => {
    const plays = played({ order: 'random', tracks: [101, 102, 103, 104] }, 40, {}, 3)
    expect(new Set(plays)).toEqual(new Set(['101 in 1', '102 in 1', '103 in 1', '104 in 1']))
    const fours = [0, 4, 8, 12].map(from => new Set(plays.slice(from, from + 4)).size)
    expect(Math.min(...fours)).toBeLessThan(4)
  })

  test('depends on the seed', () => {
    const firsts = new Set(
      Array.from(
        { length: 60 },
        (_, seed) => played({ order: 'random', tracks: [101, 102, 103] }, 1, {}, seed)[0]
      )
    )
    expect(firsts.size).toBe(3)
  })
})

describe('loop_once', () => {
  const window = (loop_once: boolean): PlaylistParts => ({
    order: 'sequential',
    tracks: [consumed(101, 4), consumed(102, 3), consumed(103, 3)],
    pass: 4,
    schedule: [anItem(1200, 1300, { loop_once })]
  })
  const tracksIn = (plays: readonly string[]) => plays.map(play => play.slice(0, 3))

  test('starts the list with the window, and plays all tracks once', () => {
    expect(tracksIn(played(window(true), 5))).toEqual(['101', '102', '103'])
  })

  test('disabled: the list continues where it stopped', () => {
    expect(tracksIn(played(window(false), 4))).toEqual(['102', '103', '101', '102'])
  })

  test('shuffles again in every window', () => {
    for (const order of ['shuffle', 'random'] as const) {
      const orders = new Set(
        [0, 1, 2, 3, 4, 5].map(day => {
          const tracks = [101, 102, 103, 104, 105]
          const playlist = { order, tracks, schedule: [anItem(1200, 1300, { loop_once: true })] }
          const plays = tracksIn(played(playlist, 7, { atMs: noonMs + day * 24 * 60 * minuteMs }))
          expect(plays.toSorted()).toEqual(['101', '102', '103', '104', '105'])
          return plays.join()
        })
      )
      expect(orders.size).toBeGreaterThan(1)
    }
  })

  test('plays the whole list if the window is long enough, and nothing after it', () => {
    const playlist = aPlaylist({
      tracks: [101, 102, 103, 104],
      options: ['loop_once'],
      schedule: [anItem(1200, 1300)]
    })
    const station = aStation(aLibrary({ playlists: [playlist] }), timeOf('11:50'))
    station.runTo(timeOf('14:00'))
    expect(station.heard.map(({ trackId }) => trackId ?? 0).toSorted((a, b) => a - b)).toEqual([
      101, 102, 103, 104
    ])
    expect(station.on).toBeNull()
  })

  test('does not repeat a track of a sequence that an operator removed', () => {
    const removed = [
      { playlistId: 1, trackId: 102, pass: 4, startsAtMs: noonMs + minuteMs, occurrenceMs: noonMs }
    ]
    const playlist = aPlaylist({ id: 1, ...window(true) })
    const rowsBefore = [aPlayOf(1, 101, noonMs)]
    const slot = aSlot(aLibrary({ playlists: [playlist] }), noonMs + minuteMs, { rowsBefore })
    const without = { ...slot.library, past: { ...slot.library.past, removed } }
    expect(pickForSlot(slot, createSeededRandom(1, 1))?.tracks[0].trackId).toBe(102)
    expect(pickForSlot({ ...slot, library: without }, createSeededRandom(1, 1))?.tracks[0].trackId).toBe(103)
  })
})
