import type { FileTokenizer } from '../file-tokenizer.ts'
import { type AudioContent, noTagBlock } from '../tags/native-tags.ts'
import { parseFlacPicture, parseVorbisComments } from '../tags/vorbis-comments.ts'
import { UnusableFileError } from '../unusable-file.ts'
import { findLastFlacSample, type FlacStreamInfo, parseFlacStreamInfo } from './flac-frames.ts'

const maxBlocks = 1_000
const maxPictures = 20
/** In which the last frame begins. */
const tailBytes = 256 * 1024

/** Reads FLAC in a part of a file. The last frame tells where a truncated file or one from a pipe ends. */
export async function readFlac(file: FileTokenizer, start: number, end: number): Promise<AudioContent> {
  let info: FlacStreamInfo | null = null
  let comments = noTagBlock
  const pictures = []
  let at = start + 4
  for (let block = 0; block < maxBlocks && at + 4 <= end; block += 1) {
    const header = await file.readAt(at, 4)
    const type = (header[0] ?? 0) & 0x7f
    const length = header.readUIntBE(1, 3)
    if (type === 0) info = parseFlacStreamInfo(await file.readAt(at + 4, length))
    else if (type === 4) comments = parseVorbisComments(await file.readAt(at + 4, length))
    else if (type === 6 && pictures.length < maxPictures)
      pictures.push(parseFlacPicture(await file.readAt(at + 4, length)))
    at += 4 + length
    if ((header[0] ?? 0) & 0x80) break
  }
  if (info === null) throw new UnusableFileError('it contains no audio')
  const tailAt = Math.max(at, end - tailBytes)
  const found = findLastFlacSample(await file.readAt(tailAt, end - tailAt), info, tailAt === at)
  const samples = Math.min(found ?? Infinity, info.totalSamples || Infinity)
  const own = pictures.filter(picture => picture !== null)
  return {
    seconds: samples === Infinity ? 0 : samples / info.sampleRate,
    blocks: [{ tags: comments.tags, pictures: [...own, ...comments.pictures] }]
  }
}
