import { CouldNotDetermineFileTypeError, type IPicture, UnsupportedFileTypeError } from 'music-metadata'
import { BufferSizeError } from 'strtok3'

import type { CuePoints } from '../../model/songs/cue-points.ts'
import { detectImageType } from '../../model/songs/image-type.ts'
import { cleanLine, type SongTags, toDurationMs } from '../../model/songs/song.ts'
import {
  NotRegularFileError,
  openInsideRoots,
  OutsideRootsError
} from '../../platform/runtime/contained-files.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import { type Cover, createCover } from '../../stores/db/library/media-rows.ts'
import { parseCueTags } from './cue-tags.ts'
import { type AudioSource, FileTokenizer } from './file-tokenizer.ts'
import { readAudioContent } from './formats/audio-content.ts'
import { outsideFoldersMessage } from './scan.ts'
import { collectTagTexts, mergeTagTexts, toNamedTags } from './tags/named-tags.ts'
import { toSongTags } from './tags/song-tags.ts'
import { UnusableFileError } from './unusable-file.ts'

export interface AudioFile extends SongTags {
  /** All texts of the file by the name of their tag; see `toNamedTags`. */
  readonly tags: ReadonlyMap<string, string>
  cover: Cover | null
  /** Why a cover of the file was left out, as a sentence; empty if none was. */
  coverNotice: string
  cues: CuePoints
}

const timeoutMs = 10_000
/** For files that are read over the network. */
const sourceTimeoutMs = 60_000
const windowBytes = 64 * 1024
const maxCoverBytes = 5 * 1024 * 1024

/**
 * Reads tags, duration, cue points and cover of a regular file; its content determines the format. Takes at most about
 * ten seconds and 64 MiB. The file must be inside one of `realRoots`, which are real paths. `name` is the title of a
 * file without one. Throws an `UnusableFileError` for any problem of the file.
 */
export async function readAudioFile(
  path: string,
  realRoots: readonly string[],
  name = path
): Promise<AudioFile> {
  return withProblems(async () => {
    const deadlineMs = performance.now() + timeoutMs
    await using file = await openInsideRoots(path, realRoots)
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
      : new UnusableFileError(describeUnusable(error), { cause: error })
  }
}

function describeUnusable(error: unknown): string {
  if (error instanceof OutsideRootsError) return outsideFoldersMessage
  if (error instanceof NotRegularFileError) return 'it is not a regular file'
  if (error instanceof CouldNotDetermineFileTypeError || error instanceof UnsupportedFileTypeError)
    return 'it is not audio'
  if (error instanceof BufferSizeError) return 'one of its tags is larger than 32 MiB'
  return `it cannot be read (${cleanLine(describeError(error), 200)})`
}

async function read(file: FileTokenizer, path: string): Promise<AudioFile> {
  if (file.size === 0) throw new UnusableFileError('it is empty')
  const { seconds, blocks } = await readAudioContent(file)
  const durationMs = toDurationMs(seconds)
  if (durationMs === 0) throw new UnusableFileError('its duration is zero or unknown')
  const texts = blocks.map(collectTagTexts)
  const merged = mergeTagTexts(texts)
  return {
    ...toSongTags(texts, merged, path),
    tags: toNamedTags(merged),
    durationMs,
    cues: parseCueTags(merged, durationMs),
    ...chooseCover(blocks.flatMap(({ pictures }) => pictures))
  }
}

/**
 * Chooses the front cover, else the first usable picture; null if there is none. A front cover that is too large is
 * named also if another picture takes its place. The type in the tag is ignored: browsers are only sent bytes that
 * begin like a JPEG, PNG, WebP or GIF.
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
    return { cover: createCover(Buffer.from(data), contentType), coverNotice }
  }
  return { cover: null, coverNotice }
}
