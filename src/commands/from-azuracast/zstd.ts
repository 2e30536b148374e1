import { Duplex } from 'node:stream'

import { Decompress } from 'fzstd'
import { createXXHash64, type IHasher } from 'hash-wasm'

const frameMagic = 0xfd2fb528
/** Skippable frames have one of 16 magic numbers, which differ in the last four bits. */
const skippableMagic = 0x184d2a50
const reservedBlock = 3
const repeatedByteBlock = 1

/** As of the command `zstd`: 128 MiB, the window of its highest level. The package allocates it at once. */
const maxWindowBytes = 2 ** 27
/** Of the format. A block is decompressed as a whole. */
const maxBlockBytes = 2 ** 17

/**
 * Decompresses zstd, in one or several frames and with skippable ones, block by block, as fast as the output is read.
 * Fails if a frame is cut, needs a window of more than 128 MiB, or if the checksum that it may have is not that of its
 * content.
 */
export async function createZstdDecompressor(): Promise<Duplex> {
  // The package ignores checksums, so frames are found here.
  const hasher = await createXXHash64()
  return Duplex.from((source: AsyncIterable<Buffer>) => decompress(source, hasher))
}

async function* decompress(source: AsyncIterable<Buffer>, hasher: IHasher): AsyncGenerator<Buffer> {
  const input = openInput(source)
  for (let start = await input.take(8); start !== null; start = await input.take(8)) {
    const magic = start.readUInt32LE()
    // The bits are compared as a signed number.
    if ((magic & ~0xf) === skippableMagic) await input.skip(start.readUInt32LE(4))
    else if (magic === frameMagic) yield* decompressFrame(start, input, hasher)
    else throw new Error('this is no zstd frame')
  }
}

async function* decompressFrame(start: Buffer, input: Input, hasher: IHasher): AsyncGenerator<Buffer> {
  const descriptor = start.readUInt8(4)
  const more = frameHeaderLength(descriptor) - start.length
  if (more < 0) input.putBack(start.subarray(more))
  const header = more < 0 ? start.subarray(0, more) : Buffer.concat([start, await input.need(more)])
  if (windowBytes(header) > maxWindowBytes)
    throw new Error('a zstd frame needs more than 128 MiB of memory: compress it without --long')
  const hasChecksum = (descriptor & 0b100) !== 0
  let blocks: Buffer[] = []
  const frame = new Decompress(bytes => {
    // The package uses its buffer again.
    if (bytes.length > 0) blocks.push(Buffer.from(bytes))
  })
  const readBlocks = () => {
    const taken = blocks
    blocks = []
    if (hasChecksum) for (const block of taken) hasher.update(block)
    return taken
  }
  hasher.init()
  frame.push(header)
  for (let isLast = false; !isLast;) {
    const head = await input.need(3)
    const bits = head.readUIntLE(0, 3)
    const [type, size] = [(bits >> 1) & 0b11, bits >> 3]
    if (type === reservedBlock) throw new Error('a zstd block has an unknown type')
    if (size > maxBlockBytes) throw new Error('a zstd block is larger than 128 KiB')
    isLast = (bits & 1) !== 0
    frame.push(Buffer.concat([head, await input.need(type === repeatedByteBlock ? 1 : size)]))
    yield* readBlocks()
  }
  const checksum = await input.need(hasChecksum ? 4 : 0)
  // The package collects the first few bytes.
  frame.push(checksum, true)
  yield* readBlocks()
  // The low half of the hash.
  if (hasChecksum && Number.parseInt(hasher.digest('hex').slice(8), 16) !== checksum.readUInt32LE())
    throw new Error('a zstd frame has a wrong checksum')
}

type Input = ReturnType<typeof openInput>

/** Reads numbers of bytes. */
function openInput(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]()
  let pending: Buffer = Buffer.alloc(0)
  /** Waits for `length` bytes. Returns false at the end. */
  const fill = async (length: number): Promise<boolean> => {
    const parts = [pending]
    let known = pending.length
    while (known < length) {
      const next = await chunks.next()
      if (next.done) break
      parts.push(next.value)
      known += next.value.length
    }
    if (parts.length > 1) pending = Buffer.concat(parts)
    return known >= length
  }
  const cut = (length: number) => {
    const bytes = pending.subarray(0, length)
    pending = pending.subarray(length)
    return bytes
  }
  const need = async (length: number): Promise<Buffer> => {
    if (!(await fill(length))) throw new Error('it ends within a zstd frame')
    return cut(length)
  }
  return {
    need,
    /** Null at the end. */
    async take(length: number): Promise<Buffer | null> {
      return !(await fill(1)) ? null : need(length)
    },
    async skip(length: number): Promise<void> {
      for (let left = length; left > 0;) {
        if (!(await fill(1))) throw new Error('it ends within a zstd frame')
        left -= cut(Math.min(left, pending.length)).length
      }
    },
    putBack(bytes: Buffer): void {
      pending = Buffer.concat([bytes, pending])
    }
  }
}

/** The memory that a frame needs, by its header: the window, or the whole content of a frame without one. */
function windowBytes(header: Buffer): number {
  const descriptor = header.readUInt8(4)
  if ((descriptor & 0b100000) === 0) {
    const window = header.readUInt8(5)
    const base = 2 ** (10 + (window >> 3))
    return base + (base / 8) * (window & 0b111)
  }
  const sizeLength = 2 ** (descriptor >> 6)
  if (sizeLength === 8) return Number(header.readBigUInt64LE(header.length - 8))
  return header.readUIntLE(header.length - sizeLength, sizeLength)
}

/** The length of a frame header with its magic number, by its descriptor. */
function frameHeaderLength(descriptor: number): number {
  const isSingleSegment = (descriptor & 0b100000) !== 0
  const sizeFlag = descriptor >> 6
  const sizeLength = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 2 ** sizeFlag
  const dictionaryLength = [0, 1, 2, 4][descriptor & 0b11] ?? 0
  return 5 + (isSingleSegment ? 0 : 1) + dictionaryLength + sizeLength
}
