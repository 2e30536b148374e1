import { type IAudioMetadata, type IPicture, parseFromTokenizer } from 'music-metadata'

import { withoutLostCharacters } from '../../runtime/foreign-text.ts'
import type { FileTokenizer } from '../file-tokenizer.ts'
import { latinOf } from '../tags/id3v2-names.ts'
import { readId3v2 } from '../tags/id3v2.ts'
import { maxNativeTags, type NativeTag, noTags, type TagBlock } from '../tags/native-tags.ts'
import { UnusableFileError } from '../unusable-file.ts'
import type { AudioContent } from './audio-content.ts'

const maxChunks = 10_000

/** What the parser found, or that the file is MPEG audio that starts somewhere. */
export type OtherContent = AudioContent | 'mpeg'

/** Reads MP4, WMA, AIFF, AAC, Matroska, WavPack, Musepack, Monkey's Audio and so on, after the tags at its start. */
export async function readOther(file: FileTokenizer, start: number): Promise<OtherContent> {
  file.setPosition(start)
  const { format, native } = await parseFromTokenizer(file, {})
  if (format.container === 'MPEG') return 'mpeg'
  if (format.codec === undefined && !format.sampleRate) throw new UnusableFileError('it contains no audio')
  if (format.hasVideo === true && format.hasAudio !== true)
    throw new UnusableFileError('it is a video without sound')
  const seconds = (format.duration ?? 0) > 0 ? format.duration : await countSeconds(file, start)
  const aiff = await readAiffId3(file, start)
  const blocks = Object.entries(native)
    .filter(([kind]) => aiff === noTags || !kind.startsWith('ID3v2'))
    .map(([kind, tags]) => toBlock(kind, tags))
  return { seconds: seconds ?? 0, blocks: [aiff, ...blocks] }
}

/** AAC states no duration: all of its frames are read. */
async function countSeconds(file: FileTokenizer, start: number): Promise<number> {
  file.setPosition(start)
  const { format } = await parseFromTokenizer(file, { duration: true, skipCovers: true })
  return format.duration ?? 0
}

function toBlock(kind: string, native: IAudioMetadata['native'][string]): TagBlock {
  const tags: NativeTag[] = []
  const pictures: IPicture[] = []
  for (const { id, value } of native.slice(0, maxNativeTags)) {
    if (isPicture(value)) pictures.push(/back/i.test(id) ? { ...value, type: 'Cover (back)' } : value)
    const text = textOf(value)
    // The names of AIFF would be others in Vorbis comments.
    if (text !== '') tags.push({ id: kind === 'AIFF' ? `AIFF:${id.trim()}` : id, text })
  }
  return { tags, pictures }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return withoutLostCharacters(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'object' && value !== null && 'text' in value ? textOf(value.text) : ''
}

function isPicture(value: unknown): value is IPicture {
  return typeof value === 'object' && value !== null && 'data' in value && value.data instanceof Uint8Array
}

/** Reads the chunk of AIFF that contains an ID3v2 tag. */
async function readAiffId3(file: FileTokenizer, start: number): Promise<TagBlock> {
  const header = await file.readAt(start, 12)
  if (!/^FORM.{4}AIF[FC]$/s.test(latinOf(header))) return noTags
  let at = start + 12
  for (let count = 0; count < maxChunks && at + 8 <= file.size; count += 1) {
    const chunk = await file.readAt(at, 8)
    const size = chunk.readUInt32BE(4)
    if (/^ID3 $/i.test(latinOf(chunk.subarray(0, 4)))) return readId3v2(await file.readAt(at + 8, size))
    at += 8 + size + (size % 2)
  }
  return noTags
}
