import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { artistKeys, songKey, titleKey } from '../../../src/songs/duplicate-keys.ts'
import { songId, songText } from '../../../src/songs/song.ts'

/** The keys that two songs, given as artist and title, have in common. */
function clashOf(candidate: readonly [string, string], recent: readonly [string, string]): string[] {
  const artists = new Set(artistKeys(recent[0]))
  return [
    ...(titleKey(candidate[1]) !== 0 && titleKey(candidate[1]) === titleKey(recent[1]) ? ['title'] : []),
    ...(artistKeys(candidate[0]).some(key => artists.has(key)) ? ['artist'] : [])
  ]
}

describe('two songs are duplicates', () => {
  const table: [candidate: [string, string], recent: [string, string], clash: string[]][] = [
    [['Alpha feat. Beta', 'One'], ['Alpha', 'Two'], ['artist']],
    [['Alpha feat. Beta', 'One'], ['ALPHA FT. Gamma', 'Two'], ['artist']],
    [
      ['Alpha', 'One'],
      ['Delta & Alpha', 'ONE'],
      ['title', 'artist']
    ],
    [['Alpha', 'One'], ['', 'Delta - one (live)'], []],
    [['Alpha', 'One'], ['Delta', 'one (live)'], []],
    [['BJÖRK', 'X'], ['björk', 'Y'], ['artist']],
    [['AC/DC', 'X'], ['DC', 'Y'], []],
    [['Tom & Ann', 'X'], ['Ann', 'Y'], ['artist']],
    [['', ''], ['', ''], []],
    [['  ', '\t'], ['', ' '], []],
    [['A', ' The  End '], ['B', 'the end'], ['title']],
    [
      ['Bjo\u0308rk', 'e\u0301'],
      ['BJ\u00d6RK', '\u00c9'],
      ['title', 'artist']
    ],
    [['J\u030c', 'x'], ['\u01f0', 'y'], ['artist']]
  ]
  test.for(table)('%j beside %j: %j', ([candidate, recent, clash]) => {
    expect(clashOf(candidate, recent)).toEqual(clash)
    expect(clashOf(recent, candidate)).toEqual(clash)
  })
})

describe('the artists of a text', () => {
  const table: [text: string, artists: string[]][] = [
    ['a, b', ['a', 'b']],
    ['a & b', ['a', 'b']],
    ['a / b', ['a', 'b']],
    ['a feat b', ['a', 'b']],
    ['a Feat. b', ['a', 'b']],
    ['a ft b', ['a', 'b']],
    ['a FT. b', ['a', 'b']],
    ['a featuring b', ['a', 'b']],
    ['a vs b', ['a', 'b']],
    ['a Vs. b', ['a', 'b']],
    ['a;b', ['a', 'b']],
    ['a ;; b;', ['a', 'b']],
    ['a  feat.\u00a0 b ,  c', ['a', 'b', 'c']],
    ['a & feat. b, & c', ['a', 'b', 'c']],
    ['a & A & a', ['a']],
    ['a,b', ['a,b']],
    ['a&b', ['a&b']],
    ['feat. b', ['feat. b']],
    ['defeat b', ['defeat b']],
    ['a versus b', ['a versus b']],
    [' ; ', []],
    ['', []]
  ]
  test.for(table)('%j are %j', ([text, artists]) => {
    expect(artistKeys(text)).toEqual(artists.map(titleKey))
  })

  test('are identified by name only', () => {
    const name = fc.stringMatching(/^[a-z]{1,8}$/)
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 5 }), names => {
        fc.pre(!names.some(each => ['feat', 'ft', 'vs', 'featuring'].includes(each)))
        const keys = artistKeys(names.join(' & '))
        expect(keys).toEqual(names.map(titleKey))
        expect(artistKeys(names.toReversed().join(' FEAT. ')).toReversed()).toEqual(keys)
      })
    )
  })
})

describe('a key', () => {
  test('is a whole number of 52 bits, the same for every composition of characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), text => {
        const keys = [titleKey(text), songKey(songId(text)), ...artistKeys(text)]
        for (const key of keys) {
          expect(Number.isInteger(key)).toBe(true)
          expect(key).toBeGreaterThanOrEqual(0)
          expect(key).toBeLessThan(2 ** 52)
        }
        expect(titleKey(text.normalize('NFD'))).toBe(titleKey(text.normalize('NFC')))
        expect(titleKey(`\u3000${text} `)).toBe(titleKey(text))
        expect(titleKey(text) === 0).toBe(text.trim() === '')
      })
    )
  })

  test('of a song is the start of its id', () => {
    expect(songKey(songId(songText('Foo Fighters', 'Everlong')))).toBe(0x06598a6bdf42b)
    expect(songKey('ffffffffffffffffffffffffffffffff')).toBe(2 ** 52 - 1)
  })
})
