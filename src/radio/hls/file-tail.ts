import { type FileHandle, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { openInsideRoots } from '../../platform/runtime/contained-files.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { decodeForeignText } from '../../platform/text/foreign-text.ts'

export interface FileTailLimits {
  /** Longer lines are skipped. */
  readonly lineBytes: number
  /** Maximum per call; if more was added, the newest bytes are read. */
  readonly readBytes: number
}

const chunkBytes = 64 * 1024
const newline = 0x0a

interface OpenFile {
  readonly handle: FileHandle
  position: number
  /** The start of an incomplete line; null while a line that is too long is skipped. */
  rest: Buffer | null
}

/**
 * Follows a growing file, like `tail -F`. Starts at the end of a file that exists at the first call, and at
 * the start of one that appears later. A renamed file is followed until another file of its name has content.
 * A truncated file, which is shorter than what was read of it, is read from its start.
 */
export function openFileTail(
  path: string,
  limits: FileTailLimits = { lineBytes: 16 * 1024, readBytes: 16 * 1024 * 1024 }
) {
  let file: OpenFile | null = null
  let isFirst = true

  return {
    /**
     * Reads the lines added since the last call, without line ends. Returns whether the file exists. Throws
     * if it cannot be read; the next call continues.
     */
    async readLines(onLine: (line: string) => void): Promise<boolean> {
      file ??= await openFile(path, isFirst ? 'end' : 'start')
      isFirst = false
      if (file === null) return false
      const isRotated = await isReplaced(path, file)
      // Read after the check: the old file may have grown until the new one got its first line.
      await readAdded(file, limits, onLine)
      if (!isRotated) return true
      const { handle } = file
      file = null
      await handle.close()
      file = await openFile(path, 'start')
      if (file !== null) await readAdded(file, limits, onLine)
      return true
    },
    async close(): Promise<void> {
      await file?.handle.close()
      file = null
    }
  }
}

async function openFile(path: string, from: 'start' | 'end'): Promise<OpenFile | null> {
  // The web server's user may write to the folder of the log, so links must not lead out of it.
  const opening = realpath(dirname(path)).then(folder => openInsideRoots(path, [folder]))
  const handle = await opening.catch(nullIfMissing)
  if (handle === null) return null
  try {
    const { size } = await handle.stat()
    return { handle, position: from === 'end' ? size : 0, rest: Buffer.alloc(0) }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Whether the name now belongs to another file with content. */
async function isReplaced(path: string, { handle }: OpenFile): Promise<boolean> {
  const [named, own] = await Promise.all([stat(path).catch(nullIfMissing), handle.stat()])
  return named !== null && named.size > 0 && (named.ino !== own.ino || named.dev !== own.dev)
}

async function readAdded(
  file: OpenFile,
  { lineBytes, readBytes }: FileTailLimits,
  onLine: (line: string) => void
): Promise<void> {
  const { size } = await file.handle.stat()
  if (size < file.position) {
    file.position = 0
    file.rest = Buffer.alloc(0)
  }
  if (size - file.position > readBytes) {
    file.position = size - readBytes
    file.rest = null
  }
  const chunk = Buffer.alloc(chunkBytes)
  while (file.position < size) {
    const length = Math.min(chunkBytes, size - file.position)
    const { bytesRead } = await file.handle.read(chunk, 0, length, file.position)
    if (bytesRead === 0) return
    file.position += bytesRead
    file.rest = splitLines(file.rest, chunk.subarray(0, bytesRead), lineBytes, onLine)
  }
}

/** Returns the start of the incomplete last line. */
function splitLines(
  rest: Buffer | null,
  bytes: Buffer,
  lineBytes: number,
  onLine: (line: string) => void
): Buffer | null {
  let head = rest
  let start = 0
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    if (head !== null && head.length + end - start <= lineBytes) {
      const line = Buffer.concat([head, bytes.subarray(start, end)])
      onLine(decodeForeignText(line).replace(/\r$/, ''))
    }
    head = Buffer.alloc(0)
    start = end + 1
  }
  if (head === null || head.length + bytes.length - start > lineBytes) return null
  return Buffer.concat([head, bytes.subarray(start)])
}

function nullIfMissing(error: unknown): null {
  if (errorCodeOf(error) === 'ENOENT') return null
  throw error
}
