import { expect, test } from 'vitest'

import { addNumberToPath, parseLibraryPath } from '../../../../src/model/songs/library-path.ts'

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

test.for<[path: string, name: string]>([
  ['a/b.mp3', 'a/b (2).mp3'],
  ['b', 'b (2)'],
  [`a/${'x'.repeat(251)}.mp3`, `a/${'x'.repeat(247)} (2).mp3`],
  // Neither a code unit, a code point, a mark nor a joined emoji is cut off.
  [`${'ü'.repeat(125)}x.mp3`, `${'ü'.repeat(123)} (2).mp3`],
  [`${'x'.repeat(247)}👩‍🚀.mp3`, `${'x'.repeat(247)} (2).mp3`],
  [`${'x'.repeat(240)}👩‍🚀.mp3`, `${'x'.repeat(240)} (2).mp3`],
  [`${'x'.repeat(246)}u\u0308.mp3`, `${'x'.repeat(246)} (2).mp3`],
  [`${'x'.repeat(246)} yyy.mp3`, `${'x'.repeat(246)} (2).mp3`]
])('the file of %j with a number is %j', ([path, numbered]) => {
  expect(addNumberToPath(path, 2)).toBe(numbered)
  for (const number of [2, 10, 1_000])
    expect(Buffer.byteLength(addNumberToPath(path, number).split('/').at(-1) ?? '')).toBeLessThanOrEqual(255)
})
