import { decodeForeignText, isWideEncoding } from '../../../platform/text/foreign-text.ts'
import type { FileTokenizer } from '../file-tokenizer.ts'
import { decodeLatin1 } from '../tags/id3v2-names.ts'
import { parseId3v2Tag } from '../tags/id3v2.ts'
import {
  type AudioContent,
  maxNativeTags,
  maxTagTextBytes,
  type NativeTag,
  noTagBlock
} from '../tags/native-tags.ts'
import { UnusableFileError } from '../unusable-file.ts'

const maxChunks = 10_000
/** Programs that write into a pipe do not know the size of the audio. */
const unknownSize = 0xffff_ffff
const pcmFormats: readonly number[] = [1, 3, 0xfffe]

/** Whether a RIFF file, or one of its forms for more than 4 GiB, contains audio. */
export const isWaveStart = (start: Uint8Array): boolean =>
  /^(RIFF|RF64|BW64)/.test(decodeLatin1(start.subarray(0, 4))) &&
  decodeLatin1(start.subarray(8, 12)) === 'WAVE'

/** Reads WAV, RF64 or BW64 in a part of a file. */
export async function readWave(file: FileTokenizer, start: number, end: number): Promise<AudioContent> {
  let format = { bytesPerSecond: 0, blockBytes: 0, sampleRate: 0, isPcm: false }
  let audioBytes = 0
  let samples = 0
  let largeSize: number | null = null
  let id3 = noTagBlock
  const infos: Buffer[] = []
  let codePage: string | null = null
  let at = start + 12
  for (let count = 0; count < maxChunks && at + 8 <= end; count += 1) {
    const header = await file.readAt(at, 8)
    const name = decodeLatin1(header.subarray(0, 4))
    let size = header.readUInt32LE(4)
    const read = (length = size) => file.readAt(at + 8, Math.min(length, size, end - at - 8))
    if (name === 'ds64') {
      const large = await read(28)
      if (large.length >= 24) largeSize = Number(large.readBigUInt64LE(8))
    } else if (name === 'fmt ') {
      const fmt = await read(40)
      if (fmt.length >= 14)
        format = {
          isPcm: pcmFormats.includes(fmt.readUInt16LE(0)),
          sampleRate: fmt.readUInt32LE(4),
          bytesPerSecond: fmt.readUInt32LE(8),
          blockBytes: fmt.readUInt16LE(12)
        }
    } else if (name === 'fact') {
      const fact = await read(4)
      if (fact.length === 4) samples = fact.readUInt32LE(0)
    } else if (name === 'data') {
      const rest = end - at - 8
      // Programs that are ended while they record leave the size at 0.
      const isUnknown = size === unknownSize || (size === 0 && !(await startsChunk(at + 8)))
      size = Math.min(isUnknown ? (largeSize ?? rest) : size, rest)
      audioBytes += size
    } else if (name === 'CSET') {
      const page = await read(2)
      if (page.length === 2 && page.readUInt16LE(0) !== 0) codePage = `cp${page.readUInt16LE(0)}`
    } else if (name === 'LIST' && infos.length < 20) {
      const list = await read()
      if (decodeLatin1(list.subarray(0, 4)) === 'INFO') infos.push(list.subarray(4))
    } else if (/^id3 $/i.test(name) && id3 === noTagBlock) id3 = parseId3v2Tag(await read())
    at += 8 + size
    // Some programs write no byte of padding after an odd size.
    if (size % 2 === 1 && ((await startsChunk(at + 1)) || !(await startsChunk(at)))) at += 1
  }
  if (format.sampleRate === 0) throw new UnusableFileError('it contains no audio')
  const tags = infos.flatMap(info => readInfo(info, codePage))
  return { seconds: secondsOf(), blocks: [id3, { tags, pictures: [] }] }

  async function startsChunk(offset: number): Promise<boolean> {
    if (offset + 8 > end) return false
    const chunk = await file.readAt(offset, 8)
    return /^[ -~]{4}$/.test(decodeLatin1(chunk.subarray(0, 4))) && chunk.readUInt32LE(4) <= end - offset - 8
  }

  function secondsOf(): number {
    if (!format.isPcm && samples > 0 && samples !== unknownSize) return samples / format.sampleRate
    if (format.isPcm && format.blockBytes > 0) return audioBytes / format.blockBytes / format.sampleRate
    return format.bytesPerSecond > 0 ? audioBytes / format.bytesPerSecond : 0
  }
}

/** Reads the texts of an INFO list, whose encoding the chunk CSET may name. */
function readInfo(list: Buffer, codePage: string | null): NativeTag[] {
  const tags: NativeTag[] = []
  for (let at = 0; at + 8 <= list.length && tags.length < maxNativeTags;) {
    const size = list.readUInt32LE(at + 4)
    const value = list.subarray(at + 8, at + 8 + Math.min(size, maxTagTextBytes))
    const text = decodeForeignText(withoutEnd(value, codePage), codePage)
    const id = decodeLatin1(list.subarray(at, at + 4)).trim()
    if (text.trim() !== '') tags.push({ id, text })
    at += 8 + size + (size % 2)
  }
  return tags
}

/** Texts end with a NUL, which is two bytes in UTF-16. */
function withoutEnd(value: Buffer, codePage: string | null): Buffer {
  let length = value.length - (value.length % 2)
  while (length > 0 && value.readUInt16LE(length - 2) === 0) length -= 2
  const wide = value.subarray(0, length)
  if (isWideEncoding(wide, codePage)) return wide
  const end = value.indexOf(0)
  return end < 0 ? value : value.subarray(0, end)
}
