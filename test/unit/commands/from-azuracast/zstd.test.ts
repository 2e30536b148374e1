import { Readable } from 'node:stream'

import { expect, test } from 'vitest'

import { createZstdDecompressor } from '../../../../src/commands/from-azuracast/zstd.ts'

/** `hello ` eight times, as `zstd` compresses it, with its checksum. */
const repeated = Buffer.from('KLUv/QRYZQAAMGhlbGxvIAEAApUiWrF2Gw==', 'base64')
const short = Buffer.from('KLUv/QRYKQAAaGVsbG+jbZ+I', 'base64')
const skippable = Buffer.from('522a4d1803000000616263', 'hex')

async function decompress(bytes: Buffer, chunkSize: number): Promise<string> {
  const chunks: Buffer[] = []
  for (let start = 0; start < bytes.length; start += chunkSize)
    chunks.push(bytes.subarray(start, start + chunkSize))
  const parts: Buffer[] = []
  for await (const part of Readable.from(chunks).compose(await createZstdDecompressor())) parts.push(part)
  return Buffer.concat(parts).toString()
}

test.each([1, 7, 1_000])(
  'frames are decompressed, and skippable ones skipped: %i bytes at a time',
  async size => {
    const bytes = Buffer.concat([skippable, repeated, short, skippable])
    expect(await decompress(bytes, size)).toBe(`${'hello '.repeat(8).trim()}hello`)
  }
)

test('a frame without a checksum is accepted', async () => {
  const bytes = Buffer.from(short.subarray(0, -4))
  bytes.writeUInt8(bytes.readUInt8(4) & ~0b100, 4)
  expect(await decompress(bytes, 100)).toBe('hello')
})

test.each([
  ['another content', (bytes: Buffer) => bytes.fill('j', 9, 10), 'a zstd frame has a wrong checksum'],
  [
    'another checksum',
    (bytes: Buffer) => bytes.fill(0, bytes.length - 1),
    'a zstd frame has a wrong checksum'
  ],
  ['no end', (bytes: Buffer) => bytes.subarray(0, -1), 'it ends within a zstd frame'],
  ['another beginning', (bytes: Buffer) => bytes.fill(0, 0, 1), 'this is no zstd frame']
])('a damaged frame is refused: %s', async (_, damage, problem) => {
  await expect(decompress(damage(Buffer.from(short)), 100)).rejects.toThrow(problem)
})

/** A frame with this window (in the format of its header) and blocks. */
const frame = (window: number, ...blocks: Buffer[]) =>
  Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window]), ...blocks])

/** A block of zeros, which takes four bytes. */
function repeatedByte(size: number, isLast = false): Buffer {
  const block = Buffer.alloc(4)
  block.writeUIntLE((size << 3) | (1 << 1) | (isLast ? 1 : 0), 0, 3)
  return block
}

const kib128 = 2 ** 17
const windowOf128Kib = 0x38

test('32 KiB that become 1 GiB are decompressed only as fast as they are read', async () => {
  const blocks = Array.from({ length: 8_192 }, (_, index) => repeatedByte(kib128, index === 8_191))
  const bomb = frame(windowOf128Kib, ...blocks)
  const before = process.memoryUsage().arrayBuffers
  let bytes = 0
  for await (const part of Readable.from([bomb]).compose(await createZstdDecompressor())) {
    bytes += part.length
    if (bytes > 2 ** 21) break
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20)
})

test.each([
  ['a window of 1 GiB', frame(0xa0, repeatedByte(1, true)), 'needs more than 128 MiB of memory'],
  [
    'a content of 1 GiB in one segment',
    Buffer.concat([Buffer.from('28b52ffda000000040', 'hex'), repeatedByte(1, true)]),
    'needs more than 128 MiB of memory'
  ],
  ['a block of 1 MiB', frame(windowOf128Kib, repeatedByte(2 ** 20, true)), 'larger than 128 KiB']
])('a frame that takes too much memory is refused: %s', async (_, bytes, problem) => {
  await expect(decompress(bytes, 1_000)).rejects.toThrow(problem)
})
