import type { IPicture } from 'music-metadata'

import { decodeForeignText } from '../../../platform/text/foreign-text.ts'
import { decodeLatin1 } from './id3v2-names.ts'
import { maxNativeTags, maxTagTextBytes, type NativeTag, noTagBlock, type TagBlock } from './native-tags.ts'

export const apeFooterBytes = 32

/** The length of the items and the footer that ends here, or 0. The header before them is not counted. */
export function parseApeLength(footer: Uint8Array): number {
  if (footer.length < apeFooterBytes || decodeLatin1(footer.subarray(0, 8)) !== 'APETAGEX') return 0
  const size = view(footer).getUint32(12, true)
  return size >= apeFooterBytes ? size : 0
}

/** Reads the items of an APEv1 or APEv2 tag, which end with its footer. Malformed items end the tag. */
export function parseApeTag(tag: Uint8Array): TagBlock {
  if (tag.length < apeFooterBytes) return noTagBlock
  const end = tag.length - apeFooterBytes
  const count = Math.min(view(tag).getUint32(end + 16, true), maxNativeTags)
  const tags: NativeTag[] = []
  const pictures: IPicture[] = []
  let at = 0
  for (let item = 0; item < count && at + 8 < end && tags.length < maxNativeTags; item += 1) {
    const size = view(tag).getUint32(at, true)
    const kind = (view(tag).getUint32(at + 4, true) >> 1) & 3
    const nameEnd = tag.indexOf(0, at + 8)
    const dataEnd = nameEnd + 1 + size
    if (nameEnd < 0 || nameEnd - at > 264 || dataEnd > end) break
    const id = decodeLatin1(tag.subarray(at + 8, nameEnd))
    const value = tag.subarray(nameEnd + 1, dataEnd)
    if (kind === 0) tags.push(...readTexts(id, value).slice(0, maxNativeTags - tags.length))
    else if (kind === 1 && /^cover art/i.test(id)) pictures.push(readCover(id, value))
    at = dataEnd
  }
  return { tags, pictures }
}

function readTexts(id: string, value: Uint8Array): NativeTag[] {
  const tags: NativeTag[] = []
  const bytes = value.subarray(0, maxTagTextBytes)
  let start = 0
  while (start <= bytes.length && tags.length < 1_000) {
    const nul = bytes.indexOf(0, start)
    const end = nul < 0 ? bytes.length : nul
    tags.push({ id, text: decodeForeignText(bytes.subarray(start, end)) })
    start = end + 1
  }
  return tags
}

/** The name of a file, NUL and its content. */
function readCover(id: string, value: Uint8Array): IPicture {
  const data = value.subarray(value.indexOf(0) + 1)
  return { format: '', data, ...(/front/i.test(id) ? { type: 'Cover (front)' } : {}) }
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
