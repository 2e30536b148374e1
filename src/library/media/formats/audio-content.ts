import { CouldNotDetermineFileTypeError } from 'music-metadata'

import type { FileTokenizer } from '../file-tokenizer.ts'
import { decodeLatin1 } from '../tags/id3v2-names.ts'
import type { AudioContent } from '../tags/native-tags.ts'
import { readOuterTags } from '../tags/outer-tags.ts'
import { UnusableFileError } from '../unusable-file.ts'
import { readFlac } from './flac.ts'
import { areMpegFrames, findMpegFrames } from './mpeg-frames.ts'
import { readMpegSeconds } from './mpeg.ts'
import { readOgg } from './ogg.ts'
import { type OtherFormatContent, readOtherFormatContent } from './other.ts'
import { readWave, isWaveStart } from './wave.ts'

/** In which the first frame of MPEG audio begins, if no other format is found. */
const startBytes = 32 * 1024

/** Reads the duration and tags of an audio file, whose content determines the format. */
export async function readAudioContent(file: FileTokenizer): Promise<AudioContent> {
  const { start, end, leading, trailing } = await readOuterTags(file)
  const head = await file.readAt(start, Math.min(startBytes, end - start))
  const isEnd = start + head.length >= end
  const magic = decodeLatin1(head.subarray(0, 4))
  if (magic === 'fLaC') return withOuter(await readFlac(file, start, end))
  if (magic === 'OggS') return withOuter(await readOgg(file, start, end))
  const other = isWaveStart(head) ? await readWave(file, start, end) : await readOthers()
  if (other !== 'mpeg') return { ...other, blocks: [...leading, ...other.blocks, ...trailing] }
  const seconds = await readMpegSeconds(file, start, end)
  if (seconds === 0) throw new UnusableFileError('it contains no audio')
  return { seconds, blocks: [...leading, ...trailing] }

  /** The tags that the format defines come first. */
  function withOuter(content: AudioContent): AudioContent {
    return { ...content, blocks: [...content.blocks, ...leading, ...trailing] }
  }

  async function readOthers(): Promise<OtherFormatContent> {
    if (areMpegFrames(head, 0, isEnd)) return 'mpeg'
    try {
      return await readOtherFormatContent(file, start)
    } catch (error) {
      const isUnknown = error instanceof CouldNotDetermineFileTypeError
      // A tag is often followed by bytes that are none.
      if (isUnknown && (leading.length > 0 || findMpegFrames(head, isEnd) >= 0)) return 'mpeg'
      throw error
    }
  }
}
