import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { pickSongArtists } from '../../../../src/library/media/tags/artists.ts'
import { collectTagTexts } from '../../../../src/library/media/tags/named-tags.ts'

const read = (...blocks: readonly Readonly<Record<string, readonly string[]>>[]) =>
  pickSongArtists(
    blocks.map(block =>
      collectTagTexts({
        tags: Object.entries(block).flatMap(([id, texts]) => texts.map(text => ({ id, text })))
      })
    )
  )

test('one text is no list', () => {
  expect(read({ TPE1: ['AC/DC'] })).toEqual({ artist: 'AC/DC', artists: [] })
  expect(read({ ARTIST: ['Anna'], ARTISTS: ['Anna'] })).toEqual({ artist: 'Anna', artists: [] })
  expect(read({})).toEqual({ artist: '', artists: [] })
})

test('the first of several values is displayed', () => {
  expect(read({ ARTIST: ['Anna', 'Bert', 'Anna', ' '] })).toEqual({
    artist: 'Anna',
    artists: ['Anna', 'Bert']
  })
})

test('a list without a text is joined', () => {
  expect(read({ ARTISTS: ['Anna', 'Bert'] }).artist).toBe('Anna & Bert')
  expect(read({ ARTISTS: ['Anna', 'Bert', 'Carl'] }).artist).toBe('Anna, Bert & Carl')
})

test('a list of another kind of tags counts if the displayed text contains its names', () => {
  const list = { Artist: ['Anna', 'Bert'] }
  expect(read({ TPE1: ['Anna/Bert'] }, list)).toEqual({ artist: 'Anna/Bert', artists: ['Anna', 'Bert'] })
  expect(read({ TPE1: ['Carl'] }, list)).toEqual({ artist: 'Carl', artists: [] })
})

test('there are at most 20 artists', () => {
  expect(read({ ARTIST: Array.from({ length: 60 }, (_, index) => `Artist ${index}`) }).artists).toHaveLength(
    20
  )
})

test('names that the displayed text contains are never cut at a slash', () => {
  const anyName = fc.stringMatching(/^[A-C]{1,3}(\/[A-C]{1,3})?$/)
  fc.assert(
    fc.property(fc.uniqueArray(anyName, { minLength: 1, maxLength: 4 }), names => {
      const { artists } = read({ TPE1: [names.join(' feat. ')], 'TXXX:ARTISTS': [names.join('/')] })
      const text = names.join(' feat. ')
      expect(artists.every(name => text.includes(name))).toBe(true)
    })
  )
})

test.for([
  ['Anna feat. Bert', ['Anna; Bert'], ['Anna', 'Bert']],
  ['Anna feat. Bert', ['Anna;Bert;'], ['Anna', 'Bert']],
  ['Anna & AC/DC', ['Anna; AC/DC'], ['Anna', 'AC/DC']],
  ['Beyonc\u00E9 feat. JAY-Z', ['Beyonce\u0301/Jay-Z'], ['Beyonce\u0301', 'Jay-Z']],
  ['Beyonc\u00E9 feat. JAY-Z', ['BEYONC\u00C9', 'Jay-Z'], ['BEYONC\u00C9', 'Jay-Z']],
  ['A. feat. B.', ['Anna', 'AC/DC'], ['Anna', 'AC/DC']],
  ['A. feat. B.', ['Anna; Bert'], []],
  ['A. feat. B.', ['Anna/Bert'], []]
] as const)('the list of %j in %j is %j', ([text, listed, artists]) => {
  expect(read({ TPE1: [text], 'TXXX:ARTISTS': listed })).toEqual({ artist: text, artists })
})
