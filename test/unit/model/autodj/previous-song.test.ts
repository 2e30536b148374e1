import { describe, expect, test } from 'vitest'

import type { AutodjLibrary, PlayOrRow, QueueSlot } from '../../../../src/model/autodj/library.ts'
import { pickForSlot } from '../../../../src/model/autodj/pick.ts'
import { planQueue } from '../../../../src/model/autodj/queue-planner.ts'
import { createSeededRandom } from '../../../../src/model/autodj/random.ts'
import { findDueRequest } from '../../../../src/model/autodj/requests.ts'
import { applyQueuePlan, simulatePlays } from '../../../../src/model/autodj/simulate.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aPlayOf,
  aRequest,
  aRow,
  aSituation,
  aSlot,
  aSong,
  aTrack,
  hourMs,
  type LibraryParts,
  minuteMs,
  noonMs,
  type PlaylistParts,
  timeOf
} from '../../../support/autodj/library.ts'

const seeds = Array.from({ length: 30 }, (_, seed) => seed)
const ago = (minutes: number) => noonMs - minutes * minuteMs
const aJingle = (number: number, startsAtMs: number, parts: Partial<PlayOrRow> = {}) =>
  aPlayOf(9, number, startsAtMs, { isVisible: false, durationMs: minuteMs / 4, ...parts })
const jingles = (parts: PlaylistParts = {}) =>
  aPlaylist({ id: 9, type: 'once_per_x_songs', everySongs: 1, isJingle: true, tracks: [901], ...parts })

/** The songs that are picked with any seed. */
function picked(parts: LibraryParts, slot: Partial<QueueSlot> = {}): number[] {
  const songs = seeds.map(seed => {
    const library = aLibrary({ ...parts, rules: { ...parts.rules, seed } })
    return pickForSlot(aSlot(library, slot.atMs ?? noonMs, slot), createSeededRandom(seed, 1))?.tracks[0].song
      .song
  })
  return [...new Set(songs)].map(Number).toSorted((a, b) => a - b)
}

describe('after a song and a jingle, the song is not picked', () => {
  const [song, jingle] = [aPlayOf(1, 101, ago(4)), aJingle(901, ago(1))]
  const manyJingles = Array.from({ length: 10 }, (_, index) => aJingle(901 + index, ago(3) + index * 15_000))
  const inOrders = (['shuffle', 'random'] as const).flatMap(order =>
    [0, 10, 120].map(range => [order, range] as const)
  )

  test.for(inOrders)('%s, range of %d minutes', ([order, range]) => {
    const list = {
      playlists: [aPlaylist({ order, tracks: [101, 102] })],
      rules: { duplicateRangeMs: range * minuteMs }
    }
    expect(picked({ ...list, plays: [song, jingle] })).toEqual([102])
    expect(picked({ ...list, plays: [song] }, { rowsBefore: [jingle] })).toEqual([102])
    expect(picked(list, { rowsBefore: [song, jingle] })).toEqual([102])
    expect(picked({ ...list, plays: [song, ...manyJingles] })).toEqual([102])
    expect(picked({ ...list, plays: [song], rules: {} }, { rowsBefore: manyJingles })).toEqual([102])
  })

  test('even if the playlist allows duplicates', () => {
    const playlists = [aPlaylist({ avoidsDuplicates: false, tracks: [101, 102] })]
    expect(picked({ playlists, plays: [song, jingle] })).toEqual([102])
  })

  test('when it is the last one of its pass and the first of the next', () => {
    // Both orders of a pass occur among the seeds.
    const tracks = [101, 102].map(id => aTrack(id, { lastPass: 1 }))
    const rules = { duplicateRangeMs: 0 }
    expect(picked({ playlists: [aPlaylist({ tracks })], rules, plays: [song, jingle] })).toEqual([102])
  })

  test('when it is all that is left of its pass', () => {
    const tracks = [aTrack(101), aTrack(102, { lastPass: 1 }), aTrack(103, { lastPass: 1 })]
    const rules = { duplicateRangeMs: 0 }
    const plays = [aPlay(101, ago(4)), jingle]
    expect(picked({ playlists: [aPlaylist({ tracks })], rules, plays })).toEqual([102, 103])
  })

  test('by any other playlist', () => {
    const playlists = [aPlaylist({ id: 1, tracks: [101] }), aPlaylist({ id: 2, tracks: [201] })]
    expect(picked({ playlists, plays: [song, jingle] })).toEqual([201])
    const hourly = aPlaylist({ id: 3, tracks: [aTrack(301, aSong(101))], type: 'once_per_hour' })
    expect(picked({ playlists: [hourly, ...playlists], plays: [song, jingle] })).toEqual([201])
  })

  test('nor as the next track of a sequence that did not play it', () => {
    const playlists = [
      aPlaylist({ id: 1, order: 'sequential', tracks: [aTrack(111, aSong(101)), 112] }),
      aPlaylist({ id: 2, tracks: [201] })
    ]
    expect(picked({ playlists, plays: [aPlay(101, ago(4)), jingle] })).toEqual([201])
  })

  test('unless nothing else is left', () => {
    expect(picked({ playlists: [aPlaylist({ tracks: [101] })], plays: [song, jingle] })).toEqual([101])
  })

  test('but may follow in a sequence that contains it twice', () => {
    const twice = [aTrack(101, aSong(7)), aTrack(102, aSong(7)), aTrack(103)]
    const playlists = [
      aPlaylist({ order: 'sequential', tracks: twice }),
      aPlaylist({ id: 2, weight: 1e-9, tracks: [201] })
    ]
    const rowsBefore = [aPlayOf(1, 101, ago(4), { song: aSong(7) }), jingle]
    expect(picked({ playlists }, { rowsBefore })).toEqual([7])
  })

  test('and a song of its artist neither, however long ago it started', () => {
    const tracks = [aTrack(102, { artists: aSong(101).artists }), aTrack(103)]
    const plays = [aPlay(101, ago(300)), jingle]
    expect(picked({ playlists: [aPlaylist({ tracks })], plays })).toEqual([103])
  })
})

test('a shuffled list that is merged does not begin with the previous song', () => {
  const playlist = aPlaylist({ options: ['merge'], tracks: [101, 102, 103] })
  const library = { playlists: [playlist], plays: [aPlayOf(1, 101, ago(4)), aJingle(901, ago(1))] }
  expect(picked(library)).toEqual([102, 103])
  const sequence = { ...library, playlists: [{ ...playlist, order: 'sequential' as const }] }
  expect(picked(sequence)).toEqual([101])
})

test('a scheduled stream goes on after a jingle has interrupted it', () => {
  const stream = aPlaylist({ source: 'stream', schedule: [anItem(1100, 1400)], tracks: [101] })
  const playlists = [stream, aPlaylist({ id: 2 })]
  const plays = [aPlayOf(1, 101, ago(30)), aJingle(901, ago(1), { isInterrupt: true })]
  expect(picked({ playlists, plays }, { atMs: timeOf('12:00') })).toEqual([101])
})

describe('jingles', () => {
  /** The songs and jingles of some hours. */
  function heardIn(library: AutodjLibrary, hours = 6): PlayOrRow[] {
    const heard: PlayOrRow[] = []
    const start = { queue: [], startedAtMs: noonMs, fromMs: noonMs, queueLength: 3, nextSeq: 1 }
    for (const { play, startsAtMs } of simulatePlays({ library, ...start })) {
      if (startsAtMs > noonMs + hours * hourMs) break
      if (play) heard.push(play)
    }
    return heard
  }
  const repeatsIn = (plays: readonly PlayOrRow[]) =>
    plays.filter(({ song }, index) => song.song === plays[index - 1]?.song.song).length
  const rules = { duplicateRangeMs: 0 }

  test.for(['shuffle', 'random'] as const)(
    'of a list are not the same twice in a row, %s, whatever plays in between',
    order => {
      const playlists = [aPlaylist(), jingles({ order, tracks: [901, 902, 903] })]
      const heard = heardIn(aLibrary({ playlists, rules })).filter(({ isVisible }) => !isVisible)
      expect(heard.length).toBeGreaterThan(50)
      expect(repeatsIn(heard)).toBe(0)
    }
  )

  test('of a list of one are repeated as often as they are due', () => {
    const other = jingles({ id: 8, type: 'once_per_hour', hourMinute: 30, tracks: [801] })
    const heard = heardIn(aLibrary({ playlists: [aPlaylist(), jingles(), other], rules }))
    expect(heard.filter(({ playlistId }) => playlistId === 9).length).toBeGreaterThan(50)
    expect(heard.filter(({ playlistId }) => playlistId === 8)).toHaveLength(6)
  })

  test('of a rotation do not keep away the only song', () => {
    const rotation = jingles({ type: 'default', tracks: [901, 902] })
    const heard = heardIn(aLibrary({ playlists: [aPlaylist({ tracks: [101] }), rotation], rules }))
    const songs = heard.filter(({ isVisible }) => isVisible).length
    expect(songs).toBeGreaterThan(heard.length / 3)
    expect(songs).toBeLessThan((heard.length * 2) / 3)
  })

  test('of a rotation do not keep away a song of lower rank', () => {
    const rotation = jingles({ type: 'default', tracks: [901, 902], schedule: [anItem(0, 0)] })
    const only = aPlaylist({ tracks: [101], schedule: [anItem(0, 0)] })
    const playlists = [only, rotation, aPlaylist({ id: 2, tracks: [201, 202] })]
    const songs = heardIn(aLibrary({ playlists, rules })).filter(({ isVisible }) => isVisible)
    expect(songs.length).toBeGreaterThan(0)
    expect(repeatsIn(songs)).toBe(0)
  })

  test('are not changed for the song before them', () => {
    const playlists = [jingles({ tracks: [aTrack(901, aSong(101)), 902] })]
    expect(picked({ playlists, plays: [aPlay(101, ago(4))], rules })).toEqual([902])
    expect(picked({ playlists, plays: [aPlay(102, ago(4))], rules })).toEqual([101, 902])
  })
})

describe('a request', () => {
  const due = (parts: LibraryParts) => findDueRequest(aSlot(aLibrary(parts))).picked?.id
  const jingle = aJingle(901, ago(1))

  test('for the previous song waits, even after a jingle', () => {
    const requests = [aRequest(101)]
    for (const requestThresholdMs of [0, 15 * minuteMs]) {
      const rules = { requestThresholdMs }
      expect(due({ requests, rules, plays: [aPlay(101, ago(60)), jingle] })).toBeUndefined()
      expect(due({ requests, rules, plays: [aPlay(101, ago(90)), aPlay(102, ago(60)), jingle] })).toBe(101)
    }
  })

  test('with a threshold of 0 is not adjacent to its title and artist, regardless of jingles', () => {
    const rules = { requestThresholdMs: 0 }
    for (const key of ['title', 'artists'] as const) {
      const song = aSong(101, { [key]: aSong(102)[key] })
      const parts = { requests: [aRequest(101, { song })], rules }
      expect(due({ ...parts, plays: [aPlay(102, ago(4)), jingle] })).toBeUndefined()
      expect(due({ ...parts, plays: [aPlay(102, ago(8)), aPlay(103, ago(4)), jingle] })).toBe(101)
    }
  })
})

describe('a queued row', () => {
  const running = { startedAtMs: ago(3), endsAtMs: noonMs }
  const rules = { duplicateRangeMs: 0, requestThresholdMs: 0 }
  const starts = (parts: Parameters<typeof aSituation>[0]) => {
    const situation = aSituation({ running, queueLength: 4, ...parts })
    return applyQueuePlan(situation.queue, planQueue(situation)).map(({ song }) => song.song)
  }
  const songs = (order: readonly number[]) => order.filter(song => song < 900)
  const row = (position: number, play: PlayOrRow, parts = {}) => aRow(position, play, parts)
  const inMinutes = (minutes: number) => noonMs + minutes * minuteMs

  test('leaves if the row between it and the same song was removed', () => {
    const playlists = [aPlaylist({ order: 'random', tracks: [101, 102, 103] }), jingles()]
    const queue = [row(1, aJingle(901, noonMs)), row(2, aPlayOf(1, 101, inMinutes(0.25)))]
    const library = aLibrary({ playlists, rules, plays: [aPlayOf(1, 101, ago(3))] })
    const [first, second] = starts({ library, queue })
    expect(first).toBe(901)
    expect([102, 103]).toContain(second)
  })

  test('leaves if a request for its song was inserted before it, with a jingle in between', () => {
    const playlists = [aPlaylist({ order: 'random', tracks: [101, 102, 103] }), jingles()]
    const queue = [row(1, aJingle(901, noonMs)), row(2, aPlayOf(1, 101, inMinutes(0.25)))]
    const library = aLibrary({
      playlists,
      rules,
      plays: [aPlayOf(1, 103, ago(3))],
      requests: [aRequest(101, { dueAtMs: ago(1) })]
    })
    const planned = songs(starts({ library, queue }))
    expect(planned[0]).toBe(101)
    expect(planned[1]).not.toBe(101)
  })

  test('of a batch leaves if its first song was just played', () => {
    const playlists = [
      aPlaylist({ id: 1, options: ['merge'], order: 'sequential', tracks: [101, 102] }),
      aPlaylist({ id: 2, order: 'random', tracks: [201, 202] })
    ]
    const batch = [101, 102].map((song, index) =>
      row(index + 1, aPlayOf(1, song, inMinutes(index * 3)), { batch: 7 })
    )
    const library = aLibrary({ playlists, rules, plays: [aPlay(101, ago(3))] })
    expect(starts({ library, queue: batch })[0]).toBeGreaterThan(200)
    const others = aLibrary({ playlists, rules, plays: [aPlay(103, ago(3))] })
    expect(starts({ library: others, queue: batch }).slice(0, 2)).toEqual([101, 102])
  })

  test('of a request waits for another song, not for a jingle', () => {
    const playlists = [aPlaylist({ order: 'random', tracks: [102, 103] }), jingles()]
    const library = aLibrary({
      playlists,
      rules,
      plays: [aPlay(101, ago(3))],
      requests: [aRequest(101, { dueAtMs: ago(1) })]
    })
    const queue = [
      row(1, aPlay(101, noonMs, { requestId: 101 })),
      row(2, aJingle(901, inMinutes(3))),
      row(3, aPlayOf(1, 102, inMinutes(3.25)))
    ]
    expect(songs(starts({ library, queue })).slice(0, 2)).toEqual([102, 101])
  })

  test('of a request plays once nothing but jingles is left', () => {
    const playlists = [jingles({ type: 'default', tracks: [901, 902] })]
    const requests = [aRequest(101, { dueAtMs: ago(1) })]
    const library = aLibrary({ playlists, rules, plays: [aPlay(101, ago(3))], requests })
    const queue = [row(1, aPlay(101, noonMs, { requestId: 101 }))]
    expect(starts({ library, queue }).indexOf(101)).toBe(1)
  })

  test('of a jingle leaves if the jingle between it and the same one was removed', () => {
    const queue = [row(1, aJingle(901, noonMs)), row(2, aPlayOf(1, 102, inMinutes(0.25)))]
    const firstAfter = (last: number) => {
      const aired = [901, 902].map(id => aTrack(id, { lastAiredMs: id === last ? ago(4) : 0 }))
      const playlists = [aPlaylist(), jingles({ order: 'random', tracks: aired })]
      const plays = [aJingle(last, ago(4)), aPlayOf(1, 101, ago(3))]
      return starts({ library: aLibrary({ playlists, rules, plays }), queue })[0]
    }
    expect(firstAfter(901)).toBe(902)
    expect(firstAfter(902)).toBe(901)
  })
})
