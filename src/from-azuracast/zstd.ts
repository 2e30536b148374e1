import { Transform } from 'node:stream'

import { Decompress } from 'fzstd'
import { createXXHash64 } from 'hash-wasm'

const frameMagic = 0xfd2fb528
/** Skippable frames have one of 16 magic numbers, which differ in the last four bits. */
const skippableMagic = 0x184d2a50
const reservedBlock = 3
const repeatedByteBlock = 1

/** What comes next in the compressed bytes. */
type Next = 'frame' | 'block' | 'checksum' | 'skipped'

/**
 * Decompresses zstd, in one or several frames and with skippable ones, as a stream. Fails if a frame is cut, or if the checksum that it may
 * have is not that of its content.
 */
export async function createZstdDecompressor(): Promise<Transform> {
  // The package ignores checksums, so frames are found here.
  const hasher = await createXXHash64()
  let pending: Buffer = Buffer.alloc(0)
  let next: Next = 'frame'
  let hasChecksum = false
  let skippedBytes = 0
  let frame = new Decompress()

  return new Transform({
    transform(chunk: Buffer, _, done) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      try {
        for (let length = read(this); length > 0; length = read(this)) pending = pending.subarray(length)
        done()
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)))
      }
    },
    flush(done) {
      done(next === 'frame' && pending.length === 0 ? null : new Error('it ends within a zstd frame'))
    }
  })

  /** Reads the next part of the pending bytes. Returns its length; 0 if it is not complete. */
  function read(output: Transform): number {
    if (next === 'frame') return readFrameHeader(output)
    if (next === 'block') return readBlock()
    if (next === 'checksum') return readChecksum()
    const length = Math.min(skippedBytes, pending.length)
    skippedBytes -= length
    if (skippedBytes === 0) next = 'frame'
    return length
  }

  function readFrameHeader(output: Transform): number {
    if (pending.length < 8) return 0
    const magic = pending.readUInt32LE()
    // The bits are compared as a signed number.
    if ((magic & ~0xf) === skippableMagic) {
      skippedBytes = pending.readUInt32LE(4)
      if (skippedBytes > 0) next = 'skipped'
      return 8
    }
    if (magic !== frameMagic) throw new Error('this is no zstd frame')
    const descriptor = pending.readUInt8(4)
    const length = frameHeaderLength(descriptor)
    if (pending.length < length) return 0
    hasChecksum = (descriptor & 0b100) !== 0
    hasher.init()
    frame = new Decompress(bytes => {
      if (bytes.length === 0) return
      // The package uses its buffer again.
      const copy = Buffer.from(bytes)
      if (hasChecksum) hasher.update(copy)
      output.push(copy)
    })
    frame.push(pending.subarray(0, length))
    next = 'block'
    return length
  }

  function readBlock(): number {
    if (pending.length < 3) return 0
    const header = pending.readUIntLE(0, 3)
    const type = (header >> 1) & 0b11
    if (type === reservedBlock) throw new Error('a zstd block has an unknown type')
    const length = 3 + (type === repeatedByteBlock ? 1 : header >> 3)
    if (pending.length < length) return 0
    frame.push(pending.subarray(0, length))
    const isLast = (header & 1) !== 0
    if (isLast && hasChecksum) next = 'checksum'
    else if (isLast) {
      frame.push(new Uint8Array(), true)
      next = 'frame'
    }
    return length
  }

  function readChecksum(): number {
    if (pending.length < 4) return 0
    frame.push(pending.subarray(0, 4), true)
    // The low half of the hash.
    const checksum = Number.parseInt(hasher.digest('hex').slice(8), 16)
    if (checksum !== pending.readUInt32LE()) throw new Error('a zstd frame has a wrong checksum')
    next = 'frame'
    return 4
  }
}

/** The length of a frame header with its magic number, by its descriptor. */
function frameHeaderLength(descriptor: number): number {
  const isSingleSegment = (descriptor & 0b100000) !== 0
  const sizeFlag = descriptor >> 6
  const sizeLength = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 2 ** sizeFlag
  const dictionaryLength = [0, 1, 2, 4][descriptor & 0b11] ?? 0
  return 5 + (isSingleSegment ? 0 : 1) + dictionaryLength + sizeLength
}
