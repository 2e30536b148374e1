import { describe, expect, test } from 'vitest'

import { areDuplicateSongs, findRepeatTier } from '../../../../src/model/autodj/duplicates.ts'
import type { PlayOrRow } from '../../../../src/model/autodj/library.ts'
import { pickForSlot } from '../../../../src/model/autodj/pick.ts'
import { createSeededRandom } from '../../../../src/model/autodj/random.ts'
import type { SongKeys } from '../../../../src/model/autodj/track-columns.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aRequest,
  aSlot,
  aTrack,
  hourMs,
  minuteMs,
  noonMs,
  type PlaylistParts,
  type RuleParts
} from '../../../support/autodj/library.ts'

/** Songs by name: `X-a` is the title a of the artist X. */
function songOf(name: string): SongKeys {
  const [artist = '', title = ''] = name.split('-')
  const keyOf = (text: string) =>
    Array.from(text).reduce((key, letter) => key * 1_000 + letter.charCodeAt(0), 0)
  return {
    song: keyOf(name),
    title: keyOf(title),
    artists: artist === '' ? [] : artist.split('+').map(keyOf)
  }
}

interface Past {
  /** A name and the minutes since its start; without them it was never played. */
  readonly list: readonly (readonly [name: string, minutesAgo?: number])[]
  /** Plays of other playlists. */
  readonly others?: readonly (readonly [name: string, minutesAgo: number])[]
  readonly rowsBefore?: readonly PlayOrRow[]
  readonly playlist?: PlaylistParts
  readonly rules?: RuleParts
}

/** The picked song and its tier, which must not depend on the seed. */
function picked({ list, others = [], rowsBefore = [], playlist = {}, rules = {} }: Past): string {
  const aired = (minutes: number | undefined) => (minutes === undefined ? 0 : noonMs - minutes * minuteMs)
  const tracks = list.map(([name, minutes], index) =>
    aTrack(index + 1, { ...songOf(name), lastAiredMs: aired(minutes) })
  )
  const plays = [...list, ...others].flatMap(([name, minutes]) =>
    minutes === undefined ? [] : [aPlay(1, aired(minutes), { song: songOf(name) })]
  )
  const found = new Set<string>()
  for (let seed = 0; seed < 25; seed++) {
    const library = aLibrary({
      playlists: [aPlaylist({ tracks, ...playlist })],
      rules: { ...rules, seed },
      plays: plays.toSorted((a, b) => a.startsAtMs - b.startsAtMs)
    })
    const decision = pickForSlot(aSlot(library, noonMs, { rowsBefore }), createSeededRandom(seed, 1))
    const entry = decision?.log.at(-1)
    const tier = entry?.step === 'picked' && 'tier' in entry ? entry.tier : null
    found.add(`${list[(decision?.tracks[0].trackId ?? 0) - 1]?.[0]}, tier ${tier}`)
  }
  return [...found].join(' or ')
}

describe('with a duplicate range of 120 minutes the pick is', () => {
  test.for<[what: string, past: Past, expected: string]>([
    [
      'another song of a recent artist rather than a recent song',
      {
        list: [
          ['X-a', 30],
          ['X-b', 300],
          ['Y-c', 10]
        ]
      },
      'X-b, tier 2'
    ],
    [
      'the least recently heard song',
      {
        list: [
          ['X-a', 10],
          ['Y-c', 30]
        ]
      },
      'Y-c, tier 3'
    ],
    [
      'a song that is not a duplicate',
      {
        list: [
          ['X-a', 100],
          ['X-b', 200],
          ['Z-d', 400]
        ]
      },
      'Z-d, tier 1'
    ],
    [
      'the least recently heard artist',
      {
        list: [['X-b'], ['W-e']],
        others: [
          ['X-f', 20],
          ['W-g', 90]
        ]
      },
      'W-e, tier 2'
    ],
    ['the only song, although it was just heard', { list: [['X-a', 3]] }, 'X-a, tier 3'],
    [
      'the only song of a scheduled playlist, with a range of a day',
      {
        list: [['X-a', 20 * 60]],
        playlist: { schedule: [anItem(1100, 1300)] },
        rules: { duplicateRangeMs: 24 * hourMs }
      },
      'X-a, tier 3'
    ],
    [
      'a song whose title was not played by any artist',
      { list: [['X-a'], ['Z-d', 300]], others: [['Y-a', 20]] },
      'Z-d, tier 1'
    ],
    [
      'a song of a recent artist rather than one with a recent title',
      {
        list: [['X-a'], ['Y-d', 300]],
        others: [
          ['W-a', 20],
          ['Y-e', 10]
        ]
      },
      'Y-d, tier 2'
    ],
    [
      'a song without any recent artist',
      { list: [['X+Y-a'], ['Z-b', 300]], others: [['W+Y-c', 20]] },
      'Z-b, tier 1'
    ],
    ['a song with one recent artist of two', { list: [['X+Y-a']], others: [['W+Y-c', 20]] }, 'X+Y-a, tier 2'],
    [
      'a song ranked by its most recent artist',
      {
        list: [['X+Y-a'], ['Z-b']],
        others: [
          ['X-c', 100],
          ['Z-d', 50],
          ['Y-e', 20]
        ]
      },
      'Z-b, tier 2'
    ],
    [
      'a track that was never played before one that was',
      { list: [['X-a', 5], ['Y-b']], others: [['Z-b', 1]] },
      'Y-b, tier 3'
    ]
  ])('%s', ([, past, expected]) => {
    expect(picked(past)).toBe(expected)
  })

  test('the order of plays does not matter', () => {
    const past: Past = {
      list: [
        ['X-a', 30],
        ['X-b', 300],
        ['Y-c', 10]
      ]
    }
    expect(picked({ ...past, playlist: { order: 'random' } })).toBe('X-b, tier 2')
  })
})

describe('what counts as recent', () => {
  const two: Past['list'] = [['X-a'], ['Z-b', 500]]

  test('plays that started within the range', () => {
    expect(
      picked({
        list: two,
        others: [
          ['X-c', 119],
          ['V-v', 1]
        ]
      })
    ).toBe('Z-b, tier 1')
    expect(
      picked({
        list: two,
        others: [
          ['Z-c', 30],
          ['X-c', 120],
          ['V-v', 1]
        ]
      })
    ).toBe('X-a, tier 1')
  })

  test('the previous play, however long ago it started', () => {
    expect(picked({ list: two, others: [['X-c', 300]] })).toBe('Z-b, tier 1')
    const rowsBefore = [aPlay(1, noonMs - minuteMs, { song: songOf('Z-c') })]
    expect(picked({ list: two, others: [['X-c', 300]], rowsBefore })).toBe('X-a, tier 1')
  })

  test('earlier rows, at their planned time', () => {
    const rowAt = (name: string, minutes: number) =>
      aPlay(1, noonMs + minutes * minuteMs, { song: songOf(name) })
    expect(picked({ list: two, rowsBefore: [rowAt('X-c', -119), rowAt('V-v', -1)] })).toBe('Z-b, tier 1')
    expect(
      picked({
        list: two,
        rowsBefore: [rowAt('Z-c', -130), rowAt('X-c', -120), rowAt('Z-d', -119), rowAt('V-v', -1)]
      })
    ).toBe('X-a, tier 1')
    expect(picked({ list: two, rowsBefore: [rowAt('X-c', -300)] })).toBe('Z-b, tier 1')
  })

  /** The number of possible songs while one by X is requested. */
  const pickWith = (dueInMinutes: number) => {
    const requests = [aRequest(1, { song: songOf('X-c'), dueAtMs: noonMs + dueInMinutes * minuteMs })]
    const tracks = two.map(([name], index) => aTrack(index + 1, songOf(name)))
    const library = aLibrary({ playlists: [aPlaylist({ tracks })], requests })
    const found = Array.from({ length: 25 }, (_, seed) =>
      pickForSlot(aSlot({ ...library, rules: { ...library.rules, seed } }), createSeededRandom(seed, 1))
    )
    return new Set(found.map(decision => decision?.tracks[0].trackId)).size
  }

  test('requests that are due within the range after the slot', () => {
    expect(pickWith(119)).toBe(1)
    expect(pickWith(120)).toBe(2)
  })

  test('no request that has expired by then', () => {
    expect(pickWith(-180)).toBe(2)
  })

  test('with a range of 0 only the previous song', () => {
    const rules = { duplicateRangeMs: 0 }
    expect(
      picked({
        list: [
          ['X-a', 3],
          ['X-b', 6]
        ],
        rules
      })
    ).toBe('X-b, tier 1')
    expect(
      picked({
        list: [
          ['X-a', 3],
          ['X-b', 6],
          ['X-c', 9]
        ],
        rules
      })
    ).toMatch(/^X-[bc], tier 1 or X-[bc], tier 1$/)
  })

  test('for a playlist that allows duplicates only the previous song', () => {
    const playlist = { avoidsDuplicates: false }
    expect(
      picked({
        list: [
          ['X-a', 3],
          ['X-b', 6]
        ],
        playlist
      })
    ).toBe('X-b, tier 1')
  })
})

test.for<[song: string, tier: number]>([
  ['W+Z-b', 1],
  ['Z+Y-b', 2],
  ['Z-a', 3],
  ['X+Y-a', 3]
])('after X and Y with the title a, %s is of tier %i', ([name, tier]) => {
  const { song, title, artists } = songOf('X+Y-a')
  const times = (keys: readonly number[]) => new Map(keys.map(key => [key, noonMs]))
  const recent = { songs: times([song]), titles: times([title]), artists: times(artists) }
  expect(findRepeatTier(songOf(name), recent)).toBe(tier)
})

describe('two songs are duplicates', () => {
  test.for<[one: SongKeys, other: SongKeys, isOne: boolean]>([
    [songOf('X-a'), songOf('X-b'), true],
    [songOf('X-a'), songOf('Y-a'), true],
    [songOf('X-a'), songOf('Y-b'), false],
    [songOf('X+Y-a'), songOf('Z+Y-b'), true],
    [{ song: 1, title: 0, artists: [] }, { song: 2, title: 0, artists: [] }, false],
    [{ song: 1, title: 0, artists: [] }, { song: 1, title: 0, artists: [] }, true]
  ])('%j and %j: %s', ([one, other, isOne]) => {
    expect(areDuplicateSongs(one, other)).toBe(isOne)
    expect(areDuplicateSongs(other, one)).toBe(isOne)
  })

  test('but songs without artist and title only of themselves', () => {
    const list = [['-'], ['--']] as const
    expect(
      picked({
        list: list.map(([name]) => [name] as const),
        others: [
          ['-', 20],
          ['X-y', 10]
        ]
      })
    ).toBe('--, tier 1')
  })
})
