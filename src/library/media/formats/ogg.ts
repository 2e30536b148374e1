import type { FileTokenizer } from '../file-tokenizer.ts'
import type { AudioContent } from '../tags/native-tags.ts'
import { UnusableFileError } from '../unusable-file.ts'
import { OggHeaders } from './ogg-headers.ts'
import { identifyOggStream, type OggStream } from './ogg-streams.ts'

/** One of the pages of which Ogg consists. */
interface Page {
  readonly serial: number
  /** Whether a stream begins. */
  readonly isFirst: boolean
  /** The number of samples from the start of the stream to the end of this page; null if no packet ends in it. */
  readonly granule: number | null
  readonly segments: Uint8Array
  readonly bodyAt: number
  readonly end: number
}

/** A part of a chain: the files that were joined. */
interface Link {
  readonly stream: OggStream | null
  firstGranule: number
  lastGranule: number
}

const maxHeaderBytes = 27 + 255
/** Larger files are not searched for further links; their last pages tell the duration. */
const maxWalkedBytes = 256 * 1024 * 1024
const tailBytes = 256 * 1024
/** A stream that was recorded from the middle starts at a later sample. A page has less than this. */
const maxPageSeconds = 20

/** Reads Vorbis, Opus, FLAC or Speex in Ogg, in a part of a file. Tags are those of the first link of a chain. */
export async function readOgg(file: FileTokenizer, start: number, end: number): Promise<AudioContent> {
  const headers = new OggHeaders()
  let seconds = 0
  let link: Link = { stream: null, firstGranule: -1, lastGranule: 0 }
  let isInHeads = false
  let hasVideo = false
  for (let at = start; at < end;) {
    const page = await readPage(file, at, end)
    if (page === null) {
      at = await findPage(file, at + 1, end)
      continue
    }
    at = page.end
    if (page.isFirst) {
      const head = await file.readAt(page.bodyAt, Math.min(page.end - page.bodyAt, 256))
      const found = identifyOggStream(head, page.serial)
      hasVideo ||= found === 'video'
      const stream = typeof found === 'string' ? null : found
      if (isInHeads) link = link.stream === null ? { ...link, stream } : link
      else {
        seconds += secondsOf(link)
        link = { stream, firstGranule: -1, lastGranule: 0 }
      }
      isInHeads = true
    } else isInHeads = false
    if (page.serial !== link.stream?.serial) continue
    if (!headers.isComplete) await headers.add(file, link.stream, page)
    if (!page.isFirst && page.granule !== null && page.granule > 0) {
      if (link.firstGranule < 0) link.firstGranule = page.granule
      link.lastGranule = page.granule
    }
    const isFar = end - start > maxWalkedBytes && at < end - tailBytes
    if (isFar && headers.isComplete && link.firstGranule >= 0) at = await findPage(file, end - tailBytes, end)
  }
  if (headers.stream === null)
    throw new UnusableFileError(hasVideo ? 'it is a video without sound' : 'it contains no audio')
  return { seconds: seconds + secondsOf(link), blocks: [headers.tags] }
}

function secondsOf({ stream, firstGranule, lastGranule }: Link): number {
  if (stream === null) return 0
  const isFromMiddle = firstGranule > maxPageSeconds * stream.sampleRate
  return Math.max(0, lastGranule - (isFromMiddle ? firstGranule : stream.skippedSamples)) / stream.sampleRate
}

/** Reads the header of a page; null if there is none, or the page is truncated. */
async function readPage(file: FileTokenizer, at: number, end: number): Promise<Page | null> {
  const header = await file.readAt(at, Math.min(maxHeaderBytes, end - at))
  if (header.length < 27 || header.readUInt32BE(0) !== 0x4f676753) return null
  const bodyAt = at + 27 + (header[26] ?? 0)
  const segments = header.subarray(27, bodyAt - at)
  const pageEnd = segments.reduce((sum, length) => sum + length, bodyAt)
  if (pageEnd > end) return null
  const granule = Number(header.readBigInt64LE(6))
  return {
    serial: header.readUInt32LE(14),
    isFirst: ((header[5] ?? 0) & 2) !== 0,
    granule: granule >= 0 && Number.isSafeInteger(granule) ? granule : null,
    segments,
    bodyAt,
    end: pageEnd
  }
}

async function findPage(file: FileTokenizer, start: number, end: number): Promise<number> {
  for (let at = start; at < end; at += tailBytes - 3) {
    const bytes = await file.readAt(at, Math.min(tailBytes, end - at))
    const found = bytes.indexOf('OggS', 0, 'latin1')
    if (found >= 0) return at + found
  }
  return end
}
