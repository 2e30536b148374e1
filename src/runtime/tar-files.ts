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
  const files = readTar(tar => pipeline(source, counter, decompressor, tar, { signal }))
  for await (const file of files) if ((await visit(file)) === 'stop') return
}

/** Yields the files of the tar archive that `feed` writes. Throws if it is damaged, or the error of `feed`. */
export async function* readTar(feed: (tar: Extract) => Promise<void>): AsyncGenerator<TarFile> {
  const unpacked = extract()
  const faults: unknown[] = []
  const fed = feed(unpacked).catch((error: unknown) => {
    faults.push(error)
    unpacked.destroy(error instanceof Error ? error : new Error(String(error)))
  })
  try {
    for await (const entry of unpacked) {
      const { name, size, type } = entry.header
      if (type === 'file') yield { path: name.replace(/^\.?\//, ''), size, content: bytesOf(entry) }
      entry.resume()
    }
    await fed
  } catch (error) {
    // The end of the archive is a consequence of the fault of its source.
    await fed
    throw faults[0] ?? error
  }
  if (faults.length > 0) throw faults[0]
}

async function* bytesOf(entry: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of entry) if (Buffer.isBuffer(chunk)) yield chunk
}
