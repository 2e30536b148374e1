import { basename, extname } from 'node:path'

import {
  CouldNotDetermineFileTypeError,
  type IAudioMetadata,
  type ICommonTagsResult,
  parseFromTokenizer,
  UnsupportedFileTypeError
} from 'music-metadata'
import { BufferSizeError } from 'strtok3'

import { cleanLine, cleanLines, longest, type Tags } from '../songs/song.ts'
import { chooseCover, type Cover } from './cover.ts'
import { FileTokenizer, UnusableFile } from './file-tokenizer.ts'

/** What one audio file tells of itself. */
export interface AudioFile extends Tags {
  cover: Cover | null
}

const timeLimitMs = 10_000
/** MP3 up to this size are measured rather than estimated, in about a third of a second. */
const maxWalkedBytes = 64 * 1024 * 1024
/** The range of the column: 24 days. */
const maxDurationMs = 2_147_483_647

/**
 * Reads tags, length and cover of a regular file whose format is told by its content. Takes at most about ten
 * seconds and 64 MiB. The file must lie inside one of `realRoots`, which are real paths. Whatever is wrong
 * with the file is thrown as an `UnusableFile`.
 */
export async function readAudioFile(path: string, realRoots: readonly string[]): Promise<AudioFile> {
  try {
    const tokenizer = await FileTokenizer.open(path, realRoots, performance.now() + timeLimitMs)
    try {
      return await read(tokenizer, path)
    } finally {
      await tokenizer.close()
    }
  } catch (error) {
    throw asUnusable(error)
  }
}

async function read(tokenizer: FileTokenizer, path: string): Promise<AudioFile> {
  if (tokenizer.size === 0) throw new UnusableFile('it is empty')
  const start = Buffer.alloc(Math.min(tokenizer.size, 32 * 1024))
  await tokenizer.peekBuffer(start, { mayBeLess: true })
  const metadata = await parse(tokenizer, start)
  const { format, common } = metadata
  if (format.codec === undefined && !format.sampleRate) throw new UnusableFile('no audio was found in it')
  if (format.hasVideo === true && format.hasAudio !== true)
    throw new UnusableFile('it is a video without sound')
  const durationMs = await findDurationMs(tokenizer, format)
  if (durationMs === 0) throw new UnusableFile('its length is zero or cannot be found')
  return { ...readTags(common, path), durationMs, cover: chooseCover(common.picture ?? []) }
}

async function parse(tokenizer: FileTokenizer, start: Buffer): Promise<IAudioMetadata> {
  try {
    return await parseFromTokenizer(tokenizer)
  } catch (error) {
    if (!(error instanceof CouldNotDetermineFileTypeError) || !hasMpegFrames(start)) throw error
    tokenizer.fileInfo.mimeType = 'audio/mpeg'
    tokenizer.setPosition(0)
    return parseFromTokenizer(tokenizer)
  }
}

/**
 * Ogg, and MP3 without a header that counts its frames, are walked to their end. What the parser gives for
 * such an MP3 is the file's size by the bit rate of the first frames: far off when the rate varies and it
 * begins in silence.
 */
async function findDurationMs(tokenizer: FileTokenizer, format: IAudioMetadata['format']): Promise<number> {
  const toldMs = toDurationMs(format.duration)
  const isMpeg = format.container === 'MPEG'
  const isEstimate = isMpeg && format.duration === (format.numberOfSamples ?? 0) / (format.sampleRate ?? 1)
  if (toldMs > 0 && !(isEstimate && tokenizer.size <= maxWalkedBytes)) return toldMs
  tokenizer.setPosition(0)
  // The parser estimates wherever it knows the size.
  if (isMpeg) tokenizer.hideSize()
  const scanned = await parseFromTokenizer(tokenizer, { duration: true, skipCovers: true })
  return toDurationMs(scanned.format.duration) || toldMs
}

function toDurationMs(seconds: number | undefined): number {
  const ms = Math.round((seconds ?? 0) * 1_000)
  return ms > 0 && ms <= maxDurationMs ? ms : 0
}

function readTags(common: ICommonTagsResult, path: string): Omit<AudioFile, 'durationMs' | 'cover'> {
  const name = basename(path, extname(path))
  return {
    artist: cleanLine(common.artist ?? '', longest.artist),
    title: cleanLine(common.title ?? '', longest.title) || cleanLine(name, longest.title),
    album: cleanLine(common.album ?? '', longest.album),
    genre: cleanLine((common.genre ?? []).slice(0, 20).join(', '), longest.genre),
    isrc: cleanLine(common.isrc?.[0] ?? '', longest.isrc),
    lyrics: readLyrics(common)
  }
}

/** Plain text also where the tag holds a time for each line, as data or as `[01:23.45]` in front. */
function readLyrics(common: ICommonTagsResult): string {
  const texts = (common.lyrics ?? []).map(tag => tag.text ?? tag.syncText.map(line => line.text).join('\n'))
  const text = texts.find(candidate => candidate.trim() !== '') ?? ''
  const plain = text.slice(0, longest.lyrics * 8).replace(/^(\[\d{1,3}:\d\d(\.\d{1,3})?\] ?)+/gm, '')
  return cleanLines(plain, longest.lyrics)
}

function asUnusable(error: unknown): UnusableFile {
  if (error instanceof UnusableFile) return error
  if (error instanceof CouldNotDetermineFileTypeError || error instanceof UnsupportedFileTypeError) {
    return new UnusableFile('it is not audio', { cause: error })
  }
  if (error instanceof BufferSizeError) {
    return new UnusableFile('one of its tags is larger than 32 MiB', { cause: error })
  }
  const message = error instanceof Error ? error.message : String(error)
  return new UnusableFile(`it cannot be read (${cleanLine(message, 200)})`, { cause: error })
}

/** kbit/s by the four bits of a Layer III header: MPEG 1, then MPEG 2 and 2.5. */
const bitrates = {
  1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
  2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
} as const
const sampleRates = [44_100, 48_000, 32_000, 0] as const
/** MPEG 2.5, reserved, MPEG 2, MPEG 1: the divisor of the sample rate. */
const divisors = [4, 0, 2, 1] as const

/**
 * Tells whether MP3 frames begin somewhere in these bytes: a Layer III header, and two more exactly where the
 * ones before end. Recordings of streams begin in the middle of a frame, which no magic number finds.
 */
export function hasMpegFrames(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const second = at + frameLength(bytes, at)
    const third = second + frameLength(bytes, second)
    if (second > at && third > second && frameLength(bytes, third) > 0) return true
  }
  return false
}

/** Length in bytes of the frame that begins here, 0 when none does. */
function frameLength(bytes: Uint8Array, at: number): number {
  const [sync = 0, kind = 0, rates = 0] = bytes.subarray(at, at + 3)
  if (sync !== 0xff || (kind & 0xe6) !== 0xe2) return 0
  const divisor = divisors[(kind >> 3) & 3] ?? 0
  const sampleRate = sampleRates[(rates >> 2) & 3] ?? 0
  const bitrate = bitrates[divisor === 1 ? 1 : 2][rates >> 4] ?? 0
  if (divisor === 0 || sampleRate === 0 || bitrate === 0) return 0
  const bytesPerSecond = bitrate * 125
  const samples = divisor === 1 ? 1_152 : 576
  return Math.floor((samples * bytesPerSecond) / (sampleRate / divisor)) + ((rates >> 1) & 1)
}
