import { Readable } from 'node:stream'

import { expect, test } from 'vitest'

import { createZstdDecompressor } from '../../../src/from-azuracast/zstd.ts'

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
