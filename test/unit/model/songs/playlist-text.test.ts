import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { findSongCandidates } from '../../../../src/model/songs/entry-location.ts'
import {
  type ListedSong,
  parsePlaylist,
  type PlaylistFileFormat,
  renderPlaylistFile
} from '../../../../src/model/songs/playlist-file.ts'
import { anyText } from '../../../support/any-text.ts'
import { sized } from '../../../support/tier.ts'

const formats: PlaylistFileFormat[] = ['m3u', 'pls']

const aSong = (parts: Partial<ListedSong> = {}): ListedSong => ({
  path: 'ishizaka/aria.mp3',
  artist: 'Kimiko Ishizaka',
  title: 'Aria',
  durationMs: 300_999,
  ...parts
})

test('an M3U has whole seconds and song texts', () => {
  expect(
    renderPlaylistFile('m3u', [
      aSong(),
      aSong({ path: 'https://example.com/b.mp3', artist: '', durationMs: 0 })
    ])
  ).toBe(
    '#EXTM3U\n#EXTINF:300,Kimiko Ishizaka - Aria\nishizaka/aria.mp3\n#EXTINF:-1,Aria\nhttps://example.com/b.mp3\n'
  )
})

test('a PLS counts its entries', () => {
  expect(renderPlaylistFile('pls', [aSong()])).toBe(
    '[playlist]\nFile1=ishizaka/aria.mp3\nTitle1=Kimiko Ishizaka - Aria\nLength1=300\nNumberOfEntries=1\nVersion=2\n'
  )
})

test('a title cannot add lines', () => {
  for (const format of formats) {
    const text = renderPlaylistFile(format, [
      aSong({ title: 'a\r\nhttps://evil.example/x.mp3\u2028#EXT-X-ENDLIST' })
    ])
    expect(parsePlaylist(Buffer.from(text)).entries.map(({ location }) => location)).toEqual([
      'ishizaka/aria.mp3'
    ])
  }
})

const odd = fc.oneof(
  anyText({ minLength: 1, maxLength: 60 }).map(text => text.replace(/\0|\p{Surrogate}/gu, '') || 'x'),
  fc.constantFrom(
    '#EXT-X-ENDLIST',
    '#aria.mp3',
    ' blank at both ends ',
    'file1=x.mp3',
    '[playlist]',
    'a\r\nb.mp3',
    '50%20off.mp3',
    'back\\slash.mp3',
    '\uFEFFmark.mp3',
    'a\u2028b.mp3',
    'é, "quoted" - x.mp3'
  )
)
/** Normalized: without parent folders, and not the folder itself. */
const path = odd.map(text => `music/${text.replaceAll('/', '_')}x`)
const bare = odd.map(text => text.replaceAll('/', '_').replace(/^\.+/, '_'))
const oddSong = fc.record({
  path: fc.oneof(path, bare),
  artist: odd,
  title: odd,
  durationMs: fc.integer({ min: 0, max: 2_000_000 })
})

describe.for(formats)('a playlist rendered as %s', format => {
  test('is parsed to the same paths in the same order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(oddSong, { maxLength: 8, selector: song => song.path }), songs => {
        const { entries } = parsePlaylist(Buffer.from(renderPlaylistFile(format, songs)))
        const library = new Set(songs.map(song => song.path))
        const found = entries.map(({ location }) =>
          findSongCandidates(location, null).paths.find(candidate => library.has(candidate))
        )
        expect(found).toEqual(songs.map(song => song.path))
      }),
      { numRuns: sized({ quick: 250, deep: 4_000 }) }
    )
  })
})
