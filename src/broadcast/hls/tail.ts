import { type FileHandle, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { openInside } from '../../runtime/contained-files.ts'

/** Follows a file that grows. */
export interface Tail {
  /**
   * Gives the lines that were added since the last look, without their ends, and whether there is a file.
   * Throws if it cannot be read; the next look goes on.
   */
  readonly look: (onLine: (line: string) => void) => Promise<boolean>
  readonly close: () => Promise<void>
}

export interface TailLimits {
  /** What is longer is no line of the file; it is left out. */
  readonly lineBytes: number
  /** One look reads no more: of what is beyond, the newest. */
  readonly lookBytes: number
}

const chunkBytes = 64 * 1024
const newline = 0x0a

interface Followed {
  readonly handle: FileHandle
  position: number
  /**
   * The beginning of a line whose end is not written yet; null while a line that is too long is passed over.
   */
  rest: Buffer | null
}

/**
 * Opens nothing yet. A file that is there at the first look is followed from its end, one that appears later
 * from its beginning. One that is renamed away is followed until another with its name has something in it;
 * one that was cut, and so is shorter than what was read of it, is read from its beginning.
 */
export function openTail(
  path: string,
  limits: TailLimits = { lineBytes: 16 * 1024, lookBytes: 16 * 1024 * 1024 }
): Tail {
  let followed: Followed | null = null
  let isFirst = true

  return {
    async look(onLine) {
      followed ??= await follow(path, isFirst ? 'end' : 'beginning')
      isFirst = false
      if (followed === null) return false
      const isOver = await isReplaced(path, followed)
      // After that look, so that nothing is lost that was written before the other file got its first line.
      await readOn(followed, limits, onLine)
      if (!isOver) return true
      const { handle } = followed
      followed = null
      await handle.close()
      followed = await follow(path, 'beginning')
      if (followed !== null) await readOn(followed, limits, onLine)
      return true
    },
    async close() {
      await followed?.handle.close()
      followed = null
    }
  }
}

async function follow(path: string, from: 'beginning' | 'end'): Promise<Followed | null> {
  const handle = await openBeside(path).catch(nullIfMissing)
  if (handle === null) return null
  try {
    const now = await handle.stat()
    return { handle, position: from === 'end' ? now.size : 0, rest: Buffer.alloc(0) }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * A link in the folder of the log may lead to another file of it, and nowhere else: the web server's user may
 * write there.
 */
async function openBeside(path: string): Promise<FileHandle> {
  return openInside(path, [await realpath(dirname(path))])
}

/** Whether another file that is not empty has the name now. */
async function isReplaced(path: string, { handle }: Followed): Promise<boolean> {
  const [named, own] = await Promise.all([stat(path).catch(nullIfMissing), handle.stat()])
  return named !== null && named.size > 0 && (named.ino !== own.ino || named.dev !== own.dev)
}

async function readOn(
  file: Followed,
  { lineBytes, lookBytes }: TailLimits,
  onLine: (line: string) => void
): Promise<void> {
  const { size } = await file.handle.stat()
  if (size < file.position) {
    file.position = 0
    file.rest = Buffer.alloc(0)
  }
  if (size - file.position > lookBytes) {
    file.position = size - lookBytes
    file.rest = null
  }
  const chunk = Buffer.alloc(chunkBytes)
  while (file.position < size) {
    const length = Math.min(chunkBytes, size - file.position)
    const { bytesRead } = await file.handle.read(chunk, 0, length, file.position)
    if (bytesRead === 0) return
    file.position += bytesRead
    file.rest = takeLines(file.rest, chunk.subarray(0, bytesRead), lineBytes, onLine)
  }
}

/** Gives what is left of the last line. */
function takeLines(
  rest: Buffer | null,
  bytes: Buffer,
  lineBytes: number,
  onLine: (line: string) => void
): Buffer | null {
  let head = rest
  let start = 0
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    if (head !== null && head.length + end - start <= lineBytes)
      onLine(lineOf(head, bytes.subarray(start, end)))
    head = Buffer.alloc(0)
    start = end + 1
  }
  if (head === null || head.length + bytes.length - start > lineBytes) return null
  return Buffer.concat([head, bytes.subarray(start)])
}

function lineOf(head: Buffer, tail: Buffer): string {
  return Buffer.concat([head, tail]).toString('utf8').replace(/\r$/, '')
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  throw error
}
