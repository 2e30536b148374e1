import { decodeLatin1 } from '../tags/id3v2-names.ts'

export interface OggStream {
  readonly serial: number
  readonly codec: 'vorbis' | 'opus' | 'flac' | 'speex'
  /** Of the counts of samples in pages. */
  readonly sampleRate: number
  /** Decoders drop these from the start of the stream. */
  readonly skippedSamples: number
}

/** Identifies a stream by its first packet. */
export function identifyOggStream(head: Buffer, serial: number): OggStream | 'video' | 'other' {
  const name = decodeLatin1(head.subarray(0, 8))
  const stream = (codec: OggStream['codec'], sampleRate: number, skippedSamples = 0) =>
    sampleRate > 0 ? { serial, codec, sampleRate, skippedSamples } : ('other' as const)
  if (name === 'OpusHead' && head.length >= 12) return stream('opus', 48_000, head.readUInt16LE(10))
  if (name.startsWith('\u0001vorbis') && head.length >= 16) return stream('vorbis', head.readUInt32LE(12))
  // The block STREAMINFO follows a signature and two headers.
  if (name.startsWith('\u007FFLAC') && head.length >= 51) return stream('flac', head.readUIntBE(27, 3) >> 4)
  if (name === 'Speex   ' && head.length >= 40) return stream('speex', head.readUInt32LE(36))
  return name.startsWith('\u0080theora') ? 'video' : 'other'
}
