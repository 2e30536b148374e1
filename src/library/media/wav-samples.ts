import type { FileHandle } from 'node:fs/promises'

import type { AudioSamples } from './peaks.ts'
import { UnusableFileError } from './unusable-file.ts'

const pcm = 1
const float = 3
const extensible = 0xfffe
const framesPerRead = 8_192
/** A file has few chunks before its samples. */
const maxChunks = 1_000

interface WavFormat {
  readonly encoding: number
  readonly channels: number
  readonly sampleRate: number
  readonly bits: number
}

/** Reads the samples of a WAV file in PCM or float. Throws an `UnusableFileError` for other formats. */
export async function* readWavSamples(file: FileHandle): AsyncGenerator<AudioSamples> {
  const { format, start, length } = await locateSamples(file)
  const { channels, sampleRate, bits } = format
  const readSample = sampleReader(format)
  const bytesPerSample = bits / 8
  const bytesPerFrame = bytesPerSample * channels
  const buffer = Buffer.alloc(framesPerRead * bytesPerFrame)
  const end = start + length
  for (let position = start; position < end;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - position), position)
    const frames = Math.floor(bytesRead / bytesPerFrame)
    if (frames === 0) return
    position += frames * bytesPerFrame
    yield {
      sampleRate,
      channels: Array.from({ length: channels }, (_, channel) => {
        const samples = new Float32Array(frames)
        for (let frame = 0; frame < frames; frame++)
          samples[frame] = readSample(buffer, frame * bytesPerFrame + channel * bytesPerSample)
        return samples
      })
    }
  }
}

/** Reads the chunks of the file up to its samples. */
async function locateSamples(file: FileHandle) {
  const header = Buffer.alloc(40)
  let format: WavFormat | null = null
  let position = 12
  for (let chunks = 0; chunks < maxChunks; chunks++) {
    const { bytesRead } = await file.read(header, 0, header.length, position)
    if (bytesRead < 8) break
    const id = header.toString('latin1', 0, 4)
    const length = header.readUInt32LE(4)
    if (id === 'fmt ' && bytesRead >= 24) format = parseFormat(header.subarray(8))
    if (id === 'data' && format !== null) return { format, start: position + 8, length }
    position += 8 + length + (length % 2)
  }
  throw new UnusableFileError('it contains no samples')
}

function parseFormat(chunk: Buffer): WavFormat {
  const code = chunk.readUInt16LE(0)
  return {
    encoding: code === extensible ? chunk.readUInt16LE(24) : code,
    channels: Math.max(1, Math.min(chunk.readUInt16LE(2), 32)),
    sampleRate: chunk.readUInt32LE(4),
    bits: chunk.readUInt16LE(14)
  }
}

function sampleReader({ encoding, bits }: WavFormat): (buffer: Buffer, at: number) => number {
  if (encoding === pcm && bits === 8) return (buffer, at) => (buffer.readUInt8(at) - 128) / 128
  if (encoding === pcm && [16, 24, 32].includes(bits))
    return (buffer, at) => buffer.readIntLE(at, bits / 8) / 2 ** (bits - 1)
  if (encoding === float && bits === 32) return (buffer, at) => buffer.readFloatLE(at)
  if (encoding === float && bits === 64) return (buffer, at) => buffer.readDoubleLE(at)
  throw new UnusableFileError('its WAV encoding is not supported')
}
