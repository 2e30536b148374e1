import { expect, test } from 'vitest'

import { candidatesOf } from '../../../src/songs/location.ts'

test('what is literally written comes first, then what it stands for, above and below the media folder', () => {
  expect(candidatesOf('My%20Music\\a.mp3', null)).toEqual({
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
  expect(candidatesOf('../a.mp3', '/srv/media')).toEqual({
    paths: ['../a.mp3', '/srv/a.mp3'],
    names: ['a.mp3'],
    url: null
  })
  expect(candidatesOf('file:///srv/media/b/a%20b.mp3', '/srv/media').paths).toEqual([
    'file:///srv/media/b/a%20b.mp3',
    '/srv/media/b/a b.mp3',
    'b/a b.mp3'
  ])
})

test('an address is known as it is written and as a library keeps it, and by no file name', () => {
  expect(candidatesOf('HTTPS://Example.com/a b.mp3', null)).toEqual({
    paths: ['HTTPS://Example.com/a b.mp3', 'https://example.com/a%20b.mp3'],
    names: [],
    url: 'https://example.com/a%20b.mp3'
  })
  expect(candidatesOf('https://user:secret@example.com/a.mp3', null).url).toBeNull()
})

test('a path of another kind of machine is known by its file name', () => {
  expect(candidatesOf('C:\\Music\\a.mp3', null)).toEqual({
    paths: ['C:\\Music\\a.mp3'],
    names: ['a.mp3'],
    url: null
  })
})

test('what no database takes is no candidate', () => {
  expect(candidatesOf('a\0.mp3', null)).toEqual({ paths: [], names: [], url: null })
})
