import { constants, createReadStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

import { type Extract, pack } from 'tar-stream'

import { errorCodeOf } from '../../platform/runtime/errors.ts'

/** Writes the entries of a tar archive. */
export interface ArchiveWriter {
  readonly addText: (path: string, content: Buffer | string) => Promise<void>
  /**
   * Adds the file of an absolute path. Returns its size; null if it is missing, not a regular file or not readable. A
   * file that grows meanwhile is cut at the size that it had. `onChunk` gets its content.
   */
  readonly addFile: (path: string, file: string, onChunk: (chunk: Buffer) => void) => Promise<number | null>
  /** Ends the archive; resolves when the sink has finished. */
  readonly finish: () => Promise<void>
}

const gzipLevel = 3

/** Opens a tar archive that is written to a sink, compressed unless it stays in this process. */
export function openArchiveWriter(
  sink: Writable | Extract,
  { isCompressed, signal }: { readonly isCompressed: boolean; readonly signal: AbortSignal }
): ArchiveWriter {
  const tar = pack()
  const gzip = createGzip({ level: gzipLevel, chunkSize: 256 * 1024 })
  const written = isCompressed ? pipeline(tar, gzip, sink, { signal }) : pipeline(tar, sink, { signal })
  const failed = new Promise<never>((_, reject) => {
    written.catch(reject)
  })
  failed.catch(() => {})
  const addText: ArchiveWriter['addText'] = (path, content) =>
    Promise.race([
      failed,
      new Promise<void>((resolve, reject) => {
        const bytes = Buffer.from(content)
        tar.entry({ name: path, size: bytes.length, mode: 0o600 }, bytes, error =>
          error ? reject(error) : resolve()
        )
      })
    ])

  return {
    addText,
    async addFile(path, file, onChunk) {
      const size = await readableSize(file)
      if (size === null) return null
      let left = size
      let finishEntry: ((error?: Error | null) => void) | null = null
      const ended = new Promise<void>((resolve, reject) => {
        finishEntry = error => (error ? reject(error) : resolve())
      })
      const entry = tar.entry({ name: path, size, mode: 0o600 }, error => finishEntry?.(error))
      const write = async (chunk: Buffer) => {
        onChunk(chunk)
        if (!entry.write(chunk))
          await Promise.race([failed, new Promise(resolve => entry.once('drain', () => resolve(null)))])
      }
      for await (const read of createReadStream(file, { highWaterMark: 256 * 1024 })) {
        const bytes: Buffer = read
        const chunk = bytes.subarray(0, left)
        left -= chunk.length
        if (chunk.length > 0) await write(chunk)
        if (left === 0) break
      }
      // A file that was shortened meanwhile is filled up with zeros, like tar does.
      for (; left > 0; left -= Math.min(left, zeros.length)) await write(zeros.subarray(0, left))
      entry.end(null)
      await Promise.race([failed, ended])
      return size
    },
    async finish() {
      tar.finalize()
      await written
    }
  }
}

const zeros = Buffer.alloc(256 * 1024)

async function readableSize(file: string): Promise<number | null> {
  try {
    const stats = await stat(file)
    if (!stats.isFile()) return null
    await access(file, constants.R_OK)
    return stats.size
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP', 'EPERM'].includes(errorCodeOf(error))) return null
    throw error
  }
}
