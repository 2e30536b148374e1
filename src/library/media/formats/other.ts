import { type IAudioMetadata, type IPicture, parseFromTokenizer } from 'music-metadata'

import { decodeForeignText, withoutLostCharacters } from '../../../platform/text/foreign-text.ts'
import type { FileTokenizer } from '../file-tokenizer.ts'
import { decodeLatin1 } from '../tags/id3v2-names.ts'
import { parseId3v2Tag } from '../tags/id3v2.ts'
import {
  type AudioContent,
  maxNativeTags,
  maxTagTextBytes,
  type NativeTag,
  noTagBlock,
  type TagBlock
} from '../tags/native-tags.ts'
import { UnusableFileError } from '../unusable-file.ts'
import { readMp4Texts } from './mp4.ts'

const maxChunks = 10_000

/** What the parser found, or that the file is MPEG audio that starts somewhere. */
export type OtherFormatContent = AudioContent | 'mpeg'

/** Reads MP4, WMA, AIFF, AAC, Matroska, WavPack, Musepack, Monkey's Audio and so on, after the tags at its start. */
export async function readOtherFormatContent(
  file: FileTokenizer,
  start: number
): Promise<OtherFormatContent> {
  file.setPosition(start)
  const { format, native } = await parseFromTokenizer(file, {})
  if (format.container === 'MPEG') return 'mpeg'
  if (format.codec === undefined && !format.sampleRate) throw new UnusableFileError('it contains no audio')
  if (format.hasVideo === true && format.hasAudio !== true)
    throw new UnusableFileError('it is a video without sound')
  const seconds = (format.duration ?? 0) > 0 ? format.duration : await countSeconds(file, start)
  const aiff = await readAiff(file, start)
  const mp4 = native['iTunes']?.some(({ value }) => isDamaged(value)) ? await readMp4Texts(file, start) : []
  const author = native['asf'] ? await readAsfAuthor(file, start) : ''
  const blocks = Object.entries(native)
    .filter(([kind]) => kind !== 'AIFF' && (aiff.id3 === noTagBlock || !kind.startsWith('ID3v2')))
    .map(([kind, tags]) => (kind === 'iTunes' ? withTexts(toBlock(tags), mp4) : toBlock(tags)))
    .map(block => (author === '' ? block : withAuthorFirst(block, author)))
  return { seconds: seconds ?? 0, blocks: [aiff.id3, aiff.texts, ...blocks] }
}

/** AAC states no duration: all of its frames are read. */
async function countSeconds(file: FileTokenizer, start: number): Promise<number> {
  file.setPosition(start)
  const { format } = await parseFromTokenizer(file, { duration: true, skipCovers: true })
  return format.duration ?? 0
}

function toBlock(native: IAudioMetadata['native'][string]): TagBlock {
  const tags: NativeTag[] = []
  const pictures: IPicture[] = []
  for (const { id, value } of native.slice(0, maxNativeTags)) {
    if (isPicture(value)) pictures.push(/back/i.test(id) ? { ...value, type: 'Cover (back)' } : value)
    const text = textOf(value)
    if (text !== '') tags.push({ id, text })
  }
  return { tags, pictures }
}

/** Whether a text has lost characters, because it was not in the encoding of the format. */
const isDamaged = (value: unknown): boolean => typeof value === 'string' && value.includes('\uFFFD')

/** Replaces the texts of a block by those of the same tags in `texts`, if there are any. */
function withTexts(block: TagBlock, texts: readonly NativeTag[]): TagBlock {
  const ids = new Set(texts.map(({ id }) => id))
  return { ...block, tags: [...texts, ...block.tags.filter(({ id }) => !ids.has(id))] }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return withoutLostCharacters(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'object' && value !== null && 'text' in value ? textOf(value.text) : ''
}

function isPicture(value: unknown): value is IPicture {
  return typeof value === 'object' && value !== null && 'data' in value && value.data instanceof Uint8Array
}

/** Reads the chunks of AIFF that contain an ID3v2 tag or texts, whose encoding is unknown. */
async function readAiff(file: FileTokenizer, start: number): Promise<{ id3: TagBlock; texts: TagBlock }> {
  const tags: NativeTag[] = []
  let id3 = noTagBlock
  const header = await file.readAt(start, 12)
  const isAiff = /^FORM.{4}AIF[FC]$/s.test(decodeLatin1(header))
  let at = isAiff ? start + 12 : file.size
  for (let count = 0; count < maxChunks && at + 8 <= file.size; count += 1) {
    const chunk = await file.readAt(at, 8)
    const size = chunk.readUInt32BE(4)
    const name = decodeLatin1(chunk.subarray(0, 4))
    if (/^ID3 $/i.test(name) && id3 === noTagBlock) id3 = parseId3v2Tag(await file.readAt(at + 8, size))
    if (/^(NAME|AUTH|\(c\) |ANNO)$/.test(name) && tags.length < maxNativeTags) {
      const text = decodeForeignText(await file.readAt(at + 8, Math.min(size, maxTagTextBytes)))
      const values = text.split('\0', 100).filter(value => value.trim() !== '')
      // The names would be others in Vorbis comments.
      tags.push(...values.map(value => ({ id: `AIFF:${name.trim()}`, text: value.trim() })))
    }
    at += 8 + size + (size % 2)
  }
  return { id3, texts: { tags, pictures: [] } }
}

/** The GUID of the object `Content Description` of ASF. */
const contentDescription = '3326b2758e66cf11a6d900aa0062ce6c'

/** Reads the first author of ASF. Others are in an object that may precede it. Empty if there is none. */
async function readAsfAuthor(file: FileTokenizer, start: number): Promise<string> {
  let at = start + 30
  for (let count = 0; count < 100 && at + 34 <= file.size; count += 1) {
    const object = await file.readAt(at, 34)
    const size = Number(object.readBigUInt64LE(16))
    if (object.toString('hex', 0, 16) === contentDescription) {
      const author = await file.readAt(at + 34 + object.readUInt16LE(24), object.readUInt16LE(26))
      return author.toString('utf16le').replace(/\0+$/, '')
    }
    if (size < 24) return ''
    at += size
  }
  return ''
}

function withAuthorFirst({ tags, pictures }: TagBlock, author: string): TagBlock {
  const isFirst = ({ id, text }: NativeTag) => id === 'Author' && text === author
  const first = tags.filter(isFirst).slice(0, 1)
  return { tags: [...first, ...tags.filter(tag => !isFirst(tag))], pictures }
}
