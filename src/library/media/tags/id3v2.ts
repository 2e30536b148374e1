import { inflateSync } from 'node:zlib'

import type { IPicture } from 'music-metadata'

import { parseId3v2Frames } from './id3v2-frames.ts'
import { decodeId3Latin, decodeId3Text, splitTextAtNul } from './id3v2-text.ts'
import { maxNativeTags, type NativeTag, type TagBlock } from './native-tags.ts'

/** Pictures are the only content that is larger. */
const maxFrameBytes = 32 * 1024 * 1024
/** Of all compressed frames of a tag together. Each that fails halves the rest. */
const maxInflatedBytes = 8 * 1024 * 1024

/**
 * Reads an ID3v2 tag (2.2, 2.3 or 2.4) with its header. Frames are named as in 2.4. Frames that are malformed,
 * encrypted or repeated are ignored; a value is split at NUL only, because a slash may belong to a name.
 */
export function parseId3v2Tag(tag: Uint8Array): TagBlock {
  const tags: NativeTag[] = []
  const pictures: IPicture[] = []
  let inflatableBytes = maxInflatedBytes
  for (const { id, content, isCompressed } of parseId3v2Frames(tag)) {
    if (tags.length >= maxNativeTags) break
    const bytes = isCompressed ? inflate(content, inflatableBytes) : content
    if (isCompressed) inflatableBytes = bytes === null ? inflatableBytes >> 1 : inflatableBytes - bytes.length
    if (bytes === null) continue
    if (bytes.length < 2 || bytes.length > maxFrameBytes) continue
    if (id === 'APIC' || id === 'PIC') {
      const picture = readPicture(bytes, id === 'PIC')
      if (picture && pictures.length < 50) pictures.push(picture)
    } else tags.push(...readTexts(id, bytes).slice(0, maxNativeTags - tags.length))
  }
  return { tags, pictures }
}

function inflate(bytes: Uint8Array, maxOutputLength: number): Uint8Array | null {
  try {
    return maxOutputLength > 0 ? inflateSync(bytes, { maxOutputLength }) : null
  } catch {
    return null
  }
}

function readTexts(id: string, bytes: Uint8Array): NativeTag[] {
  const [encoding = 0] = bytes
  const texts = () => splitTextAtNul(decodeId3Text(bytes.subarray(1), encoding))
  const named = (name: string, values: readonly string[]) =>
    values.map(text => ({ id: name === '' ? id : `${id}:${name}`, text }))
  switch (id) {
    case 'TXXX':
    case 'WXXX': {
      const [name = '', ...values] = texts()
      return named(name.trim(), values)
    }
    case 'COMM':
    case 'USLT': {
      if (bytes.length < 5) return []
      const [name = '', ...values] = splitTextAtNul(decodeId3Text(bytes.subarray(4), encoding))
      return id === 'USLT' ? named('', values) : named(name.trim(), values)
    }
    case 'SYLT':
      return named('', [readSynchronizedText(bytes)])
    case 'RVA2':
    case 'XRVA':
      return readRelativeVolume(bytes).map(text => ({ id: 'RVA2', text }))
    case 'WFED':
    case 'GRP1':
    case 'MVNM':
    case 'MVIN':
      return named('', texts())
    // One text, even where it contains NUL.
    case 'TIT1':
    case 'TIT2':
    case 'TIT3':
      return named('', [texts().join(' ')])
    case 'TIPL':
    case 'TMCL':
    case 'IPLS':
      return named('', [texts().join(', ')])
    default:
      if (id.startsWith('T')) return named('', texts())
      return id.startsWith('W') ? named('', splitTextAtNul(decodeId3Latin(bytes)).slice(0, 1)) : []
  }
}

/** A gain in decibels for all channels, in steps of 1/512; of the track, if the frame names what it is about. */
function readRelativeVolume(bytes: Uint8Array): string[] {
  const end = bytes.indexOf(0)
  if (end < 0) return []
  const about = decodeId3Latin(bytes.subarray(0, end)).toLowerCase()
  if (about.includes('album')) return []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  // Each channel: its kind (1: all), the gain, the bits of its peak, and the peak.
  for (let at = end + 1; at + 4 <= bytes.length; at += 4 + Math.ceil((bytes[at + 3] ?? 0) / 8))
    if (bytes[at] === 1) return [`${view.getInt16(at + 1) / 512} dB`]
  return []
}

function readSynchronizedText(bytes: Uint8Array): string {
  const [encoding = 0] = bytes
  const isWide = encoding === 1 || encoding === 2
  const lines: string[] = []
  let at = 6
  // The first text describes the others, each of which has a time of four bytes.
  for (let line = 0; at < bytes.length && line <= maxNativeTags; line += 1) {
    const end = findNul(bytes, at, isWide)
    if (line > 0) lines.push(decodeId3Text(bytes.subarray(at, end), encoding).trim())
    at = end + (isWide ? 2 : 1) + (line > 0 ? 4 : 0)
  }
  return lines.join('\n')
}

function readPicture(bytes: Uint8Array, isShort: boolean): IPicture | null {
  const [encoding = 0] = bytes
  const typeAt = isShort ? 4 : findNul(bytes, 1, false) + 1
  const format = decodeId3Latin(bytes.subarray(1, isShort ? 4 : typeAt - 1))
  const isWide = encoding === 1 || encoding === 2
  const dataAt = findNul(bytes, typeAt + 1, isWide) + (isWide ? 2 : 1)
  if (dataAt >= bytes.length) return null
  return { format, data: bytes.subarray(dataAt), ...(bytes[typeAt] === 3 ? { type: 'Cover (front)' } : {}) }
}

/** The index of the NUL that ends a text, or the end. */
function findNul(bytes: Uint8Array, start: number, isWide: boolean): number {
  if (!isWide) {
    const at = bytes.indexOf(0, start)
    return at < 0 ? bytes.length : at
  }
  for (let at = start; at + 1 < bytes.length; at += 2) if (bytes[at] === 0 && bytes[at + 1] === 0) return at
  return bytes.length
}
