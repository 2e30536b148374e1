import type { FileTokenizer } from '../file-tokenizer.ts'
import { apeFooterBytes, parseApeLength, parseApeTag } from './ape.ts'
import { id3v1Bytes, parseId3v1Tag, isId3v1Start } from './id3v1.ts'
import { parseId3v2Length } from './id3v2-frames.ts'
import { decodeLatin1 } from './id3v2-names.ts'
import { parseId3v2Tag } from './id3v2.ts'
import type { TagBlock } from './native-tags.ts'

/** Tags around the audio of a file, whose format knows nothing of them, and where the audio is. */
export interface OuterTags {
  readonly start: number
  readonly end: number
  readonly leading: readonly TagBlock[]
  readonly trailing: readonly TagBlock[]
}

const maxLeadingTags = 10
const lyricsFooterBytes = 15

/** Reads ID3v2 tags at the start of a file, and ID3v1 and APE tags at its end. Throws for a tag of more than 32 MiB. */
export async function readOuterTags(file: FileTokenizer): Promise<OuterTags> {
  const leading: TagBlock[] = []
  let start = 0
  while (leading.length < maxLeadingTags) {
    const length = parseId3v2Length(await file.readAt(start, 10))
    if (length === 0) break
    leading.push(parseId3v2Tag(await file.readAt(start, length)))
    // A size that is too large must not hide the audio.
    start += start + length < file.size ? length : 10
  }
  return { start, leading, ...(await readTrailingTags(file, start)) }
}

async function readTrailingTags(
  file: FileTokenizer,
  start: number
): Promise<Omit<OuterTags, 'start' | 'leading'>> {
  const trailing: TagBlock[] = []
  let end = file.size
  const id3v1 = end - start >= id3v1Bytes ? await file.readAt(end - id3v1Bytes, id3v1Bytes) : Buffer.alloc(0)
  if (isId3v1Start(id3v1)) {
    trailing.push(parseId3v1Tag(id3v1))
    end -= id3v1Bytes
    end -= await lyricsLength(file, end)
  }
  // Some programs write ID3v1 between the items and others behind them, so the footer may be before it.
  const length =
    end - start >= apeFooterBytes
      ? parseApeLength(await file.readAt(end - apeFooterBytes, apeFooterBytes))
      : 0
  if (length > 0 && length <= end - start) {
    trailing.unshift(parseApeTag(await file.readAt(end - length, length)))
    end -= length
    const header = await file.readAt(end - apeFooterBytes, apeFooterBytes)
    if (end - start >= apeFooterBytes && parseApeLength(header) > 0) end -= apeFooterBytes
  }
  return { end, trailing }
}

/** The length of Lyrics3 before an ID3v1 tag: its size in digits, and a signature. */
async function lyricsLength(file: FileTokenizer, end: number): Promise<number> {
  if (end < lyricsFooterBytes) return 0
  const footer = decodeLatin1(await file.readAt(end - lyricsFooterBytes, lyricsFooterBytes))
  const size = /^(\d{6})LYRICS200$/.exec(footer)?.[1]
  const length = size === undefined ? 0 : Number(size) + lyricsFooterBytes
  return length <= end ? length : 0
}
