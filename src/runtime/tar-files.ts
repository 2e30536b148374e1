import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { type Extract, extract } from 'tar-stream'

/** A file in a tar archive. Its content must be read before the next file; what is not read is skipped. */
export interface TarFile {
  /** Without a leading slash. */
  readonly path: string
  readonly size: number
  readonly content: AsyncIterable<Buffer>
}

export interface TarReadOptions {
  readonly signal: AbortSignal
  /** The share of the archive that was read, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined
  readonly decompressor: Transform
}

/** Reads the files of an archive one after the other until it returns `stop`. */
export type TarVisitor = (file: TarFile) => Promise<void | 'stop'>

/** Calls `visit` for the files of a compressed tar archive. Rejects if what it reads of the archive is damaged. */
export async function forEachTarFile(
  archivePath: string,
  { signal, onProgress = () => {}, decompressor }: TarReadOptions,
  visit: TarVisitor
): Promise<void> {
  const { size } = await stat(archivePath)
  let readBytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      readBytes += chunk.length
      onProgress(readBytes / size)
      done(null, chunk)
    }
  })
  const source = createReadStream(archivePath, { highWaterMark: 256 * 1024 })
  await readTar(tar => pipeline(source, counter, decompressor, tar, { signal }), visit)
}

/** Calls `visit` for the files of the tar archive that `feed` writes. */
export async function readTar(feed: (tar: Extract) => Promise<void>, visit: TarVisitor): Promise<void> {
  const unpacked = extract()
  const fed = feed(unpacked)
  // Reported by the loop, which ends with the same error.
  fed.catch(() => {})
  for await (const entry of unpacked) {
    const { name, size = 0, type } = entry.header
    if (
      type === 'file' &&
      (await visit({ path: name.replace(/^\.?\//, ''), size, content: bytesOf(entry) })) === 'stop'
    )
      return
    entry.resume()
  }
  await fed
}

async function* bytesOf(entry: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of entry) if (Buffer.isBuffer(chunk)) yield chunk
}
