import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseRemoteList } from '../../../../src/model/songs/remote-list.ts'
import { anyText, anyWebUrl } from '../../../support/any-text.ts'

const address = 'https://radio.example/lists/night/all.m3u?token=x'
const read = (text: string) => parseRemoteList(Buffer.from(text), address)

/** The songs of a valid list. */
function songsOf(text: string) {
  const list = read(text)
  if ('problem' in list) throw new Error(list.problem)
  return list.songs
}
const pathsOf = (text: string) => songsOf(text).map(({ path }) => path)

test('an M3U returns URLs, artists, titles and lengths in order', () => {
  expect(
    songsOf(
      '#EXTM3U\n#EXTINF:215,Lena - Light\nhttps://cdn.example/b.mp3\n#EXTINF:-1,Night Talk\nhttps://cdn.example/a.mp3\n' +
        'https://cdn.example/last%20song.mp3\n'
    )
  ).toMatchObject([
    { path: 'https://cdn.example/b.mp3', artist: 'Lena', title: 'Light', durationMs: 215_000 },
    { path: 'https://cdn.example/a.mp3', artist: '', title: 'Night Talk', durationMs: 0 },
    { path: 'https://cdn.example/last%20song.mp3', artist: '', title: 'last song', durationMs: 0 }
  ])
})

test('a PLS returns the same', () => {
  expect(
    songsOf(
      '[playlist]\nFile2=b.mp3\nTitle2=Lena - Light\nLength2=215\nFile1=/a.mp3\nLength1=-1\nNumberOfEntries=2\n'
    )
  ).toMatchObject([
    { path: 'https://radio.example/a.mp3', artist: '', title: 'a', durationMs: 0 },
    {
      path: 'https://radio.example/lists/night/b.mp3',
      artist: 'Lena',
      title: 'Light',
      durationMs: 215_000
    }
  ])
})

describe('an entry is resolved against the URL of its list', () => {
  test.for([
    ['song.mp3', 'https://radio.example/lists/night/song.mp3'],
    ['../song.mp3', 'https://radio.example/lists/song.mp3'],
    ['../../../../song.mp3', 'https://radio.example/song.mp3'],
    ['/top/song.mp3', 'https://radio.example/top/song.mp3'],
    ['//other.example/song.mp3', 'https://other.example/song.mp3'],
    ['Disc 1\\Größe.mp3', 'https://radio.example/lists/night/Disc%201/Gr%C3%B6%C3%9Fe.mp3'],
    ['?id=7.mp3', 'https://radio.example/lists/night/all.m3u?id=7.mp3'],
    ['HTTP://Other.Example:80/a b.mp3', 'http://other.example/a%20b.mp3'],
    ['http://other.example:8000/stream', 'http://other.example:8000/stream']
  ] as const)('%s: %s', ([location, path]) => {
    expect(pathsOf(`#EXTM3U\n${location}`)).toEqual([path])
  })
})

describe('an entry is skipped', () => {
  test.for([
    'C:\\Music\\a.mp3',
    'file:///srv/a.mp3',
    'rtsp://example.com/a.mp3',
    'ftp://example.com/a.mp3',
    'annotate:title="x":http://example.com/a.mp3',
    'javascript:alert(1)//.mp3',
    'http://user:secret@example.com/a.mp3',
    'http://',
    'https://exa mple.com/a.mp3'
  ])('%s', location => {
    const list = `#EXTM3U\n#EXTINF:1,Bad\n${location}\n#EXTINF:2,Good\ngood.mp3\n`
    expect(songsOf(list)).toMatchObject([
      { path: 'https://radio.example/lists/night/good.mp3', title: 'Good', durationMs: 2_000 }
    ])
    const alone = read(`#EXTM3U\n${location}\n`)
    expect(alone).toEqual({ problem: 'The list cannot be used: it contains no http(s) URL.' })
  })
})

test('a URL that is too long is skipped', () => {
  const long = `https://example.com/${'x'.repeat(2_000)}.mp3`
  expect(pathsOf(`${long}\nhttps://example.com/a.mp3`)).toEqual(['https://example.com/a.mp3'])
})

test('a repeated URL counts once, at its first place', () => {
  expect(songsOf('#EXTM3U\n#EXTINF:1,First\na.mp3\nb.mp3\n#EXTINF:2,Again\n./x/../a.mp3\n')).toMatchObject([
    { title: 'First' },
    { title: 'b' }
  ])
})

test('at most 5,000 URLs are used', () => {
  const lines = Array.from({ length: 5_010 }, (_, index) => `song-${index}.mp3\nsong-0.mp3`)
  const paths = pathsOf(lines.join('\n'))
  expect(paths.length).toBe(5_000)
  expect(paths.at(-1)).toBe('https://radio.example/lists/night/song-4999.mp3')
})

test.for([
  ['', 'it is empty'],
  ['#EXTM3U\n', 'it has no entries'],
  ['<!doctype html><title>Not found</title>', 'it is not a playlist (no line names an audio file)'],
  ['ID3\0\0\0', 'it is not a playlist (not a text file)'],
  ['#EXTM3U\n#EXT-X-VERSION:3\nchunk.ts', 'it is an HLS stream, not a list of songs']
] as const)('%j is not a list', ([text, reason]) => {
  expect(read(text)).toEqual({ problem: `The list cannot be used: ${reason}.` })
})

test('the result is a problem or distinct normalized http(s) URLs', () => {
  const line = fc.oneof(
    anyText(),
    anyWebUrl,
    fc.string().map(text => `${text}.mp3`),
    fc.constantFrom('#EXTM3U', '#EXTINF:12,A - B', '[playlist]', 'File1=a.mp3', 'Length1=5', 'Title1=x')
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), lines => {
      const list = read(lines.join('\n'))
      if ('problem' in list) return /^The list cannot be used: .+\.$/.test(list.problem)
      const paths = list.songs.map(({ path }) => path)
      expect(new Set(paths).size).toBe(paths.length)
      for (const path of paths) expect(path).toMatch(/^https?:\/\//)
      expect(pathsOf(`#EXTM3U\n${paths.join('\n')}`)).toEqual(paths)
      return true
    })
  )
})
