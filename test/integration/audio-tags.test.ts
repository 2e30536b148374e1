import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'

import { describe, expect, test } from 'vitest'

import { readAudioFile } from '../../src/library/media/audio-file.ts'
import { id3Frame, mp3, txxx, wav } from '../support/audio-bytes.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

async function read(...parts: readonly Buffer[]) {
  const path = join(await scratchFolder(), 'song.mp3')
  await writeFile(path, Buffer.concat(parts))
  return readAudioFile(path, ['/'])
}

const latin = (text: string) => Buffer.from(text, 'latin1')
const be = (value: number) => Buffer.from([24, 16, 8, 0].map(shift => (value >>> shift) & 0xff))
const le = (value: number) => Buffer.from([0, 8, 16, 24].map(shift => (value >>> shift) & 0xff))
const synchsafe = (size: number) => Buffer.from([21, 14, 7, 0].map(shift => (size >> shift) & 0x7f))
const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
const audio = mp3({}, 40).subarray(10)
const name = 'Mot\u00F6rhead'
const plain = latin(`\0${name}`)

function id3(version: number, flags: number, ...frames: readonly Buffer[]): Buffer {
  const body = Buffer.concat(frames)
  return Buffer.concat([Buffer.from([0x49, 0x44, 0x33, version, 0, flags]), synchsafe(body.length), body])
}

/** A frame of ID3v2.4. */
function frame4(id: string, content: Buffer, flags = 0, size = synchsafe(content.length)): Buffer {
  return Buffer.concat([latin(id), size, Buffer.from([0, flags]), content])
}

function flagged(id: string, flags: number, content: Buffer): Buffer {
  const frame = id3Frame(id, content)
  frame[9] = flags
  return frame
}

const support = (file: string) => readFile(new URL(`../support/audio/${file}`, import.meta.url))

describe('the artist of ID3v2', () => {
  const compressed = Buffer.concat([be(plain.length), deflateSync(plain)])
  test.for([
    ['in UTF-16', id3(3, 0, id3Frame('TPE1', Buffer.concat([latin('\u0001'), utf16(name)])))],
    ['in UTF-8 that claims to be Latin-1', id3(3, 0, id3Frame('TPE1', Buffer.from(`\0${name}`)))],
    ['in windows-1252 that claims to be UTF-8', id3(4, 0, frame4('TPE1', latin(`\u0003${name}`)))],
    [
      'in UTF-16 that claims to be Latin-1',
      id3(3, 0, id3Frame('TPE1', Buffer.concat([latin('\0'), utf16(name)])))
    ],
    ['in a compressed frame', id3(3, 0, flagged('TPE1', 0x80, compressed))],
    ['in a group', id3(3, 0, flagged('TPE1', 0x20, Buffer.concat([latin('\u0007'), plain])))],
    ['in a frame that iTunes named', id3(3, 0, id3Frame('TP1\0', plain))],
    [
      'after sizes that iTunes wrote',
      id3(4, 0, id3Frame('USLT', latin(`\0eng\0${'La'.repeat(200)}`)), id3Frame('TPE1', plain))
    ],
    ['after an extended header', id3(3, 0x40, be(6), Buffer.alloc(6), id3Frame('TPE1', plain))],
    [
      'in the second of two tags',
      Buffer.concat([id3(3, 0, Buffer.alloc(20)), id3(3, 0, id3Frame('TPE1', plain))])
    ],
    [
      'in a tag that claims to be larger than the file',
      Buffer.concat([latin('ID3\u0003\0\0\0\u007F\0\0'), id3Frame('TPE1', plain)])
    ]
  ] as const)('%s', async ([, tag]) => {
    expect(await read(tag, audio)).toMatchObject({ artist: name, artists: [] })
  })

  test('in a tag that is unsynchronised as a whole', async () => {
    const text = Buffer.concat([latin('\u0001'), utf16('\u00FF\u00E0')])
    const body = Buffer.from(
      [...id3Frame('TPE1', text)].flatMap(byte => (byte === 0xff ? [0xff, 0] : [byte]))
    )
    const tag = Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 3, 0, 0x80]), synchsafe(body.length), body])
    expect((await read(tag, audio)).artist).toBe('\u00FF\u00E0')
  })
})

describe('a slash is part of a name', () => {
  test.for([2, 3, 4] as const)('in ID3v2.%i', async version => {
    const short = Buffer.concat([latin('TP1'), be(6).subarray(1), latin('\0AC/DC')])
    const frame = version === 2 ? short : id3Frame('TPE1', latin('\0AC/DC'))
    expect(await read(id3(version, 0, frame), audio)).toMatchObject({ artist: 'AC/DC', artists: [] })
  })

  test('and separates the names of a list that the text contains', async () => {
    const tag = id3(3, 0, id3Frame('TPE1', latin('\0AC/DC feat. Anna')), txxx('ARTISTS', 'AC/DC/Anna'))
    expect(await read(tag, audio)).toMatchObject({ artist: 'AC/DC feat. Anna', artists: ['AC/DC', 'Anna'] })
  })
})

describe('a list of artists', () => {
  const expected = { artist: 'Anna', artists: ['Anna', 'AC/DC'] }
  test.for([
    [
      'ID3v2.3 in UTF-16',
      id3(3, 0, id3Frame('TPE1', Buffer.concat([latin('\u0001'), utf16('Anna\0'), utf16('AC/DC')])))
    ],
    ['ID3v2.3 in Latin-1', id3(3, 0, id3Frame('TPE1', latin('\0Anna\0AC/DC')))],
    ['ID3v2.4 in UTF-8', id3(4, 0, frame4('TPE1', latin('\u0003Anna\0AC/DC\0')))],
    ['several frames', id3(3, 0, id3Frame('TPE1', latin('\0Anna')), id3Frame('TPE1', latin('\0AC/DC')))]
  ] as const)('in %s', async ([, tag]) => {
    expect(await read(tag, audio)).toMatchObject(expected)
  })

  test('in Opus, Vorbis and FLAC', async () => {
    for (const file of ['tagged.flac', 'tagged.ogg', 'tagged.opus']) {
      const bytes = await support(file)
      // Another tag of the same length becomes a second artist.
      const at = bytes.indexOf('ALBUM=Sines')
      const lower = at < 0 ? bytes.indexOf('album=Sines') : at
      bytes.write('ARTIST=Anna', lower, 'latin1')
      expect((await read(bytes)).artists.toSorted()).toEqual(['Anna', 'Test Tones'])
    }
  })
})

describe('tags at the end of an MP3', () => {
  function ape(items: Readonly<Record<string, Buffer>>): Buffer {
    const entries = Object.entries(items)
    const body = Buffer.concat(
      entries.flatMap(([key, value]) => [le(value.length), le(0), latin(`${key}\0`), value])
    )
    return Buffer.concat([
      body,
      latin('APETAGEX'),
      le(2_000),
      le(body.length + 32),
      le(entries.length),
      Buffer.alloc(12)
    ])
  }
  const id3v1 = (artist: Buffer) =>
    Buffer.concat([
      latin('TAG'),
      Buffer.alloc(30),
      Buffer.concat([artist, Buffer.alloc(30)], 30),
      Buffer.alloc(64),
      latin('\u0011')
    ])

  test('APE is read, also before ID3v1', async () => {
    const tag = ape({ Artist: latin('AC/DC\0Anna'), replaygain_track_gain: latin('-6,5') })
    for (const end of [Buffer.alloc(0), id3v1(latin('Short'))])
      expect(await read(audio, tag, end)).toMatchObject({
        artist: 'AC/DC',
        artists: ['AC/DC', 'Anna'],
        cues: { amplifyDb: -6.5 }
      })
  })

  test('ID3v1 is UTF-8 or windows-1252, and comes last', async () => {
    expect(await read(audio, id3v1(Buffer.from(name)))).toMatchObject({ artist: name, genre: 'Rock' })
    expect((await read(audio, id3v1(Buffer.from([0x93, 0x41, 0x94])))).artist).toBe('\u201CA\u201D')
    expect((await read(id3(3, 0, id3Frame('TPE1', plain)), audio, id3v1(latin('Old')))).artist).toBe(name)
  })
})

describe('WAV', () => {
  const chunk = (id: string, content: Buffer) => Buffer.concat([latin(id), le(content.length), content])
  const format = wav({}, 0).subarray(12, 36)
  const info = (text: Buffer) => chunk('LIST', Buffer.concat([latin('INFO'), chunk('IART', text)]))
  const data = chunk('data', Buffer.alloc(8_000, 0x80))

  test.for([
    ['windows-1252', Buffer.from([0x93, 0x41, 0x94, 0]), '\u201CA\u201D'],
    ['UTF-8', Buffer.from('Zo\u00EB\0\0'), 'Zo\u00EB'],
    ['UTF-16', Buffer.from('Anna B\0', 'utf16le'), 'Anna B'],
    ['UTF-16, big-endian', Buffer.from('Anna B\0', 'utf16le').swap16(), 'Anna B'],
    [
      'UTF-16 with a mark',
      Buffer.from('\uFEFF\u0410\u043B\u043B\u0430\0', 'utf16le'),
      '\u0410\u043B\u043B\u0430'
    ],
    [
      'UTF-8, before other bytes',
      Buffer.concat([Buffer.from('Zo\u00EB\0'), Buffer.from([0xff, 0xe9])]),
      'Zo\u00EB'
    ]
  ] as const)('INFO in %s', async ([, text, artist]) => {
    expect((await read(latin('RIFF\0\0\0\0WAVE'), format, info(text), data)).artist).toBe(artist)
  })

  test('INFO in the code page that the file names', async () => {
    const set = chunk('CSET', Buffer.from([0xe3, 0x04, 0, 0, 0, 0, 0, 0]))
    const text = Buffer.from([0xc0, 0xeb, 0xeb, 0xe0])
    expect((await read(latin('RIFF\0\0\0\0WAVE'), format, info(text), set, data)).artist).toBe(
      '\u0410\u043B\u043B\u0430'
    )
  })

  test('chunks of an odd size may lack their padding', async () => {
    const start = [latin('RIFF\0\0\0\0WAVE'), format]
    const odd = chunk('note', Buffer.alloc(7, 0x20))
    for (const padding of ['', '\0'])
      expect(await read(...start, odd, latin(padding), info(latin('Anna')), data)).toMatchObject({
        durationMs: 1_000,
        artist: 'Anna'
      })
  })

  test('of more than 4 GiB and from a pipe has a duration', async () => {
    const sizes = Buffer.concat([Buffer.alloc(8), le(8_000), Buffer.alloc(16)])
    const open = Buffer.concat([latin('data\u00FF\u00FF\u00FF\u00FF'), Buffer.alloc(8_000, 0x80)])
    const rf64 = [
      latin('RF64\u00FF\u00FF\u00FF\u00FFWAVE'),
      chunk('ds64', sizes),
      format,
      open,
      info(latin('Anna'))
    ]
    expect(await read(...rf64)).toMatchObject({ durationMs: 1_000, artist: 'Anna' })
    expect((await read(latin('RIFF\u00FF\u00FF\u00FF\u00FFWAVE'), format, open)).durationMs).toBe(1_000)
  })
})

test('MP4 in windows-1252 keeps its characters, and its other tags', async () => {
  const bytes = await support('tagged.m4a')
  const before = await read(bytes)
  const at = bytes.indexOf('Sines')
  const damaged = Buffer.concat([bytes.subarray(0, at), latin('Z\u00FCgel'), bytes.subarray(at + 5)])
  const { artist, title, album, genre, durationMs } = await read(damaged)
  expect(JSON.stringify({ artist, title, album, genre, durationMs })).toBe(
    JSON.stringify({
      artist: before.artist,
      title: before.title,
      album: before.album,
      genre: before.genre,
      durationMs: before.durationMs
    }).replace('Sines', 'Z\u00FCgel')
  )
  expect([artist, title, album, genre]).toContain('Z\u00FCgel')
})

describe('the duration of', () => {
  const differenceMs = (value: number, expected: number) => Math.abs(value - expected)

  test('a chain is that of all links', async () => {
    for (const file of ['tagged.ogg', 'tagged.opus']) {
      const bytes = await support(file)
      const { durationMs } = await read(bytes)
      expect(differenceMs((await read(bytes, bytes, bytes)).durationMs, 3 * durationMs)).toBeLessThan(30)
    }
  })

  test('joined and truncated MP3 files with a header is counted', async () => {
    const info = Buffer.alloc(104)
    info.set([0xff, 0xfb, 0x10, 0xc4])
    Buffer.concat([latin('Info'), be(3), be(400), be(401 * 104)]).copy(info, 21)
    const part = Buffer.concat([info, ...Array.from({ length: 400 }, () => audio.subarray(0, 104))])
    const ms = (400 * 1_152_000) / 44_100
    expect(differenceMs((await read(part)).durationMs, ms)).toBeLessThan(30)
    expect(
      differenceMs((await read(part, id3(3, 0, id3Frame('TPE1', plain)), part)).durationMs, 2 * ms)
    ).toBeLessThan(30)
    expect(differenceMs((await read(part.subarray(0, 200 * 104))).durationMs, ms / 2)).toBeLessThan(30)
  })

  test('FLAC from a pipe and of a truncated file is that of its last frame', async () => {
    const bytes = await support('tagged.flac')
    const { durationMs } = await read(bytes)
    const piped = Buffer.from(bytes)
    // The number of samples.
    piped.fill(0, 22, 26)
    piped[21] = (piped[21] ?? 0) & 0xf0
    expect(differenceMs((await read(piped)).durationMs, durationMs)).toBeLessThan(30)
    const { durationMs: short } = await read(bytes.subarray(0, bytes.lastIndexOf(Buffer.from([0xff, 0xf8]))))
    expect(short).toBeLessThan(durationMs)
    expect(short).toBeGreaterThan(durationMs / 4)
  })
})

test('tags have one name in all formats', async () => {
  const tags = [
    id3Frame('TBPM', latin('\x00128')),
    id3Frame('TPE2', latin('\0Various')),
    id3Frame('TYER', latin('\x001999')),
    txxx('My Field', 'mine'),
    id3Frame('COMM', latin('\0eng\0Hello')),
    id3Frame('WOAR', latin('http://example.com'))
  ]
  const { tags: named } = await read(id3(3, 0, ...tags), audio)
  expect(Object.fromEntries(named)).toMatchObject({
    bpm: '128',
    tbpm: '128',
    date: '1999',
    band: 'Various',
    album_artist: 'Various',
    year: '1999',
    recording_time: '1999',
    'my field': 'mine',
    comment: 'Hello',
    url_artist: 'http://example.com'
  })
})

test('RVA2 is a gain if it is about the track', async () => {
  const volume = (about: string) =>
    id3(4, 0, frame4('RVA2', Buffer.concat([latin(`${about}\0\u0001`), be(-1_024).subarray(2), latin('\0')])))
  expect((await read(volume('track'), audio)).cues.amplifyDb).toBe(-2)
  expect((await read(volume('album'), audio)).cues.amplifyDb).toBeNull()
})

test('a WAV whose header was never completed has the audio that follows', async () => {
  const bytes = wav({}, 1_000)
  const at = bytes.indexOf('data') + 4
  for (const riffSize of [0, 36, bytes.length - 8, 0xffff_ffff]) {
    const open = Buffer.from(bytes)
    open.writeUInt32LE(riffSize, 4)
    open.writeUInt32LE(0, at)
    expect((await read(open)).durationMs).toBe(1_000)
  }
  const list = Buffer.concat([latin('LIST'), le(16), latin('INFOIART'), le(4), latin('Anna')])
  await expect(read(bytes.subarray(0, at), le(0), list)).rejects.toThrow('its duration is zero')
})

test('texts of AIFF are in any encoding', async () => {
  const chunk = (id: string, content: Buffer) =>
    Buffer.concat([latin(id), be(content.length), content, Buffer.alloc(content.length % 2)])
  const common = Buffer.concat([
    Buffer.from('0001000001f400080', 'hex'),
    Buffer.from('400bfa00000000000000', 'hex')
  ])
  const chunks = [
    chunk('COMM', common),
    chunk('NAME', Buffer.from('Zo\u00EB')),
    chunk('AUTH', latin(name)),
    chunk('(c) ', latin('\u00A9 2020')),
    chunk('ANNO', Buffer.from('\u041A\u0438\u043D\u043E')),
    chunk('SSND', Buffer.alloc(8_008, 0))
  ]
  const body = Buffer.concat([latin('AIFF'), ...chunks])
  const song = await read(latin('FORM'), be(body.length), body)
  expect(song).toMatchObject({ artist: name, title: 'Zo\u00EB' })
  expect(song.tags.get('copyright')).toBe('\u00A9 2020')
  expect(song.tags.get('comment')).toBe('\u041A\u0438\u043D\u043E')
})

test('the first author of WMA is displayed, wherever the others are', async () => {
  expect(await read(await support('authors.wma'))).toMatchObject({
    artist: 'First',
    artists: ['First', 'Second']
  })
})

test('each value of a list in UTF-16 may have its own byte order', async () => {
  const swapped = Buffer.from('\uFEFFBert', 'utf16le').swap16()
  const content = Buffer.concat([latin('\u0001'), utf16('Anna'), Buffer.alloc(2), swapped, Buffer.alloc(2)])
  const tag = id3(3, 0, id3Frame('TPE1', content))
  expect(await read(tag, audio)).toMatchObject({ artist: 'Anna', artists: ['Anna', 'Bert'] })
})

test('a file of two frames, or one and a part of another, is MP3', async () => {
  expect((await read(audio.subarray(0, 208))).durationMs).toBeGreaterThan(40)
  expect((await read(audio.subarray(0, 150))).durationMs).toBeGreaterThan(20)
  expect((await read(id3(3, 0, id3Frame('TPE1', plain)), audio.subarray(0, 104))).durationMs).toBeGreaterThan(
    20
  )
})

test('a tag between joined files that claims more than the rest of the file hides no audio', async () => {
  const tag = id3(3, 0, id3Frame('TPE1', plain))
  tag.set(synchsafe(1_000_000), 6)
  const { durationMs } = await read(audio)
  const joined = (await read(audio, tag, audio)).durationMs
  expect(Math.abs(joined - 2 * durationMs)).toBeLessThan(30)
})
