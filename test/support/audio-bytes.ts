/**
 * Tags of a generated file, by the name of their ID3v2 frame ("TPE1"), or RIFF INFO chunk ("IART") for a WAV.
 */
export type Tags = Record<string, string>

/**
 * A WAV of silence, 8 kHz mono, with a LIST INFO chunk: IART is the artist, INAM the title, IPRD the album.
 */
export function wav(tags: Tags = {}, durationMs = 1_000): Buffer {
  const data = Buffer.alloc(durationMs * 8, 0x80)
  const format = Buffer.alloc(16)
  format.writeUInt16LE(1, 0)
  format.writeUInt16LE(1, 2)
  format.writeUInt32LE(8_000, 4)
  format.writeUInt32LE(8_000, 8)
  format.writeUInt16LE(1, 12)
  format.writeUInt16LE(8, 14)
  const info = Object.entries(tags).map(([id, text]) => chunk(id, Buffer.from(`${text}\0`, 'latin1')))
  const list = chunk('LIST', Buffer.concat([Buffer.from('INFO'), ...info]))
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', format), list, chunk('data', data)]))
}

/**
 * An MP3 of silence (26 ms a frame, 32 kbit/s) with an ID3v2.3 tag of UTF-16 texts and more frames as given.
 */
export function mp3(tags: Tags = {}, frames = 40, more: Buffer[] = []): Buffer {
  const texts = Object.entries(tags).map(([id, text]) => id3Frame(id, utf16(text)))
  const body = Buffer.concat([...texts, ...more])
  const header = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, ...synchsafe(body.length)])
  const frame = Buffer.alloc(104)
  frame.set([0xff, 0xfb, 0x10, 0xc4])
  return Buffer.concat([header, body, ...Array.from({ length: frames }, () => frame)])
}

/** An ID3v2.3 frame of raw content. */
export function id3Frame(id: string, content: Buffer): Buffer {
  const header = Buffer.alloc(10)
  header.write(id, 'latin1')
  header.writeUInt32BE(content.length, 4)
  return Buffer.concat([header, content])
}

/** A tag of any name. */
export function txxx(name: string, value: string): Buffer {
  return id3Frame('TXXX', Buffer.from(`\0${name}\0${value}`, 'latin1'))
}

/** A front cover as an APIC frame. */
export function apic(image: Buffer, type = 'image/png'): Buffer {
  return id3Frame('APIC', Buffer.concat([Buffer.from(`\0${type}\0\u0003\0`, 'latin1'), image]))
}

/** A byte sequence with the signature of a PNG, followed by its own bytes. */
export function png(content: string): Buffer {
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1A\n', 'latin1'), Buffer.from(content)])
}

function utf16(text: string): Buffer {
  return Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(text, 'utf16le')])
}

function synchsafe(size: number): number[] {
  return [21, 14, 7, 0].map(shift => (size >> shift) & 0x7f)
}

function chunk(id: string, content: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header.write(id, 'latin1')
  header.writeUInt32LE(content.length, 4)
  return Buffer.concat([header, content, Buffer.alloc(content.length % 2)])
}
