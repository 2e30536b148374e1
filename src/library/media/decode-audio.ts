import type { FileHandle } from 'node:fs/promises'

import { readSamplesByFfmpeg } from './ffmpeg-samples.ts'
import type { AudioSamples } from './peaks.ts'
import { UnusableFileError } from './unusable-file.ts'
import { readWavSamples } from './wav-samples.ts'

/**
 * Decodes a file piece by piece; its content determines the format. MP3, FLAC, Ogg Vorbis and WAV need nothing
 * else, AAC and Opus need FFmpeg. Throws an `UnusableFileError` for a file that cannot be decoded.
 */
export async function* decodeAudio(file: FileHandle): AsyncGenerator<AudioSamples> {
  switch (await detectAudioFormat(file)) {
    case 'mpeg':
      yield* decodeWith(await openMpegDecoder(), file, mpegChunkBytes)
      return
    case 'flac':
      yield* decodeWith(await openFlacDecoder(), file, smallChunkBytes)
      return
    case 'vorbis':
      yield* decodeWith(await openVorbisDecoder(), file, smallChunkBytes)
      return
    case 'wav':
      yield* readWavSamples(file)
      return
    case 'mp4':
      yield* readSamplesByFfmpeg(file, 'mov')
      return
    case 'adts':
      yield* readSamplesByFfmpeg(file, 'aac')
      return
    case 'ogg':
      yield* readSamplesByFfmpeg(file, 'ogg')
      return
    case 'unknown':
      throw new UnusableFileError('its format is not supported')
  }
}

type AudioFormat = 'mpeg' | 'flac' | 'vorbis' | 'wav' | 'mp4' | 'adts' | 'ogg' | 'unknown'

const mpegChunkBytes = 64 * 1024
/** A few bytes of FLAC or Vorbis can be seconds of silence, whose samples are in memory together. */
const smallChunkBytes = 4 * 1024
const sniffedBytes = 4_096

async function detectAudioFormat(file: FileHandle): Promise<AudioFormat> {
  const first = await readAt(file, 0)
  const isTagged = first.toString('latin1', 0, 3) === 'ID3'
  const start = isTagged ? await readAt(file, 10 + readSynchsafe(first, 6)) : first
  const magic = start.toString('latin1', 0, 4)
  if (magic === 'fLaC') return 'flac'
  if (magic === 'OggS') {
    if (start.includes('\u007fFLAC', 0, 'latin1')) return 'flac'
    return start.includes('\u0001vorbis', 0, 'latin1') ? 'vorbis' : 'ogg'
  }
  if (magic === 'RIFF' && start.toString('latin1', 8, 12) === 'WAVE') return 'wav'
  if (start.toString('latin1', 4, 8) === 'ftyp') return 'mp4'
  const sync = (start[0] ?? 0) * 256 + (start[1] ?? 0)
  if ((sync & 0xfff6) === 0xfff0) return 'adts'
  // A recording of a stream begins inside a frame.
  return isTagged || (sync & 0xffe0) === 0xffe0 || hasMpegSync(start) ? 'mpeg' : 'unknown'
}

async function readAt(file: FileHandle, position: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(sniffedBytes), 0, sniffedBytes, position)
  return buffer.subarray(0, bytesRead)
}

const readSynchsafe = (bytes: Buffer, at: number) =>
  bytes.subarray(at, at + 4).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0)

const hasMpegSync = (bytes: Buffer) =>
  bytes.some((byte, at) => byte === 0xff && ((bytes[at + 1] ?? 0) & 0xe6) === 0xe2)

interface Decoded {
  readonly channelData: Float32Array[]
  readonly samplesDecoded: number
  readonly sampleRate: number
}

/** What the decoders have in common. */
interface Decoder {
  readonly decode: (bytes: Uint8Array) => Decoded | Promise<Decoded>
  readonly flush?: () => Promise<Decoded>
  readonly free: () => void
}

async function* decodeWith(
  decoder: Decoder,
  file: FileHandle,
  chunkBytes: number
): AsyncGenerator<AudioSamples> {
  try {
    const options = { start: 0, highWaterMark: chunkBytes, autoClose: false }
    for await (const bytes of file.createReadStream(options)) {
      const decoded = await decoder.decode(bytes)
      if (decoded.samplesDecoded > 0) yield toSamples(decoded)
    }
    const rest = await decoder.flush?.()
    if (rest !== undefined && rest.samplesDecoded > 0) yield toSamples(rest)
  } finally {
    decoder.free()
  }
}

const toSamples = ({ sampleRate, channelData: channels }: Decoded): AudioSamples => ({ sampleRate, channels })

// The decoders are loaded when a file needs them.

async function openMpegDecoder(): Promise<Decoder> {
  const { MPEGDecoder } = await import('mpg123-decoder')
  const decoder = new MPEGDecoder()
  await decoder.ready
  return decoder
}

async function openFlacDecoder(): Promise<Decoder> {
  const { FLACDecoder } = await import('@wasm-audio-decoders/flac')
  const decoder = new FLACDecoder()
  await decoder.ready
  return decoder
}

async function openVorbisDecoder(): Promise<Decoder> {
  const { OggVorbisDecoder } = await import('@wasm-audio-decoders/ogg-vorbis')
  const decoder = new OggVorbisDecoder()
  await decoder.ready
  return decoder
}
