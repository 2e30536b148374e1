import { describe, expect, test } from 'vitest'

import type { DecisionLogEntry } from '../../../../../src/model/autodj/log-entry.ts'
import { measureRepeats } from '../../../../../src/model/autodj/simulation/repeats.ts'
import type { TrackRow } from '../../../../../src/model/autodj/track-columns.ts'
import { aPlaylist, aRun, aTrack, type Heard } from '../../../../support/simulated.ts'

const chosen = (tier: number, ...from: number[]): DecisionLogEntry[] => [
  { step: 'bucket', bucket: 'default/unscheduled', order: from.map(id => ({ id, weight: 3 })) },
  { step: 'picked', id: from[0] ?? 0, media: 0, tier, pass: 1, overrun: 0 }
]

/** A play of a track, chosen from its playlist. */
const heard = (of: number, row: TrackRow, parts: Partial<Heard> = {}): Heard => ({
  of,
  minutes: 60,
  trackId: row.id,
  song: row,
  log: chosen(1, of),
  ...parts
})

const [one, two, three] = [aTrack(1), aTrack(2), aTrack(3)]

function countsOf(playlists: Parameters<typeof aRun>[0], plays: readonly Heard[]) {
  return measureRepeats(aRun(playlists, plays)).map(
    ({ tier, plays: count, song, title, artist, avoidable }) => [tier, count, song, title, artist, avoidable]
  )
}

describe('within two hours', () => {
  const sameTitle = aTrack(2, { title: one.title })
  const sameArtist = aTrack(2, { artists: [9, ...one.artists] })
  test.for([
    ['the song', one, 119, [1, 0, 0]],
    ['a song of the title', sameTitle, 119, [0, 1, 0]],
    ['a song of one of the artists', sameArtist, 119, [0, 0, 1]],
    ['another song', two, 1, [0, 0, 0]],
    ['the song, just when they are over,', one, 120, [0, 0, 0]]
  ] as const)('%s counts as a repeat', ([, row, minutes, repeats]) => {
    const [tier1] = countsOf([aPlaylist(1)], [heard(1, one, { minutes }), heard(1, row)])
    expect(tier1?.slice(0, 5)).toEqual([1, 2, ...repeats])
  })
})

describe('with a duplicate range of 0', () => {
  const jingle = heard(2, aTrack(201), { isVisible: false, minutes: 1 })
  const song = (row: TrackRow) => heard(1, row, { minutes: 4 })
  const lists = [
    aPlaylist(1, { tracks: [one, two] }),
    aPlaylist(2, { isJingle: true, tracks: [aTrack(201)] })
  ]
  const countOf = (plays: readonly Heard[]) => measureRepeats(aRun(lists, plays, { duplicateRangeMs: 0 }))[0]

  test('a song that follows itself is a repeat, whatever jingles are in between', () => {
    for (const between of [[], [jingle], [jingle, jingle]])
      expect(countOf([song(one), ...between, song(one)])).toMatchObject({ song: 1, avoidable: 1 })
    expect(countOf([song(one), jingle, song(two), jingle, song(one)])).toMatchObject({ song: 0 })
  })

  test('a jingle that follows itself is none', () => {
    expect(countOf([song(one), jingle, song(two), jingle])).toMatchObject({ song: 0, avoidable: 0 })
  })
})

test('songs without title and artist are not duplicates of each other', () => {
  const bare = [aTrack(1, { title: 0, artists: [] }), aTrack(2, { title: 0, artists: [] })] as const
  const [tier1] = countsOf(
    [aPlaylist(1, { tracks: bare })],
    bare.map(row => heard(1, row))
  )
  expect(tier1).toEqual([1, 2, 0, 0, 0, 0])
})

test('plays count by tier; sequences, requests and playlists that allow duplicates are unchecked', () => {
  const lists = [
    aPlaylist(1),
    aPlaylist(2, { order: 'sequential' }),
    aPlaylist(3, { avoidsDuplicates: false }),
    aPlaylist(4, { options: ['merge'] })
  ]
  const plays = [
    heard(1, one),
    heard(1, two, { log: chosen(2, 1) }),
    heard(1, three, { log: chosen(3, 1) }),
    heard(1, aTrack(9), { log: [] }),
    ...[2, 3, 4].map(of => heard(of, one)),
    heard(1, one, { playlistId: null, log: [{ step: 'picked', request: 5 }] })
  ]
  expect(countsOf(lists, plays).map(([tier, count]) => [tier, count])).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
    ['unchecked', 5]
  ])
})

describe('a repeat is avoidable if a playlist of the draw', () => {
  const repeat = (log = chosen(3, 1)) => heard(1, one, { minutes: 1, log })
  const avoidable = (list: Parameters<typeof aPlaylist>[1], log = chosen(3, 1), others = [aPlaylist(2)]) => {
    const plays = [heard(1, one, { minutes: 1 }), repeat(log)]
    return countsOf([aPlaylist(1, list), ...others], plays).map(count => count[5])
  }

  test('has a track that is not a duplicate', () => {
    expect(avoidable({ tracks: [one, two] })).toEqual([0, 0, 1, 0])
  })

  test('but not if all others are duplicates', () => {
    expect(
      avoidable({ tracks: [one, aTrack(2, { artists: one.artists }), aTrack(3, { title: one.title })] })
    ).toEqual([0, 0, 0, 0])
  })

  test('but not if the others have been played in this pass and the next', () => {
    // The first play ends pass 1, so the pass is 2, and pass 3 may be borrowed from.
    const after = (lastPass: number) => [one, aTrack(2, { lastPass })]
    expect(avoidable({ tracks: after(2) })).toEqual([0, 0, 1, 0])
    expect(avoidable({ tracks: after(3) })).toEqual([0, 0, 0, 0])
    expect(avoidable({ tracks: after(3), order: 'random' })).toEqual([0, 0, 1, 0])
  })

  test('another playlist of the same draw counts, one outside of it does not', () => {
    expect(avoidable({ tracks: [one] }, chosen(3, 1))).toEqual([0, 0, 0, 0])
    expect(avoidable({ tracks: [one] }, chosen(3, 1, 2))).toEqual([0, 0, 1, 0])
  })

  test('but not if the others are too long for the window', () => {
    const schedule = [{ start_time: 0, end_time: 10 }]
    const lasting = (minutes: number) => aTrack(2, { durationMs: minutes * 60_000 })
    // From 00:01 to 00:10, and ten minutes of overrun.
    expect(avoidable({ tracks: [one, lasting(19)], schedule })).toEqual([0, 0, 1, 0])
    expect(avoidable({ tracks: [one, lasting(20)], schedule })).toEqual([0, 0, 0, 0])
  })

  test('but not if each of its tracks plays once per window', () => {
    const schedule = [{ start_time: 0, end_time: 10, loop_once: true }]
    expect(avoidable({ tracks: [one, two], schedule })).toEqual([0, 0, 0, 0])
  })
})
