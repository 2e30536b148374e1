import { expect, test } from 'vitest'

import { findSongCandidates } from '../../../../src/model/songs/entry-location.ts'

test('the literal path comes first, then the resolved ones, absolute and relative to the media folder', () => {
  expect(findSongCandidates('My%20Music\\a.mp3', null)).toEqual({
    paths: [
      'My%20Music\\a.mp3',
      '/My%20Music\\a.mp3',
      '/My%20Music/a.mp3',
      'My%20Music/a.mp3',
      '/My Music/a.mp3',
      'My Music/a.mp3'
    ],
    names: ['a.mp3'],
    url: null
  })
  expect(findSongCandidates('../a.mp3', '/srv/media')).toEqual({
    paths: ['../a.mp3', '/srv/a.mp3'],
    names: ['a.mp3'],
    url: null
  })
  expect(findSongCandidates('file:///srv/media/b/a%20b.mp3', '/srv/media').paths).toEqual([
    'file:///srv/media/b/a%20b.mp3',
    '/srv/media/b/a b.mp3',
    'b/a b.mp3'
  ])
})

test('a URL is looked up as written and normalized, and not by file name', () => {
  expect(findSongCandidates('HTTPS://Example.com/a b.mp3', null)).toEqual({
    paths: ['HTTPS://Example.com/a b.mp3', 'https://example.com/a%20b.mp3'],
    names: [],
    url: 'https://example.com/a%20b.mp3'
  })
  expect(findSongCandidates('https://user:secret@example.com/a.mp3', null).url).toBeNull()
})

test('a path of another operating system is looked up by file name', () => {
  expect(findSongCandidates('C:\\Music\\a.mp3', null)).toEqual({
    paths: ['C:\\Music\\a.mp3'],
    names: ['a.mp3'],
    url: null
  })
})

test('texts that Postgres rejects are not candidates', () => {
  expect(findSongCandidates('a\0.mp3', null)).toEqual({ paths: [], names: [], url: null })
})

test('a path that is longer than that of any song is no candidate, in bytes', () => {
  const long = `${'\u00E9'.repeat(1_000)}.mp3`
  expect(findSongCandidates(long, null)).toEqual({ paths: [], names: [], url: null })
  expect(findSongCandidates(`a/${long}`, null).paths).toEqual([])
  const fits = 'a'.repeat(2_000)
  expect(findSongCandidates(fits, null)).toEqual({ paths: [fits], names: [fits], url: null })
})
