import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  buildMusicBrainzUrl,
  escapeLuceneQuery,
  parseReleaseGroups
} from '../../../../src/library/covers/search.ts'
import { artistKeys, titleKey } from '../../../../src/model/songs/duplicate-keys.ts'
import { anyText } from '../../../support/any-text.ts'

const groupId = (number: number) => `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`

const song = { artist: 'Ola Berg', title: 'Fjord' }

const release = (number: number, given: { date?: string; status?: string; group?: object } = {}) => {
  const { date = '2001', status = 'Official', group = {} } = given
  return { date, status, 'release-group': { id: groupId(number), 'primary-type': 'Album', ...group } }
}

const recording = (given: object = {}) => ({
  score: 100,
  title: 'Fjord',
  'artist-credit': [{ name: 'Ola Berg' }],
  releases: [release(1)],
  ...given
})

const find = (recordings: unknown, searched = song) =>
  parseReleaseGroups(JSON.stringify({ recordings }), searched)

describe('a query', () => {
  test('names artist and title', () => {
    const url = new URL(
      buildMusicBrainzUrl('https://musicbrainz.org', { artist: 'AC/DC', title: 'Why "Now"?' })
    )
    expect(url.origin + url.pathname).toBe('https://musicbrainz.org/ws/2/recording')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      query: String.raw`artist:"AC\/DC" AND recording:"Why \"Now\"\?"`,
      fmt: 'json',
      limit: '5'
    })
  })

  test('cannot contain syntax from a title', () => {
    fc.assert(
      fc.property(anyText(), text => {
        const escaped = escapeLuceneQuery(text)
        expect(escaped.replace(/\\(.)/gsu, '$1')).toBe(text)
        expect(escaped.replace(/\\./gsu, '')).not.toMatch(/[-+&|!(){}[\]^"~*?:\\/]/)
      })
    )
  })

  test('survives the URL', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 200 }), anyText({ maxLength: 200 }), (artist, title) => {
        const { searchParams, hash } = new URL(buildMusicBrainzUrl('http://127.0.0.1', { artist, title }))
        const query = `artist:"${escapeLuceneQuery(artist)}" AND recording:"${escapeLuceneQuery(title)}"`
        expect([searchParams.get('query'), searchParams.size, hash]).toEqual([query, 3, ''])
      })
    )
  })
})

describe('a recording is the song', () => {
  const table: [what: string, given: object, searched?: typeof song][] = [
    ['with the same texts', {}],
    ['with the minimum score', { score: 90 }],
    ['in another case, with other spaces', { title: ' FJORD ', 'artist-credit': [{ name: 'OLA  berg' }] }],
    [
      'with typographic punctuation',
      { title: 'Don’t “Go” – Now…', 'artist-credit': [{ name: 'Sinéad O’Connor' }] },
      { artist: "Sinéad O'Connor", title: 'Don\'t "Go" - Now...' }
    ],
    [
      'with several artists in any order',
      {
        'artist-credit': [
          { name: 'Ann', joinphrase: ' feat. ' },
          { name: 'Tom', joinphrase: '' }
        ]
      },
      { artist: 'Tom & Ann', title: 'Fjord' }
    ],
    [
      'of a band with a name like two artists',
      { 'artist-credit': [{ name: 'Simon & Garfunkel' }] },
      {
        artist: 'Simon & Garfunkel',
        title: 'Fjord'
      }
    ]
  ]
  test.for(table)('%s', ([, given, searched]) => {
    expect(find([recording(given)], searched)).toEqual([groupId(1)])
  })
})

describe('a recording is not the song', () => {
  const table: [what: string, given: object, searched?: typeof song][] = [
    ['with a low score', { score: 89 }],
    ['with another title', { title: 'Fjord (live)' }],
    ['with another artist', { 'artist-credit': [{ name: 'Ola' }] }],
    ['with one artist more', { 'artist-credit': [{ name: 'Ola Berg', joinphrase: ' & ' }, { name: 'Ann' }] }],
    ['with one artist less', {}, { artist: 'Ola Berg & Ann', title: 'Fjord' }],
    ['without artists', { 'artist-credit': [] }, { artist: ';', title: 'Fjord' }],
    ['without a title', { title: ' ' }, { artist: 'Ola Berg', title: ' ' }],
    ['without releases', { releases: null }],
    ['with an id that is not one', { releases: [release(1, { group: { id: '../../x' } })] }],
    ['with a score of another type', { score: '100' }]
  ]
  test.for(table)('%s', ([, given, searched]) => {
    expect(find([recording(given)], searched)).toEqual([])
  })
})

test('official albums, singles and EPs come before others, then earlier ones; at most three', () => {
  const releases = [
    release(1, { status: 'Bootleg', date: '1990' }),
    release(2, { group: { 'secondary-types': ['Compilation'] }, date: '1991' }),
    release(3, { group: { 'primary-type': 'Other' }, date: '1992' }),
    release(4, { date: '' }),
    release(5, { date: '2003-02-01' }),
    release(6, { date: '2003', group: { 'primary-type': 'Single' } }),
    release(5, { date: '1980', status: 'Promotion' })
  ]
  expect(find([recording({ releases: releases.slice(0, 3) })])).toEqual([3, 2, 1].map(groupId))
  expect(find([recording({ releases })])).toEqual([6, 5, 4].map(groupId))
  expect(find(releases.map(each => recording({ releases: [each] })))).toEqual([6, 5, 4].map(groupId))
})

test('invalid records are ignored', () => {
  const releases = [null, 7, {}, { 'release-group': {} }, release(2)]
  expect(find([null, [], {}, recording({ title: 7 }), recording({ releases })])).toEqual([groupId(2)])
})

test('text that is not a search result is recognized, and any text is read', () => {
  for (const text of ['', 'no', '<html>', 'null', '[]', '{}', '{"recordings":{}}'])
    expect(parseReleaseGroups(text, song)).toBeNull()
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), text => {
      expect(parseReleaseGroups(text, song)).toBeNull()
      expect(parseReleaseGroups(`{"recordings":[${text}]}`, song)).toEqual([])
    })
  )
})

test('every song is found by its own text', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 30 }), anyText({ maxLength: 30 }), (artist, title) => {
      const found = find([recording({ title, 'artist-credit': [{ name: artist }] })], { artist, title })
      const isNamed = titleKey(title) !== 0 && artistKeys(artist).length > 0
      expect(found).toEqual(isNamed ? [groupId(1)] : [])
    })
  )
})
