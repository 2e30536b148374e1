import type { IPicture } from 'music-metadata'

import { decodeForeignText } from '../../../platform/text/foreign-text.ts'
import { maxNativeTags, maxTagTextBytes, type NativeTag, type TagBlock } from './native-tags.ts'

/** Reads the comments of Vorbis, Opus and FLAC, from their vendor on. What is malformed ends them. */
export function parseVorbisComments(bytes: Uint8Array): TagBlock {
  const tags: NativeTag[] = []
  const pictures: IPicture[] = []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = bytes.length < 4 ? bytes.length : 4 + view.getUint32(0, true)
  const count = at + 4 > bytes.length ? 0 : Math.min(view.getUint32(at, true), maxNativeTags)
  at += 4
  for (let comment = 0; comment < count && at + 4 <= bytes.length; comment += 1) {
    const length = view.getUint32(at, true)
    const content = bytes.subarray(at + 4, at + 4 + length)
    at += 4 + length
    if (at > bytes.length) break
    const equals = content.indexOf(0x3d)
    if (equals <= 0 || equals > 200) continue
    const id = decodeForeignText(content.subarray(0, equals)).toUpperCase()
    const value = content.subarray(equals + 1)
    if (id === 'METADATA_BLOCK_PICTURE' || id === 'COVERART') {
      const data = Buffer.from(Buffer.from(value).toString('latin1'), 'base64')
      const picture = id === 'COVERART' ? { format: '', data } : parseFlacPicture(data)
      if (picture && pictures.length < 50) pictures.push(picture)
    } else tags.push({ id, text: decodeForeignText(value.subarray(0, maxTagTextBytes)) })
  }
  return { tags, pictures }
}

/** Reads a picture block of FLAC: numbers of four bytes, of which some are the length of a text that follows. */
export function parseFlacPicture(bytes: Uint8Array): IPicture | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length < 32) return null
  const formatEnd = 8 + view.getUint32(4)
  if (formatEnd + 4 > bytes.length) return null
  const sizes = formatEnd + 4 + view.getUint32(formatEnd)
  if (sizes + 20 > bytes.length) return null
  const data = bytes.subarray(sizes + 20, sizes + 20 + view.getUint32(sizes + 16))
  const format = decodeForeignText(bytes.subarray(8, formatEnd).subarray(0, 100))
  return { format, data, ...(view.getUint32(0) === 3 ? { type: 'Cover (front)' } : {}) }
}
