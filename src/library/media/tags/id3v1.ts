import { decodeForeignText } from '../../../platform/text/foreign-text.ts'
import { id3Genres } from './id3-genres.ts'
import { type NativeTag, noTagBlock, type TagBlock } from './native-tags.ts'

export const id3v1Bytes = 128

/** Reads the 128 bytes of an ID3v1 tag. Its texts have at most 30 bytes, in an encoding that it does not name. */
export function parseId3v1Tag(tag: Uint8Array): TagBlock {
  if (!isId3v1Start(tag)) return noTagBlock
  const text = (start: number, length: number) => {
    const field = tag.subarray(start, start + length)
    const end = field.indexOf(0)
    return decodeForeignText(end < 0 ? field : field.subarray(0, end)).trim()
  }
  const hasTrack = tag[125] === 0 && tag[126] !== 0
  const tags: NativeTag[] = [
    { id: 'title', text: text(3, 30) },
    { id: 'artist', text: text(33, 30) },
    { id: 'album', text: text(63, 30) },
    { id: 'year', text: text(93, 4) },
    { id: 'comment', text: text(97, hasTrack ? 28 : 30) },
    { id: 'track', text: hasTrack ? String(tag[126]) : '' },
    { id: 'genre', text: id3Genres[tag[127] ?? 255] ?? '' }
  ]
  return { tags: tags.filter(({ text: value }) => value !== ''), pictures: [] }
}

export const isId3v1Start = (bytes: Uint8Array): boolean =>
  bytes.length >= id3v1Bytes && bytes[0] === 0x54 && bytes[1] === 0x41 && bytes[2] === 0x47
