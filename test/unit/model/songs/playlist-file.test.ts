import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { maxPlaylistBytes, parsePlaylist } from '../../../../src/model/songs/playlist-file.ts'
import { anyText } from '../../../support/any-text.ts'
import { sized } from '../../../support/tier.ts'

const parse = (text: string) => parsePlaylist(Buffer.from(text))
const bare = { durationMs: 0, artist: '', title: '' }

test('an extended M3U has lengths, artists and titles', () => {
  expect(
    parse(
      '#EXTM3U\n#PLAYLIST:Evening\n#EXTINF:123,Nils Okada - Low - Water\nlow.mp3\n\n# a comment\nbare.ogg\n'
    )
  ).toEqual({
    entries: [
      { location: 'low.mp3', durationMs: 123_000, artist: 'Nils Okada', title: 'Low - Water' },
      { location: 'bare.ogg', ...bare }
    ],
    problems: []
  })
})

describe('an EXTINF line', () => {
  test.for([
    ['#EXTINF:123.456,Title', 123_456, '', 'Title'],
    ['#EXTINF:-1,Radio', 0, '', 'Radio'],
    ['#EXTINF:0,Zero', 0, '', 'Zero'],
    ['#extinf: 5 , A - B ', 5_000, 'A', 'B'],
    ['#EXTINF:60 tvg-id="x, y" group="z",A - B', 60_000, 'A', 'B'],
    ['#EXTINF:60 tvg-id="x,A - B', 60_000, 'A', 'B'],
    ['#EXTINF:60,"Heroes", live', 60_000, '', '"Heroes", live'],
    ['#EXTINF:60', 60_000, '', ''],
    ['#EXTINF:1e99,Long', 1_000, '', 'Long'],
    ['#EXTINF:99999999999,Long', 0, '', 'Long'],
    ['#EXTINF:,None', 0, '', 'None']
  ] as const)('%s', ([line, durationMs, artist, title]) => {
    expect(parse(`${line}\na.mp3`).entries).toEqual([{ location: 'a.mp3', durationMs, artist, title }])
  })
})

test('lines end in LF, CRLF or CR', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    expect(parse(['#EXTM3U', 'a.mp3', 'b.mp3'].join(end)).entries.map(entry => entry.location)).toEqual([
      'a.mp3',
      'b.mp3'
    ])
  }
})

describe('the encoding is detected', () => {
  const text = '#EXTM3U\n#EXTINF:1,Beyonc\u00E9 - D\u00E9j\u00E0 Vu\nd\u00E9j\u00E0.mp3\n'
  const bigEndian = Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()
  test.for([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${text}`)],
    ['UTF-16, little end first', Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['UTF-16, big end first', bigEndian],
    ['UTF-16, little end first, without a mark', Buffer.from(text, 'utf16le')],
    ['UTF-16, big end first, without a mark', bigEndian.subarray(2)],
    ['Latin-1', Buffer.from(text, 'latin1')]
  ] as const)('%s', ([, bytes]) => {
    expect(parsePlaylist(bytes)).toEqual({
      entries: [
        {
          location: 'd\u00E9j\u00E0.mp3',
          durationMs: 1_000,
          artist: 'Beyonc\u00E9',
          title: 'D\u00E9j\u00E0 Vu'
        }
      ],
      problems: []
    })
  })

  test.for(['\u00FFber.mp3', 'a\u00FE.mp3', '\u00FEa.mp3', 'a\u00FF.mp3'])(
    'one byte of a byte order mark is a letter: %s',
    location => {
      expect(parsePlaylist(Buffer.from(location, 'latin1')).entries).toEqual([{ location, ...bare }])
    }
  )

  test('windows-1252', () => {
    const bytes = Buffer.from('#EXTM3U\n\x93Quoted\x94.mp3', 'latin1')
    expect(parsePlaylist(bytes).entries[0]?.location).toBe('\u201CQuoted\u201D.mp3')
  })
})

describe('a PLS entry with the artist in a line of its own', () => {
  test.for([
    ['Artist1=Nils Okada\nTitle1=Low - Water', 'Nils Okada', 'Low - Water'],
    ['title1=Nils Okada - Low\nARTIST1 = Nils Okada', 'Nils Okada', 'Low'],
    ['Artist1=\nTitle1=Nils Okada - Low', 'Nils Okada', 'Low'],
    ['Artist2=Nobody\nTitle1=Low', '', 'Low'],
    ['Artist1=Nils Okada', 'Nils Okada', '']
  ] as const)('%j', ([lines, artist, title]) => {
    expect(parse(`[playlist]\nFile1=a.mp3\n${lines}\n`)).toEqual({
      entries: [{ location: 'a.mp3', durationMs: 0, artist, title }],
      problems: []
    })
  })
})

test('a PLS is sorted by number, regardless of the order and case of its lines', () => {
  const { entries, problems } = parse(
    '[Playlist]\r\nlength2=-1\r\nTITLE10=Last\r\nFile10=c.mp3\r\nfile2=http://example.com/x\r\n' +
      'File1=a.mp3\r\nTitle1=A - B\r\nLength1=61\r\nNumberOfEntries=3\r\nVersion=2\r\n'
  )
  expect(problems).toEqual([])
  expect(entries).toEqual([
    { location: 'a.mp3', durationMs: 61_000, artist: 'A', title: 'B' },
    { location: 'http://example.com/x', ...bare },
    { location: 'c.mp3', ...bare, title: 'Last' }
  ])
})

describe('a file that is not a playlist has one problem', () => {
  test.for([
    ['', 'it is empty'],
    [' \n\n', 'it is empty'],
    ['Dear diary,\ntoday I heard a song.', 'it is not a playlist (no line names an audio file)'],
    ['ID3\0\0\0', 'it is not a playlist (not a text file)'],
    ['#EXTM3U\n', 'it has no entries'],
    ['[playlist]\nNumberOfEntries=0', 'it has no entries'],
    ['#EXTM3U\n#EXT-X-TARGETDURATION:10\n', 'it is an HLS stream, not a list of songs']
  ] as const)('%j', ([text, problem]) => {
    expect(parse(text)).toEqual({ entries: [], problems: [problem] })
  })
})

test('a list without a header reports lines that are not audio files', () => {
  expect(parse('a.mp3\nsome words\nhttps://example.com/live\n')).toEqual({
    entries: [
      { location: 'a.mp3', ...bare },
      { location: 'https://example.com/live', ...bare }
    ],
    problems: ['line 2 names no audio file']
  })
})

test('bytes, entries, line length and problems are limited', () => {
  expect(parsePlaylist(new Uint8Array(maxPlaylistBytes + 1)).problems).toEqual(['it is larger than 10 MiB'])
  const many = parse(`#EXTM3U\n${'a.mp3\n'.repeat(50_001)}`)
  expect(many.entries.length).toBe(50_000)
  expect(many.problems).toEqual(['only the first 50000 entries are read'])
  const long = parse(`#EXTM3U\n${'x'.repeat(4_097)}\na.mp3`)
  expect(long.entries.map(entry => entry.location)).toEqual(['a.mp3'])
  expect(long.problems).toEqual(['line 2 is longer than 4096 characters'])
  expect(parse(`a.mp3\n${'prose\n'.repeat(1_000)}`).problems.length).toBe(101)
})

test('control characters are removed', () => {
  expect(parse('#EXTM3U\n#EXTINF:1,A\u0007 - B\u001B\na.mp3\u0001').entries).toEqual([
    { location: 'a.mp3', durationMs: 1_000, artist: 'A', title: 'B' }
  ])
})

test('it never throws, and the result is limited', () => {
  const words = fc.constantFrom(
    '#EXTM3U\n',
    '#EXTINF:',
    '12',
    ',',
    ' - ',
    '"',
    '[playlist]\n',
    'File1=',
    '=',
    '\r',
    '\n'
  )
  const text = fc.array(fc.oneof(words, anyText())).map(parts => Buffer.from(parts.join('')))
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 2_000 }), text), bytes => {
      const { entries, problems } = parsePlaylist(bytes)
      expect(entries.length + problems.length).toBeGreaterThan(0)
      expect(problems.length).toBeLessThanOrEqual(101)
      for (const entry of entries) {
        expect(entry.location.length).toBeLessThanOrEqual(4_096)
        expect(`${entry.location}${entry.artist}${entry.title}`).not.toMatch(/[\p{Cc}\p{Cs}]/u)
        expect(Array.from(entry.title).length).toBeLessThanOrEqual(255)
        expect(Number.isInteger(entry.durationMs) && entry.durationMs >= 0).toBe(true)
      }
    }),
    { numRuns: sized({ quick: 500, deep: 5_000 }) }
  )
})

describe('lines in several encodings', () => {
  const koi8 = Buffer.from([0xeb, 0xc9, 0xce, 0xcf])

  test('one foreign line does not affect the others', () => {
    const bytes = Buffer.concat([
      Buffer.from('#EXTM3U\r\nКино.mp3\r\n'),
      koi8,
      Buffer.from('.mp3\r\nЁ.mp3\r\n')
    ])
    const locations = parsePlaylist(bytes, 'koi8-r').entries.map(entry => entry.location)
    expect(locations).toEqual(['Кино.mp3', 'Кино.mp3', 'Ё.mp3'])
  })

  test('also far behind 10,000 lines of UTF-8, and in PLS', () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `File${index + 1}=Ж${index}.mp3\n`)
    const bytes = Buffer.concat([
      Buffer.from(`[playlist]\n${lines.join('')}File20001=`),
      Buffer.from('Caf\xE9.mp3\n', 'latin1'),
      Buffer.from('File20002=Ж.mp3\n')
    ])
    const locations = parsePlaylist(bytes).entries.map(entry => entry.location)
    expect(locations.slice(-3)).toEqual(['Ж19999.mp3', 'Café.mp3', 'Ж.mp3'])
  })
})
