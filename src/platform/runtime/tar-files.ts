import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type Duplex, Transform } from 'node:stream'
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
  readonly decompressor: Duplex
  /** Called for links and devices, which are skipped. */
  readonly onOther?: ((path: string) => void) | undefined
}

/** What a compressed archive may expand to: 1 GiB, or this many times its size. Dumps and rows reach about 30 times. */
const maxExpansion = 200
const freeBytes = 2 ** 30
const maxEntries = 5_000_000
/** As of Linux. */
const maxNameBytes = 4_096

/**
 * Counts what an archive of `size` bytes contains. The result throws for an entry or bytes beyond what is plausible.
 */
export function openArchiveLimit(size: number) {
  const maxBytes = Math.max(freeBytes, maxExpansion * size)
  let bytes = 0
  let entries = 0
  return {
    addBytes(count: number): void {
      bytes += count
      if (bytes > maxBytes)
        throw new Error(
          `it expands to more than ${maxExpansion} times its size, as a decompression bomb does`
        )
    },
    addEntry(name: string): void {
      entries += 1
      if (entries > maxEntries) throw new Error(`it has more than ${maxEntries} files`)
      if (Buffer.byteLength(name) > maxNameBytes) throw new Error('it has a name of more than 4,096 bytes')
    }
  }
}

/** Reads the files of an archive one after the other until it returns `stop`. */
export type TarVisitor = (file: TarFile) => Promise<void | 'stop'>

/** Calls `visit` for the files of a compressed tar archive. Rejects if what it reads of the archive is damaged. */
export async function forEachTarFile(
  archivePath: string,
  { signal, onProgress = () => {}, decompressor, onOther }: TarReadOptions,
  visit: TarVisitor
): Promise<void> {
  const { size } = await stat(archivePath)
  const limit = openArchiveLimit(size)
  let readBytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      readBytes += chunk.length
      onProgress(readBytes / size)
      done(null, chunk)
    }
  })
  const source = createReadStream(archivePath, { highWaterMark: 256 * 1024 })
  const limiter = new Transform({
    transform(chunk: Buffer, _, done) {
      try {
        limit.addBytes(chunk.length)
        done(null, chunk)
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)))
      }
    }
  })
  const files = readTar(tar => pipeline(source, counter, decompressor, limiter, tar, { signal }), onOther)
  for await (const file of files) {
    limit.addEntry(file.path)
    if ((await visit(file)) === 'stop') return
  }
}

/**
 * Yields the files of the tar archive that `feed` writes, and calls `onOther` for links and devices. Throws if it is
 * damaged, or the error of `feed`.
 */
export async function* readTar(
  feed: (tar: Extract) => Promise<void>,
  onOther: (path: string) => void = () => {}
): AsyncGenerator<TarFile> {
  const unpacked = extract()
  const faults: unknown[] = []
  const fed = feed(unpacked).catch((error: unknown) => {
    faults.push(error)
    unpacked.destroy(error instanceof Error ? error : new Error(String(error)))
  })
  const visitOther = (path: string) => {
    try {
      onOther(path)
    } catch (error) {
      // It comes before the error of the source, which ends early because of it.
      faults.unshift(error)
      throw error
    }
  }
  try {
    for await (const entry of unpacked) {
      const { name, size, type } = entry.header
      const path = name.replace(/^\.?\//, '')
      if (type === 'file') yield { path, size, content: bytesOf(entry) }
      else if (type !== 'directory') visitOther(path)
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
