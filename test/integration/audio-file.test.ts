import { execFileSync } from 'node:child_process'
import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { readAudioFile } from '../../src/library/media/audio-file.ts'
import { noCuePoints } from '../../src/model/songs/cue-points.ts'
import { apic, id3Frame, mp3, png, txxx, wav } from '../support/audio-bytes.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

/** Reads bytes as a file of this name. */
async function read(bytes: Buffer, name = 'song.mp3') {
  const path = join(await scratchFolder(), name)
  await writeFile(path, bytes)
  return readAudioFile(path, ['/'])
}

describe('a tagged file', () => {
  const folder = new URL('../support/audio/', import.meta.url)
  test.for([
    ['mp3', 'ZZABC2600001', '', true],
    ['ogg', 'ZZABC2600001', 'La la', false],
    ['opus', 'ZZABC2600001', 'La la', false],
    ['flac', 'ZZABC2600001', 'La la', true],
    ['m4a', '', 'La la', true],
    ['wav', '', '', false]
  ] as const)('%s', async ([kind, isrc, lyrics, hasCover]) => {
    const {
      cover,
      durationMs,
      cues,
      artists,
      coverNotice,
      tags: named,
      ...tags
    } = await readAudioFile(new URL(`tagged.${kind}`, folder).pathname, ['/'])
    expect(tags).toEqual({
      artist: 'Test Tones',
      title: 'Middle A',
      album: 'Sines',
      genre: 'Test',
      isrc,
      lyrics
    })
    expect(artists).toEqual([])
    expect(coverNotice).toBe('')
    expect(named.get('album')).toBe('Sines')
    expect(durationMs).toBeGreaterThanOrEqual(1_000)
    expect(durationMs).toBeLessThan(1_600)
    expect(cover?.contentType).toBe(hasCover ? 'image/png' : undefined)
    expect(cues).toEqual(noCuePoints)
  })
})

test('an untagged file is titled by its name', async () => {
  expect(await read(wav(), 'Night Ferry.final.WAV')).toMatchObject({ artist: '', title: 'Night Ferry.final' })
})

test('the content determines the format, not the name', async () => {
  expect(await read(wav({ INAM: 'Really a WAV' }), 'song.mp3')).toMatchObject({ title: 'Really a WAV' })
})

test('a recording that begins in the middle of an MP3 frame is read', async () => {
  const stream = mp3({}, 100).subarray(10 + 50)
  expect((await read(stream)).durationMs).toBeGreaterThan(2_000)
})

test('an MP3 of variable bitrate with a silent start and no frame count has the right duration', async () => {
  const loud = Buffer.alloc(417)
  loud.set([0xff, 0xfb, 0x90, 0xc4])
  const { durationMs } = await read(Buffer.concat([mp3({}, 10), ...Array.from({ length: 90 }, () => loud)]))
  expect(durationMs).toBe(Math.round((100 * 1_152_000) / 44_100))
})

test('texts are bounded and contain no control characters or lone surrogates', async () => {
  const { artist, title, album, genre, isrc } = await read(
    mp3({
      TPE1: 'x'.repeat(1_000),
      TIT2: 'a\u0007b\uD83Dc',
      TALB: '\u{1F600}'.repeat(300),
      TCON: 'g'.repeat(300),
      TSRC: 'i'.repeat(50)
    })
  )
  expect(artist).toBe('x'.repeat(255))
  expect(title).toBe('a bc')
  expect(album).toBe('\u{1F600}'.repeat(200))
  expect([genre.length, isrc.length]).toEqual([255, 32])
})

test('cue points and gain are read from tags of any case', async () => {
  const frames = [
    txxx('LIQ_CUE_IN', '0.25'),
    txxx('liq_cue_out', '1'),
    txxx('replaygain_track_gain', '-7.5 dB')
  ]
  const { cues } = await read(mp3({}, 40, frames))
  expect(cues).toEqual({ ...noCuePoints, cueInMs: 250, cueOutMs: 1_000, amplifyDb: -7.5 })
})

test('several genres are joined', async () => {
  expect((await read(mp3({ TCON: 'Ambient\0Drone' }))).genre).toBe('Ambient, Drone')
})

test('lyrics are plain text of at most 8,000 code points', async () => {
  const plain = id3Frame('USLT', Buffer.from(`\0eng\0${'la\n'.repeat(20_000)}`))
  const { lyrics } = await read(mp3({}, 40, [plain]))
  expect(lyrics.length).toBeLessThanOrEqual(8_000)
  expect(lyrics.startsWith('la\nla\n')).toBe(true)
})

test('the times of synchronized lyrics are removed', async () => {
  const timed = Buffer.concat([
    Buffer.from('\0eng\u0002\u0001\0', 'latin1'),
    Buffer.from('One\0\0\0\u0001\0Two\0\0\0\u0002\0', 'latin1')
  ])
  expect((await read(mp3({}, 40, [id3Frame('SYLT', timed)]))).lyrics).toBe('One\nTwo')
  const lrc = id3Frame('USLT', Buffer.from('\0eng\0[00:01.00]One\n[00:02.50] Two'))
  expect((await read(mp3({}, 40, [lrc]))).lyrics).toBe('One\nTwo')
})

describe('a cover', () => {
  test('is kept if its bytes are an image, for any type in the tag', async () => {
    const { cover } = await read(mp3({}, 40, [apic(png('x'), 'text/html')]))
    expect(cover).toMatchObject({ contentType: 'image/png', bytes: png('x') })
  })

  test('is ignored if its bytes are not an image', async () => {
    expect((await read(mp3({}, 40, [apic(Buffer.from('<script>'), 'image/png')]))).cover).toBeNull()
  })

  test('is left out if it is larger than 5 MiB, which a notice says, also if another picture is used', async () => {
    const large = apic(png('x'.repeat(5 * 1024 * 1024)))
    const coverNotice = expect.stringMatching(/^Its cover was left out: it has 5\.0 MiB/)
    expect(await read(mp3({}, 40, [large]))).toMatchObject({ cover: null, coverNotice })
    const both = await read(mp3({}, 40, [large, apic(png('x'))]))
    expect(both).toMatchObject({ cover: { bytes: png('x') }, coverNotice })
  })
})

describe('an unusable file has a reason', () => {
  test.for([
    ['text', Buffer.from('this is a text, not a song'), 'it is not audio'],
    ['an empty file', Buffer.alloc(0), 'it is empty'],
    ['a WAV of no samples', wav({}, 0), 'its duration is zero or unknown'],
    ['a tag without audio', mp3({ TIT2: 'x'.repeat(4_000) }, 0), 'it contains no audio'],
    ['a picture', png('x'.repeat(500)), 'it is not audio']
  ] as const)('%s', async ([, bytes, reason]) => {
    await expect(read(bytes)).rejects.toThrow(reason)
  })

  test('a missing file', async () => {
    await expect(readAudioFile('/nowhere/a.mp3', ['/'])).rejects.toThrow('it cannot be read (ENOENT')
  })

  test('a folder, a FIFO, a socket and a device are rejected without waiting', async () => {
    const folder = await scratchFolder()
    await mkdir(join(folder, 'folder.mp3'))
    execFileSync('mkfifo', [join(folder, 'fifo.mp3')])
    await expect(readAudioFile(join(folder, 'folder.mp3'), ['/'])).rejects.toThrow('it is not a regular file')
    await expect(readAudioFile(join(folder, 'fifo.mp3'), ['/'])).rejects.toThrow('it is not a regular file')
    await expect(readAudioFile('/dev/zero', ['/'])).rejects.toThrow('it is not a regular file')
    const server = createServer().listen(join(folder, 'socket.mp3'))
    await new Promise(resolve => server.once('listening', resolve))
    await expect(readAudioFile(join(folder, 'socket.mp3'), ['/'])).rejects.toThrow('it cannot be read (ENXIO')
    await new Promise(resolve => server.close(resolve))
  })

  test.for([
    ['', 'it is not audio'],
    ['ID3\u0003\0\0\x7F\x7F\x7F\x7F', 'one of its tags is larger than 32 MiB'],
    ['fLaC', 'it contains no audio']
  ] as const)('2 GB of zeros after %j, at once', async ([start, reason]) => {
    const path = join(await scratchFolder(), 'sparse.mp3')
    await writeFile(path, start, 'latin1')
    await truncate(path, 2 ** 31)
    const startedAt = performance.now()
    await expect(readAudioFile(path, ['/'])).rejects.toThrow(reason)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })
})
