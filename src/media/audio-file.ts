import { basename, extname } from 'node:path'

import {
  CouldNotDetermineFileTypeError,
  type IAudioMetadata,
  type ICommonTagsResult,
  type IPicture,
  parseFromTokenizer,
  UnsupportedFileTypeError
} from 'music-metadata'
import { BufferSizeError } from 'strtok3'

import { type Artwork, createArtwork } from '../db/media-rows.ts'
import { NotRegularFileError, openInside, OutsideRootsError } from '../runtime/contained-files.ts'
import { reasonOf } from '../runtime/store-errors.ts'
import type { CuePoints } from '../songs/cue-points.ts'
import { detectImageType } from '../songs/image-type.ts'
import { cleanLine, cleanLines, maxLengths, type SongTags, toDurationMs } from '../songs/song.ts'
import { readCueTags } from './cue-tags.ts'
import { type AudioSource, FileTokenizer } from './file-tokenizer.ts'
import { outsideReason } from './scan.ts'
import { readNamedTags } from './tags/named-tags.ts'
import { UnusableFileError } from './unusable-file.ts'

export interface AudioFile extends SongTags {
  /** All texts of the file by the name of their tag; see `readNamedTags`. */
  readonly tags: ReadonlyMap<string, string>
  cover: Artwork | null
  /** Why a cover of the file was left out, as a sentence; empty if none was. */
  coverNotice: string
  cues: CuePoints
}

const timeoutMs = 10_000
/** For files that are read over the network. */
const sourceTimeoutMs = 60_000
const windowBytes = 64 * 1024
/** Up to this size an MP3 is scanned, in about 0.3 seconds, instead of estimating its duration. */
const maxScannedBytes = 64 * 1024 * 1024
const maxCoverBytes = 5 * 1024 * 1024

/**
 * Reads tags, duration, cue points and cover of a regular file; its content determines the format. Takes at most about
 * ten seconds and 64 MiB. The file must be inside one of `realRoots`, which are real paths. `name` is the title of a file
 * without one. Throws an `UnusableFileError` for any problem of the file.
 */
export async function readAudioFile(
  path: string,
  realRoots: readonly string[],
  name = path
): Promise<AudioFile> {
  return withProblems(async () => {
    const deadlineMs = performance.now() + timeoutMs
    await using file = await openInside(path, realRoots)
    const source: AudioSource = {
      size: (await file.stat()).size,
      windowBytes,
      read: async (window, offset) => (await file.read(window, 0, window.length, offset)).bytesRead
    }
    return await read(new FileTokenizer(source, deadlineMs), name)
  })
}

/** Reads the same from a file that is elsewhere, in at most about a minute. */
export const readAudioSource = (source: AudioSource, name: string): Promise<AudioFile> =>
  withProblems(() => read(new FileTokenizer(source, performance.now() + sourceTimeoutMs), name))

async function withProblems(work: () => Promise<AudioFile>): Promise<AudioFile> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof UnusableFileError
      ? error
      : new UnusableFileError(describeProblem(error), { cause: error })
  }
}

function describeProblem(error: unknown): string {
  if (error instanceof OutsideRootsError) return outsideReason
  if (error instanceof NotRegularFileError) return 'it is not a regular file'
  if (error instanceof CouldNotDetermineFileTypeError || error instanceof UnsupportedFileTypeError)
    return 'it is not audio'
  if (error instanceof BufferSizeError) return 'one of its tags is larger than 32 MiB'
  return `it cannot be read (${cleanLine(reasonOf(error), 200)})`
}

async function read(tokenizer: FileTokenizer, path: string): Promise<AudioFile> {
  if (tokenizer.size === 0) throw new UnusableFileError('it is empty')
  const start = Buffer.alloc(Math.min(tokenizer.size, 32 * 1024))
  await tokenizer.peekBuffer(start, { mayBeLess: true })
  const { format, common, native } = await parse(tokenizer, start)
  if (format.codec === undefined && !format.sampleRate) throw new UnusableFileError('it contains no audio')
  if (format.hasVideo === true && format.hasAudio !== true)
    throw new UnusableFileError('it is a video without sound')
  const durationMs = await findDurationMs(tokenizer, format)
  if (durationMs === 0) throw new UnusableFileError('its duration is zero or unknown')
  const cues = readCueTags(native, durationMs)
  const tags = readNamedTags(native)
  return { ...readTags(common, path), tags, durationMs, cues, ...chooseCover(common.picture ?? []) }
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
 * Scans Ogg files, and MP3 files whose header does not count their frames. For those the parser divides the
 * file size by the bitrate of the first frames, which is wrong for a variable bitrate after a silent start.
 */
async function findDurationMs(tokenizer: FileTokenizer, format: IAudioMetadata['format']): Promise<number> {
  const declaredMs = toDurationMs(format.duration)
  const isMpeg = format.container === 'MPEG'
  const isEstimate = isMpeg && format.duration === (format.numberOfSamples ?? 0) / (format.sampleRate ?? 1)
  if (declaredMs > 0 && !(isEstimate && tokenizer.size <= maxScannedBytes)) return declaredMs
  tokenizer.setPosition(0)
  // The parser estimates if it knows the size.
  if (isMpeg) tokenizer.hideSize()
  const scanned = await parseFromTokenizer(tokenizer, { duration: true, skipCovers: true })
  return toDurationMs(scanned.format.duration) || declaredMs
}

function readTags(common: ICommonTagsResult, path: string): Omit<SongTags, 'durationMs'> {
  const { artist = '', title = '', album = '', genre = [], isrc = [] } = common
  return {
    artist: cleanLine(artist, maxLengths.artist),
    artists: [],
    title: cleanLine(title, maxLengths.title) || cleanLine(basename(path, extname(path)), maxLengths.title),
    album: cleanLine(album, maxLengths.album),
    genre: cleanLine(genre.slice(0, 20).join(', '), maxLengths.genre),
    isrc: cleanLine(isrc[0] ?? '', maxLengths.isrc),
    lyrics: readLyrics(common)
  }
}

/** Returns plain text. Line times are removed, whether they are data or a prefix like `[01:23.45]`. */
function readLyrics(common: ICommonTagsResult): string {
  const texts = (common.lyrics ?? []).map(tag => tag.text ?? tag.syncText.map(line => line.text).join('\n'))
  const text = texts.find(candidate => candidate.trim() !== '') ?? ''
  const plain = text.slice(0, maxLengths.lyrics * 8).replace(/^(\[\d{1,3}:\d\d(\.\d{1,3})?\] ?)+/gm, '')
  return cleanLines(plain, maxLengths.lyrics)
}

/**
 * Chooses the front cover, else the first usable picture; null if there is none. A front cover that is too large is named
 * also if another picture takes its place. The type in the tag is
 * ignored: browsers are only sent bytes that begin like a JPEG, PNG, WebP or GIF.
 */
function chooseCover(pictures: IPicture[]): Pick<AudioFile, 'cover' | 'coverNotice'> {
  const fronts = pictures.filter(picture => picture.type === 'Cover (front)')
  let coverNotice = ''
  for (const { data } of [...fronts, ...pictures]) {
    const contentType = detectImageType(data)
    if (contentType === null) continue
    if (data.length > maxCoverBytes) {
      const mebibytes = (data.length / 2 ** 20).toFixed(1)
      coverNotice ||= `Its cover was left out: it has ${mebibytes} MiB, and a cover may have ${maxCoverBytes / 2 ** 20}.`
      continue
    }
    // Copied, so that the large buffer it may be a part of is freed.
    return { cover: createArtwork(Buffer.from(data), contentType), coverNotice }
  }
  return { cover: null, coverNotice }
}

/** kbit/s by the four bits of a Layer III header: MPEG 1, then MPEG 2 and 2.5. */
const bitrates = {
  1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
  2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
} as const
const sampleRates = [44_100, 48_000, 32_000, 0] as const
/** The divisor of the sample rate for MPEG 2.5, reserved, MPEG 2, MPEG 1. */
const divisors = [4, 0, 2, 1] as const

/** Whether there are three consecutive Layer III frames. Recordings of streams begin inside a frame. */
export function hasMpegFrames(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const second = at + readFrameLength(bytes, at)
    const third = second + readFrameLength(bytes, second)
    if (second > at && third > second && readFrameLength(bytes, third) > 0) return true
  }
  return false
}

/** Returns the length in bytes of the frame at an index, 0 if there is none. */
function readFrameLength(bytes: Uint8Array, at: number): number {
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
