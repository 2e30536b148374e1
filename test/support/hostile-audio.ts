import { readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'

import { id3Frame, mp3, wav } from './audio-bytes.ts'

/** A file that is made to take time or memory. */
export interface HostileFile {
  readonly name: string
  readonly bytes: Buffer
  /** The size of a sparse file that begins with these bytes. */
  readonly sparseBytes?: number
}

const kib = 1_024
const mib = 1_024 * kib

/** Files that claim sizes and counts they do not have, nest or repeat without end, or are cut off anywhere. */
export function hostileFiles(): HostileFile[] {
  return [
    ...truncated(),
    ...id3(),
    ...ape(),
    ...flac(),
    ...ogg(),
    ...riff(),
    ...atoms(),
    ...mpeg(),
    ...others()
  ]
}

/** Files of 2 GB that contain nothing after their start, which takes the longest. */
export const sparseFiles = (): HostileFile[] =>
  [
    'OggS',
    'fLaC',
    'RIFF\u00FF\u00FF\u00FF\u007FWAVE',
    '\u00FF\u00FB\u0090\u00C4',
    '\0\0\0\u0018ftypM4A ',
    'FORM\u007F\0\0\0AIFF'
  ].map(start => ({ name: `2 GB after ${JSON.stringify(start)}`, bytes: latin(start), sparseBytes: 2 ** 31 }))

const latin = (text: string) => Buffer.from(text, 'latin1')
const repeat = (bytes: Buffer, count: number) => Buffer.alloc(bytes.length * count, bytes)
const be = (value: number) => Buffer.from([24, 16, 8, 0].map(shift => (value >>> shift) & 0xff))
const le = (value: number) => Buffer.from([0, 8, 16, 24].map(shift => (value >>> shift) & 0xff))
const synchsafe = (size: number) => Buffer.from([21, 14, 7, 0].map(shift => (size >> shift) & 0x7f))
const file = (name: string, ...parts: readonly (Buffer | string)[]): HostileFile => ({
  name,
  bytes: Buffer.concat(parts.map(part => (typeof part === 'string' ? latin(part) : part)))
})

function truncated(): HostileFile[] {
  const kinds = ['mp3', 'ogg', 'opus', 'flac', 'm4a', 'wav']
  return kinds.flatMap(kind => {
    const bytes = readFileSync(new URL(`audio/tagged.${kind}`, import.meta.url))
    return [1, 4, 11, 30, 60, 200, 700, 0.3, 0.6, 0.9, 0.99].map(part => ({
      name: `${kind} cut off at ${part}`,
      bytes: bytes.subarray(0, part < 1 ? Math.floor(bytes.length * part) : part)
    }))
  })
}

function id3(): HostileFile[] {
  const audio = mp3({}, 40).subarray(10)
  const tag = (version: number, flags: number, body: Buffer) =>
    Buffer.concat([Buffer.from([0x49, 0x44, 0x33, version, 0, flags]), synchsafe(body.length), body, audio])
  const flagged = (id: string, flags: number, content: Buffer) => {
    const frame = id3Frame(id, content)
    frame[9] = flags
    return frame
  }
  const bomb = Buffer.concat([be(64 * mib), deflateSync(Buffer.alloc(64 * mib, 0x41))])
  const bomb4 = Buffer.concat([latin('TPE1'), synchsafe(bomb.length), Buffer.from([0, 9]), bomb])
  const cases: readonly (readonly [string, number, number, Buffer])[] = [
    ['a frame of 4 GB', 3, 0, Buffer.concat([latin('TIT2'), be(0xffff_ffff), Buffer.alloc(100)])],
    ['200,000 empty frames', 3, 0, repeat(id3Frame('TIT2', Buffer.alloc(0)), 200_000)],
    ['200,000 short frames', 4, 0, repeat(id3Frame('TXXX', latin('\0a\0b')), 200_000)],
    ['a compressed frame of 64 MB', 3, 0, flagged('TPE1', 0x80, bomb)],
    ['a compressed frame of 64 MB in 2.4', 4, 0, bomb4],
    ['50 compressed frames', 3, 0, repeat(flagged('TPE1', 0x80, bomb), 50)],
    ['compressed frames of nothing', 3, 0, repeat(flagged('TPE1', 0x80, Buffer.alloc(4)), 1_000)],
    ['an encrypted frame', 3, 0, flagged('TPE1', 0x40, Buffer.alloc(100))],
    ['unsynchronisation of nothing else', 3, 0x80, repeat(Buffer.from([0xff, 0]), 4 * mib)],
    ['unsynchronised frames', 4, 0x80, repeat(flagged('APIC', 2, Buffer.alloc(100, 0xff)), 20_000)],
    ['an extended header of 4 GB', 3, 0x40, be(0xffff_fff0)],
    ['an extended header of 256 MB', 4, 0x40, synchsafe(0x0fff_ffff)],
    [
      'a list of a million values',
      4,
      0,
      id3Frame('TPE1', Buffer.concat([latin('\0'), repeat(latin('a\0'), mib)]))
    ],
    ['a list of nothing', 4, 0, id3Frame('TPE1', Buffer.alloc(4 * mib))],
    [
      'UTF-16 of marks',
      3,
      0,
      id3Frame('TPE1', Buffer.concat([latin('\u0001'), repeat(Buffer.from([0xff, 0xfe]), mib)]))
    ],
    ['UTF-16 of one byte', 3, 0, id3Frame('TPE1', latin('\u0001\u00FF'))],
    [
      'lone surrogates',
      3,
      0,
      id3Frame('TPE1', Buffer.concat([latin('\u0001'), repeat(latin('\0\u00D8'), mib)]))
    ],
    ['synchronized lyrics without end', 3, 0, id3Frame('SYLT', Buffer.alloc(4 * mib))],
    ['synchronized lyrics of one byte', 3, 0, id3Frame('SYLT', latin('\0\0\0\0\0\0'))],
    ['a comment without end', 3, 0, id3Frame('COMM', latin('\0eng'))],
    ['a picture without end', 3, 0, id3Frame('APIC', Buffer.alloc(2 * mib, 0x41))],
    [
      '1,000 pictures',
      3,
      0,
      repeat(id3Frame('APIC', Buffer.concat([latin('\0\0\u0003\0'), Buffer.alloc(20 * kib)])), 1_000)
    ],
    ['a volume without end', 4, 0, id3Frame('RVA2', latin('track\0\u0001'))],
    ['volumes of no channel', 4, 0, id3Frame('RVA2', Buffer.concat([latin('x\0'), Buffer.alloc(mib)]))],
    [
      'a genre of parentheses',
      3,
      0,
      id3Frame('TCON', Buffer.concat([latin('\0'), repeat(latin('(1)'), 200_000)]))
    ],
    [
      'a genre of open parentheses',
      3,
      0,
      id3Frame('TCON', Buffer.concat([latin('\0'), Buffer.alloc(mib, 0x28)]))
    ],
    [
      'lyrics of times',
      3,
      0,
      id3Frame('USLT', Buffer.concat([latin('\0eng\0'), repeat(latin('[01:02.03]'), 200_000)]))
    ],
    [
      'artists of slashes',
      3,
      0,
      Buffer.concat([
        id3Frame('TPE1', latin('\0aaa')),
        id3Frame('TXXX', latin(`\0ARTISTS\0${'a/'.repeat(100_000)}`))
      ])
    ],
    ['frames of version 2.2', 2, 0, repeat(Buffer.from('TT2\0\0\u0002\0a'), 200_000)],
    ['version 2.9', 9, 0, Buffer.alloc(mib)],
    ['a chapter of chapters', 3, 0, id3Frame('CHAP', repeat(id3Frame('CHAP', Buffer.alloc(20)), 50_000))]
  ]
  return [
    ...cases.map(([name, version, flags, body]) => ({ name, bytes: tag(version, flags, body) })),
    file('a million tags', repeat(latin('ID3\u0003\0\0\0\0\0\0'), 1_000_000)),
    file('a tag that is larger than the file', 'ID3\u0003\0\0\0\u0040\0\0', Buffer.alloc(100), audio),
    file('a tag of 256 MB', 'ID3\u0003\0\0\u007F\u007F\u007F\u007F', audio),
    file('only the header of a tag', 'ID3\u0004\0\0\0\0\u000F\0')
  ]
}

function ape(): HostileFile[] {
  const audio = mp3({}, 40).subarray(10)
  const footer = (size: number, count: number) =>
    Buffer.concat([latin('APETAGEX'), le(2_000), le(size), le(count), Buffer.alloc(12)])
  const item = Buffer.concat([le(1), le(0), latin('a\0b')])
  return [
    file('APE of 4 GB', audio, footer(0xffff_ffff, 1)),
    file('APE of 33 MiB', audio, Buffer.alloc(34 * mib), footer(33 * mib, 1)),
    file('APE of 4 billion items', audio, item, footer(32 + item.length, 0xffff_ffff)),
    file('APE of 200,000 items', audio, repeat(item, 200_000), footer(32 + item.length * 200_000, 200_000)),
    file('an APE item of 4 GB', audio, le(0xffff_ffff), le(0), 'a\0b', footer(43, 1)),
    file('an APE item without a name', audio, Buffer.alloc(1_000, 0x41), footer(1_032, 1)),
    file(
      'an APE list of a million values',
      audio,
      le(2 * mib),
      le(0),
      'Artist\0',
      repeat(latin('a\0'), mib),
      footer(47 + 2 * mib, 1)
    ),
    file('APE after APE', audio, repeat(footer(32, 0), 100_000)),
    file('only APE', footer(32, 1)),
    file('Lyrics3 of more than the file', audio, '999999LYRICS200', 'TAG', Buffer.alloc(125))
  ]
}

const streamInfo = Buffer.concat([
  latin('\0\0\0\u0022\u0010\0\u0010\0\0\0\0\0\0\0'),
  latin('\u000A\u00C4\u0042\u00F0\0\0\0\0'),
  Buffer.alloc(16)
])
const block = (type: number, content: Buffer, claimed = content.length) =>
  Buffer.concat([Buffer.from([type, claimed >> 16, claimed >> 8, claimed]), content])

function flac(): HostileFile[] {
  const start = Buffer.concat([latin('fLaC'), streamInfo])
  const end = block(0x81, Buffer.alloc(0))
  const picture = (sizes: number) => block(6, Buffer.concat([be(3), be(sizes), be(sizes), Buffer.alloc(40)]))
  return [
    file('a million empty blocks', start, repeat(block(1, Buffer.alloc(0)), 1_000_000)),
    file('a block of 16 MB that is not there', start, block(4, Buffer.alloc(10), 0xff_ffff)),
    file('4 billion comments', start, block(4, Buffer.concat([le(0), le(0xffff_ffff)])), end),
    file('a vendor of 4 GB', start, block(4, Buffer.concat([le(0xffff_ffff), le(1)])), end),
    file('a comment of 4 GB', start, block(4, Buffer.concat([le(0), le(1), le(0xffff_ffff)])), end),
    file(
      'a million empty comments',
      start,
      block(4, Buffer.concat([le(0), le(1_000_000), Buffer.alloc(4_000_000)])),
      end
    ),
    file('a picture of 4 GB', start, picture(0xffff_ffff), end),
    file('a picture of nothing', start, block(6, Buffer.alloc(0)), end),
    file('1,000 pictures in FLAC', start, repeat(picture(4), 999), end),
    file(
      'a picture in Base64 that is none',
      start,
      block(
        4,
        Buffer.concat([
          le(0),
          le(1),
          le(4 * mib),
          latin('METADATA_BLOCK_PICTURE='),
          Buffer.alloc(4 * mib, 0x2a)
        ])
      ),
      end
    ),
    file('no sample rate', 'fLaC', block(0x80, Buffer.alloc(34))),
    file('a stream info of one byte', 'fLaC', block(0x80, Buffer.alloc(1))),
    file(
      'a tail of what looks like frames',
      start,
      end,
      repeat(latin('\u00FF\u00F8\u0069\u0008\0\u0000'), 200_000)
    ),
    file('FLAC without end', start)
  ]
}

function page(options: {
  flags?: number
  granule?: bigint
  serial?: number
  lacing?: readonly number[]
  body?: Buffer
}): Buffer {
  const { flags = 0, granule = 0n, serial = 1, body = Buffer.alloc(0) } = options
  const lacing = options.lacing ?? [body.length]
  const header = Buffer.alloc(27)
  header.write('OggS', 'latin1')
  header[5] = flags
  header.writeBigInt64LE(granule, 6)
  header.writeUInt32LE(serial, 14)
  header[26] = lacing.length
  return Buffer.concat([header, Buffer.from(lacing), body])
}

function ogg(): HostileFile[] {
  const opus = page({ flags: 2, body: latin(`OpusHead\u0001\u0002\0\0\u0080\u00BB\0\0\0\0\0`) })
  const vorbis = page({
    flags: 2,
    body: Buffer.concat([latin('\u0001vorbis\0\0\0\0\u0002'), le(44_100), Buffer.alloc(14)])
  })
  const speex = page({ flags: 2, body: Buffer.concat([latin('Speex   '), Buffer.alloc(72)]) })
  const empty = page({ lacing: [] })
  const full = page({
    flags: 1,
    lacing: Array.from({ length: 255 }, () => 255),
    body: Buffer.alloc(255 * 255)
  })
  const tags = (content: Buffer) => page({ body: Buffer.concat([latin('OpusTags'), content]) })
  return [
    file('300,000 empty pages', opus, repeat(empty, 300_000)),
    file('a chain of 100,000 links', repeat(opus, 100_000)),
    file('a chain of links without audio', repeat(page({ flags: 2, body: latin('nothing') }), 100_000)),
    file(
      '100,000 streams',
      opus,
      ...Array.from({ length: 100_000 }, (_, serial) => page({ serial, lacing: [] }))
    ),
    file('a packet without end', opus, repeat(full, 700)),
    file(
      'a granule that is too large',
      opus,
      tags(Buffer.alloc(8)),
      page({ granule: 2n ** 63n - 1n, body: latin('a') })
    ),
    file(
      'a granule that is negative',
      opus,
      tags(Buffer.alloc(8)),
      page({ granule: -(2n ** 63n), body: latin('a') })
    ),
    file(
      'the longest duration',
      opus,
      tags(Buffer.alloc(8)),
      page({ granule: 2n ** 53n - 1n, body: latin('a') })
    ),
    file('the names of pages', repeat(latin('OggS'), 4 * mib)),
    file(
      'a page in each page',
      opus,
      repeat(Buffer.concat([latin('OggS'), Buffer.alloc(23, 0xff)]), 400_000)
    ),
    file('comments of 4 GB in Opus', opus, tags(Buffer.concat([le(0xffff_ffff), le(0xffff_ffff)]))),
    file('a comment packet of one byte', vorbis, page({ body: latin('\u0003') })),
    file('Speex of no sample rate', speex, tags(Buffer.alloc(8))),
    file('Vorbis of no sample rate', page({ flags: 2, body: Buffer.alloc(30) })),
    file(
      'FLAC in Ogg of endless blocks',
      page({ flags: 2, body: Buffer.concat([latin('\u007FFLAC\u0001\0\0\0fLaC'), streamInfo]) }),
      repeat(page({ body: Buffer.from([1, 0, 0, 0]) }), 100_000)
    ),
    file('half a page', opus.subarray(0, 30)),
    file(
      'a first page that goes on',
      page({ flags: 3, lacing: [255], body: Buffer.alloc(255) }),
      repeat(full, 10)
    )
  ]
}

function riff(): HostileFile[] {
  const start = wav({}, 0).subarray(0, 36)
  const chunk = (name: string, size: number, content: Buffer = Buffer.alloc(0)) =>
    Buffer.concat([latin(name), le(size), content])
  return [
    file('a million empty chunks', start, repeat(chunk('junk', 0), 1_000_000)),
    file('a chunk of 4 GB', start, chunk('LIST', 0xffff_ffff, latin('INFOINAM'))),
    file(
      'a text of 4 GB',
      start,
      chunk('LIST', 12, Buffer.concat([latin('INFOINAM'), le(0xffff_ffff)])),
      chunk('data', 8_000, Buffer.alloc(8_000))
    ),
    file('a list of 34 MiB', start, chunk('LIST', 34 * mib, Buffer.alloc(34 * mib))),
    file(
      '200,000 texts',
      start,
      chunk(
        'LIST',
        2_000_004,
        Buffer.concat([latin('INFO'), repeat(chunk('INAM', 2, latin('a\0')), 200_000)])
      )
    ),
    file('1,000 lists', start, repeat(chunk('LIST', 12, latin('INFOINAM\0\0\0\0')), 1_000)),
    file('audio of 4 GB', start, chunk('data', 0xffff_fffe)),
    file(
      'a ds64 of everything',
      'RF64\u00FF\u00FF\u00FF\u00FFWAVE',
      chunk('ds64', 28, Buffer.alloc(28, 0xff)),
      start.subarray(12),
      chunk('data', 0xffff_ffff, Buffer.alloc(100))
    ),
    file('a format of one byte', 'RIFF\0\0\0\0WAVE', chunk('fmt ', 1, latin('\u0001\0'))),
    file(
      'a format of zeros',
      'RIFF\0\0\0\0WAVE',
      chunk('fmt ', 16, Buffer.alloc(16)),
      chunk('data', 100, Buffer.alloc(100))
    ),
    file(
      'a format of ones',
      'RIFF\0\0\0\0WAVE',
      chunk('fmt ', 16, Buffer.alloc(16, 0xff)),
      chunk('data', 100, Buffer.alloc(100))
    ),
    file(
      'an unknown code page',
      start,
      chunk('CSET', 8, Buffer.alloc(8, 0x77)),
      chunk('data', 8_000, Buffer.alloc(8_000))
    ),
    file(
      'an ID3 chunk of 4 GB',
      start,
      chunk('id3 ', 0xffff_ffff, latin('ID3\u0003\0\0\u007F\u007F\u007F\u007F'))
    ),
    file('a RIFF of lists in lists', start, repeat(chunk('LIST', 0xfff_ffff, latin('INFO')), 100_000))
  ]
}

function atoms(): HostileFile[] {
  const atom = (name: string, size: number, content: Buffer = Buffer.alloc(0)) =>
    Buffer.concat([be(size), latin(name), content])
  const start = atom('ftyp', 24, latin('M4A \0\0\0\0M4A mp42'))
  const nested = (name: string, depth: number) =>
    Buffer.concat(Array.from({ length: depth }, (_, level) => atom(name, 8 * (depth - level))))
  const inMoov = (content: Buffer) => atom('moov', 8 + content.length, content)
  const table = (name: string) => inMoov(atom(name, 16, Buffer.concat([be(0), be(0xffff_ffff)])))
  return [
    file('50,000 atoms in atoms', start, nested('moov', 50_000)),
    file('50,000 tracks in tracks', start, inMoov(nested('trak', 50_000))),
    file('50,000 user data in user data', start, inMoov(nested('udta', 50_000))),
    file('a million empty atoms', start, repeat(atom('free', 8), 1_000_000)),
    file('an atom of no size', start, atom('moov', 0)),
    file('an atom of one byte', start, repeat(atom('moov', 1), 1_000)),
    file('an atom of 2^63', start, atom('moov', 1, Buffer.alloc(8, 0x7f))),
    file('an atom of 4 GB', start, atom('moov', 0xffff_ffff, atom('mvhd', 0xffff_fff0))),
    file('a table of 4 billion times', start, table('stts')),
    file('a table of 4 billion sizes', start, table('stsz')),
    file('a table of 4 billion chunks', start, table('stco')),
    file(
      '100,000 tags',
      start,
      inMoov(repeat(atom('ilst', 24, atom('\u00A9nam', 16, atom('data', 8))), 100_000))
    ),
    file('a million brands', atom('ftyp', 0xff_ffff, Buffer.alloc(mib, 0x41)))
  ]
}

function mpeg(): HostileFile[] {
  const frame = Buffer.alloc(417)
  frame.set([0xff, 0xfb, 0x90, 0xc4])
  const info = (name: string, frames: number, size: number) => {
    const bytes = Buffer.from(frame)
    Buffer.concat([latin(name), be(3), be(frames), be(size)]).copy(bytes, 36)
    return bytes
  }
  const damaged = Buffer.concat([repeat(frame, 3), Buffer.alloc(4 * mib, 0xff)])
  return [
    file('32 MB of ones', Buffer.alloc(32 * mib, 0xff)),
    file('frames and ones', damaged, repeat(frame, 3)),
    file('frames and headers', repeat(frame, 3), repeat(latin('\u00FF\u00FB\u0090\u00C4'), mib)),
    file(
      'frames and tags',
      repeat(Buffer.concat([repeat(frame, 3), latin('ID3\u0003\0\0\0\0\0\0')]), 20_000)
    ),
    file(
      'frames and tags of 256 MB',
      repeat(frame, 3),
      repeat(latin('ID3\u0003\0\0\u007F\u007F\u007F\u007F'), 20_000)
    ),
    file('frames and nearly tags', repeat(frame, 3), repeat(latin('ID3ID3\u00FF'), mib)),
    file('4 billion frames', info('Xing', 0xffff_ffff, 417 * 40), repeat(frame, 39)),
    file('no frames', info('Info', 0, 0), repeat(frame, 39)),
    file(
      '4 billion frames of VBRI',
      Buffer.concat([frame.subarray(0, 36), latin('VBRI'), Buffer.alloc(400, 0xff)])
    ),
    file('two frames', repeat(frame, 2)),
    file(
      'a free bitrate',
      repeat(Buffer.concat([Buffer.from([0xff, 0xfb, 0x00, 0xc4]), Buffer.alloc(413)]), 1_000)
    ),
    file(
      'frames of Layer I',
      repeat(Buffer.concat([Buffer.from([0xff, 0xff, 0x10, 0xc4]), Buffer.alloc(28)]), 50_000)
    )
  ]
}

function others(): HostileFile[] {
  const asf = Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex')
  const ebml = Buffer.from('1a45dfa3', 'hex')
  const aiff = (content: Buffer) => Buffer.concat([latin('FORM'), be(0x7fff_ffff), latin('AIFF'), content])
  return [
    file('WMA of 4 billion objects', asf, Buffer.alloc(8, 0x7f), be(0xffff_ffff), Buffer.alloc(1_000)),
    file('WMA of empty objects', asf, le(1_000_000), le(0), le(40_000), '\u0001\u0002', Buffer.alloc(mib)),
    file(
      'Matroska of unknown sizes',
      ebml,
      repeat(Buffer.from('0100000000000000018538067ffffffffffffff', 'hex'), 50_000)
    ),
    file(
      'Matroska in Matroska',
      ebml,
      Buffer.from([0x88]),
      Buffer.alloc(8),
      repeat(Buffer.from('1853806701ffffffffffffff', 'hex'), 50_000)
    ),
    file('AIFF of empty chunks', aiff(repeat(latin('ANNO\0\0\0\0'), 500_000))),
    file('AIFF of a chunk of 4 GB', aiff(latin('ID3 \u00FF\u00FF\u00FF\u00FF'))),
    file('WavPack of empty blocks', repeat(Buffer.concat([latin('wvpk'), le(24), Buffer.alloc(24)]), 50_000)),
    file('Musepack of empty packets', 'MPCK', repeat(latin('SH\u0003'), 500_000)),
    file("Monkey's Audio of 4 billion frames", 'MAC ', Buffer.alloc(100, 0xff)),
    file('DSF of 2^63', 'DSD ', Buffer.alloc(80, 0x7f)),
    file(
      'DSDIFF in itself',
      'FRM8',
      Buffer.alloc(8),
      'DSD ',
      repeat(latin('PROP\0\0\0\0\0\0\0\u0001SND '), 50_000)
    ),
    file('AAC of empty frames', repeat(Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x00, 0xff, 0xfc]), 300_000)),
    file('AAC of no size', repeat(Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x00, 0x1f, 0xfc]), 300_000)),
    file('zeros', Buffer.alloc(mib)),
    file('one byte', 'I')
  ]
}
