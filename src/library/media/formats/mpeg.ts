import type { FileTokenizer } from '../file-tokenizer.ts'
import { parseApeLength } from '../tags/ape.ts'
import { isId3v1Start } from '../tags/id3v1.ts'
import { parseId3v2Length } from '../tags/id3v2-frames.ts'
import { decodeLatin1 } from '../tags/id3v2-names.ts'
import { areMpegFrames, findMpegFrames, type MpegFrame, parseMpegFrame } from './mpeg-frames.ts'

/** Up to this size frames are counted, in about 0.1 seconds, where no header states their number. */
const maxCountedBytes = 64 * 1024 * 1024
/** Of larger files, the start is counted. */
const sampledBytes = 8 * 1024 * 1024
/** How far the first frame may be behind a tag whose size is wrong. */
const maxGapBytes = 16 * 1024 * 1024
const chunkBytes = 256 * 1024
/** More than a frame, its header and those of the next ones. */
const overlapBytes = 8 * 1024

/**
 * Finds the duration of MPEG audio in a part of a file, in seconds; 0 if there are no frames. The header that encoders
 * write is used if it fits the size; a truncated or joined file is counted.
 */
export async function readMpegSeconds(file: FileTokenizer, start: number, end: number): Promise<number> {
  const first = await findFirstFrame(file, start, end)
  if (first === null) return 0
  const bytes = await file.readAt(first, overlapBytes)
  const frame = parseMpegFrame(bytes, 0)
  if (frame === null) return 0
  const declared = readInfo(bytes, frame)
  const size = end - first
  const isFitting = declared !== null && Math.abs(declared.bytes - size) <= size / 100 + 2_048
  if (isFitting) return (declared.frames * frame.samples) / frame.sampleRate
  if (size <= maxCountedBytes) return count(file, first, end)
  return ((await count(file, first, first + sampledBytes)) * size) / sampledBytes
}

async function findFirstFrame(file: FileTokenizer, start: number, end: number): Promise<number | null> {
  for (let at = start; at < Math.min(end, start + maxGapBytes); at += chunkBytes - overlapBytes) {
    const bytes = await file.readAt(at, Math.min(chunkBytes, end - at))
    const found = findMpegFrames(bytes, at + bytes.length >= end)
    if (found >= 0) return at + found
    if (bytes.length < chunkBytes) return null
  }
  return null
}

/**
 * The numbers of frames and bytes that the first frame declares, as LAME (`Xing`, `Info`) or Fraunhofer (`VBRI`) write
 * it.
 */
function readInfo(bytes: Buffer, { infoAt }: MpegFrame): { frames: number; bytes: number } | null {
  const name = decodeLatin1(bytes.subarray(infoAt, infoAt + 4))
  if (name === 'Xing' || name === 'Info') {
    const hasBoth = ((bytes[infoAt + 7] ?? 0) & 3) === 3
    if (!hasBoth || bytes.length < infoAt + 16) return null
    return { frames: bytes.readUInt32BE(infoAt + 8), bytes: bytes.readUInt32BE(infoAt + 12) }
  }
  const isVbri = decodeLatin1(bytes.subarray(36, 40)) === 'VBRI' && bytes.length >= 54
  return isVbri ? { frames: bytes.readUInt32BE(50), bytes: bytes.readUInt32BE(46) } : null
}

const isInfo = (bytes: Buffer, at: number, { infoAt }: MpegFrame) =>
  /^(Xing|Info)$/.test(decodeLatin1(bytes.subarray(at + infoAt, at + infoAt + 4))) ||
  decodeLatin1(bytes.subarray(at + 36, at + 40)) === 'VBRI'

const indexOrEnd = (index: number) => (index < 0 ? Infinity : index)

/** Counts whole frames, in seconds. Tags and damaged bytes between frames are skipped, as in joined files. */
async function count(file: FileTokenizer, start: number, end: number): Promise<number> {
  const samples = new Map<number, number>()
  for (let position = start; position < end;) {
    const bytes = await file.readAt(position, Math.min(chunkBytes, end - position))
    const isLast = position + bytes.length >= end
    const stopAt = isLast ? bytes.length : bytes.length - overlapBytes
    if (bytes.length === 0) break
    const searched = bytes.subarray(0, stopAt)
    let at = 0
    let nextTag = -1
    let isSynchronized = true
    while (at < stopAt) {
      const frame = parseMpegFrame(bytes, at)
      if (frame !== null && frame.length >= 4 && (isSynchronized || areMpegFrames(bytes, at))) {
        isSynchronized = true
        const isWhole = at + frame.length <= bytes.length
        if (isWhole && !isInfo(bytes, at, frame))
          samples.set(frame.sampleRate, (samples.get(frame.sampleRate) ?? 0) + frame.samples)
        at += frame.length
        continue
      }
      isSynchronized = false
      const tag = bytes[at] === 0xff ? 0 : tagLength(bytes.subarray(at, at + 128))
      // A damaged one claims more than the file has.
      const length = position + at + tag > file.size ? 0 : tag
      // Searched once: a chunk may have as many damaged frames as bytes.
      if (nextTag <= at) nextTag = indexOrEnd(searched.indexOf('ID3', at + 1, 'latin1'))
      at = length > 0 ? at + length : Math.min(nextTag, indexOrEnd(searched.indexOf(0xff, at + 1)), stopAt)
    }
    position += at
  }
  return [...samples].reduce((seconds, [sampleRate, number]) => seconds + number / sampleRate, 0)
}

/** The length of a tag between two files that were joined. */
function tagLength(bytes: Uint8Array): number {
  if (isId3v1Start(bytes)) return 128
  return parseId3v2Length(bytes) || parseApeLength(bytes)
}
