import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { artistKeys, songKey, titleKey } from '../../../../src/model/songs/duplicate-keys.ts'
import { computeSongId, formatSongText } from '../../../../src/model/songs/song.ts'

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
    ['a & b', ['a', 'b']],
    ['connick, harry, jr.', ['harry connick jr']],
    ['harry connick, jr.', ['harry connick jr']],
    ['connick, harry jr', ['harry connick jr']],
    ['a / b', ['a', 'b']],
    ['a feat b', ['a', 'b']],
    ['a Feat. b', ['a', 'b']],
    ['a ft b', ['a', 'b']],
    ['a FT. b', ['a', 'b']],
    ['a featuring b', ['a', 'b']],
    ['a (feat. b)', ['a', 'b']],
    ['a [FT b & c]', ['a', 'b', 'c']],
    ['a vs b', ['a', 'b']],
    ['a Vs. b', ['a', 'b']],
    ['a;b', ['a', 'b']],
    ['a ;; b;', ['a', 'b']],
    ['a  feat.\u00a0 b', ['a', 'b']],
    ['a & feat. b, & c', ['a', 'b', 'c']],
    ['a & A & a', ['a']],
    ['a,b', ['a,b']],
    ['a&b', ['a&b']],
    ['feat. b', ['feat. b']],
    ['defeat b', ['defeat b']],
    ['a versus b', ['a versus b']],
    ['AC/DC', ['ac/dc']],
    ['Florence and the Machine', ['florence and the machine']],
    ['Liberty x Alpha', ['liberty x alpha']],
    ['Man with a Mission', ['man with a mission']],
    ['Florence + The Machine', ['florence + the machine']],
    ['Король и Шут', ['король и шут']],
    ['10,000 Maniacs', ['10,000 maniacs']],
    [' ; ', []],
    [', ,', []],
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

describe('a comma', () => {
  /** Whether two texts have an artist in common. */
  const clash = (one: string, other: string) => clashOf([one, 'One'], [other, 'Two']).length > 0

  const names: [text: string, same: string[]][] = [
    ['Beatles, The', ['The Beatles', 'beatles, the', 'Queen & Beatles, The', 'Beatles, The & Queen']],
    ['Toten Hosen, Die', ['Die Toten Hosen', 'Toten Hosen, Die; Ärzte, Die']],
    [
      'Tyler, The Creator',
      ['Tyler, The Creator feat. Kali Uchis', 'Tyler, The Creator & Alpha', 'Alpha & Tyler, the Creator']
    ],
    ['Harry Connick, Jr.', ['Harry Connick Jr.', 'Harry Connick Jr', 'Harry Connick, Jr. & Alpha']],
    ['Hank Williams, III', ['Alpha feat. Hank Williams, III']],
    ['Alpha, Ph.D.', ['Alpha, PhD vs. Beta']],
    ['Last, First', ['First Last', 'Last, First & Other, Name', 'Bach, Johann; Last, First']],
    ['Bach, Johann Sebastian', ['Johann Sebastian Bach']],
    ['Vaughan Williams, Ralph', ['Ralph Vaughan Williams']]
  ]
  test.for(names)('belongs to the name %j, as in %j', ([text, same]) => {
    expect(artistKeys(text)).toHaveLength(1)
    for (const other of same) expect([other, clash(text, other)]).toEqual([other, true])
  })

  const lists: [text: string, artists: string[]][] = [
    ['A, B & C', ['A', 'B', 'C']],
    ['A, B, & C', ['A', 'B', 'C']],
    ['A, B, and C', ['A', 'B', 'C']],
    ['A, B, C, D', ['A', 'B', 'C', 'D']],
    ['A & B, C', ['A', 'B', 'C']],
    ['Calvin Harris, Dua Lipa', ['Calvin Harris', 'Dua Lipa']],
    ['Crosby, Stills, Nash & Young', ['Crosby', 'Stills', 'Nash', 'Young']],
    ['Earth, Wind & Fire', ['Earth', 'Wind', 'Fire']],
    ['Sammy Davis, Jr., Frank Sinatra', ['Sammy Davis Jr.', 'Frank Sinatra']],
    ['A, The B & C feat. D', ['A', 'The B', 'C', 'D']],
    ['Beatles, The, Alpha Beta', ['The Beatles', 'Alpha Beta']]
  ]
  test.for(lists)('separates %j into %j', ([text, artists]) => {
    const keys = artistKeys(text)
    for (const artist of artists)
      expect([artist, keys.includes(artistKeys('', [artist])[0] ?? -1)]).toEqual([artist, true])
    expect(keys).not.toContain(titleKey('the'))
  })

  test('in the name of a band that a file lists is that of a text with only the band', () => {
    expect(artistKeys('Earth, Wind & Fire')).toContain(artistKeys('', ['Earth, Wind & Fire', 'Alpha'])[0])
  })

  test('never makes artists clash because of an article or suffix', () => {
    const word = fc.stringMatching(/^[A-Z][a-z]{4,9}$/)
    const tail = fc.constantFrom('The', 'the', 'Die', 'Les', 'Jr.', 'Jr', 'Sr.', 'III', 'PhD')
    const more = fc.constantFrom('', ' & ', ' feat. ', '; ', ' vs. ', ', ')
    const artist = fc.tuple(word, tail, more, word)
    fc.assert(
      fc.property(artist, artist, (one, other) => {
        fc.pre(new Set([one[0], one[3], other[0], other[3]]).size === 4)
        const write = ([name, end, join, second]: typeof one) =>
          `${name}, ${end}${join === '' ? '' : join + second}`
        expect(clash(write(one), write(other))).toBe(false)
      })
    )
  })
})

/** A word that does not separate artists. */
const word = fc
  .stringMatching(/^[A-Za-z][A-Za-z/.]{0,7}$/)
  .filter(text => !/^(feat|ft|featuring|vs|with)\.?$/i.test(text))

describe('the artists that a file lists', () => {
  test('are taken as they are, each in one form', () => {
    const listed = ['Tom & Ann', 'A, B & C', 'AC/DC', 'Alpha / Beta', 'Beatles, The', ' alpha ', 'ALPHA', '']
    const keys = artistKeys('Displayed feat. Text', listed)
    expect(keys).toHaveLength(6)
    expect(keys).toEqual([
      titleKey('Tom & Ann'),
      ...artistKeys('', ['A, B & C']),
      ...['AC/DC', 'Alpha / Beta', 'The Beatles', 'Alpha'].map(titleKey)
    ])
  })

  test('clash with the same artists in texts', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), words => {
        const name = words.join(' ')
        expect(artistKeys(name)).toEqual(artistKeys('', [name]))
      })
    )
  })
})

describe('a key', () => {
  test('is a whole number of 52 bits, the same for every composition of characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), text => {
        const keys = [titleKey(text), songKey(computeSongId(text)), ...artistKeys(text)]
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
    expect(songKey(computeSongId(formatSongText('Foo Fighters', 'Everlong')))).toBe(0x06598a6bdf42b)
    expect(songKey('ffffffffffffffffffffffffffffffff')).toBe(2 ** 52 - 1)
  })
})
