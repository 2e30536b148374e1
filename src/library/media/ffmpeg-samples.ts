import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { FileHandle } from 'node:fs/promises'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import type { AudioSamples } from './peaks.ts'
import { UnusableFileError } from './unusable-file.ts'

const sampleRate = 44_100
const bytesPerFrame = 8

/**
 * Decodes a file with FFmpeg, in stereo. The format is fixed, because FFmpeg would open the files that a
 * playlist names. Throws an `UnusableFileError` if FFmpeg is not installed or cannot decode the file.
 */
export async function* readSamplesByFfmpeg(
  file: FileHandle,
  format: 'mov' | 'aac' | 'ogg'
): AsyncGenerator<AudioSamples> {
  const options = ['-v', 'error', '-nostdin', '-f', format, '-i', 'file:/dev/fd/3', '-map', '0:a:0', '-vn']
  const output = ['-f', 'f32le', '-ac', '2', '-ar', String(sampleRate), 'pipe:1']
  const child = spawn('ffmpeg', [...options, ...output], { stdio: ['ignore', 'pipe', 'ignore', file.fd] })
  const ended = once(child, 'close').catch((error: unknown) => {
    throw new UnusableFileError(
      errorCodeOf(error) === 'ENOENT'
        ? 'its format requires FFmpeg, which is not installed'
        : 'FFmpeg could not be started'
    )
  })
  // Awaited below, once the output has been read.
  ended.catch(() => {})
  try {
    let rest = Buffer.alloc(0)
    for await (const chunk of child.stdout ?? []) {
      const bytes = Buffer.concat([rest, chunk])
      const frames = Math.floor(bytes.length / bytesPerFrame)
      rest = bytes.subarray(frames * bytesPerFrame)
      yield { sampleRate, channels: [0, 4].map(offset => readChannel(bytes, frames, offset)) }
    }
    const [code] = await ended
    if (code !== 0) throw new UnusableFileError('it cannot be decoded')
  } finally {
    child.kill('SIGKILL')
  }
}

/** Loops, because a call per sample would take most of the time. */
function readChannel(bytes: Buffer, frames: number, offset: number): Float32Array {
  const samples = new Float32Array(frames)
  for (let frame = 0; frame < frames; frame++)
    samples[frame] = bytes.readFloatLE(frame * bytesPerFrame + offset)
  return samples
}
