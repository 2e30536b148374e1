import { expect, test } from 'vitest'

import { parseLibraryPath } from '../../../../src/model/songs/library-path.ts'

test.for<[text: string, folder: string | null, path: string]>([
  ['a.mp3', null, 'a.mp3'],
  ['./a//b/./c.mp3', null, 'a/b/c.mp3'],
  [' a.mp3', null, ' a.mp3'],
  ['a..b/..c.mp3', null, 'a..b/..c.mp3'],
  ['Part 1: x.mp3', null, 'Part 1: x.mp3'],
  ['/srv/media/a.mp3', '/srv/media', '/srv/media/a.mp3'],
  ['HTTP://Example.com:80/a b?c#d', null, 'http://example.com/a%20b?c#d']
])('%j with the folder %j is kept as %j', ([text, folder, path]) => {
  expect(parseLibraryPath(text, folder)).toEqual({ path })
})

test.for<[text: string, folder: string | null]>([
  ['/srv/media/a.mp3', null],
  ['/srv/mediab/a.mp3', '/srv/media'],
  ['/srv/media', '/srv/media'],
  ['/srv/media/../a.mp3', '/srv/media'],
  ['../a.mp3', null],
  ['a/..', null],
  ['a/', null],
  ['.', null],
  ['a\u0000', null],
  ['a\n', null],
  ['\uD800', null],
  ['process:rm -rf', null],
  ['C:\\a.mp3', null],
  ['ftp://example.com/a.mp3', null],
  ['http://', null],
  ['http://user@example.com/a.mp3', null],
  ['x'.repeat(2_001), null]
])('%j with the folder %j names no song', ([text, folder]) => {
  expect(parseLibraryPath(text, folder)).toHaveProperty('problem')
})
