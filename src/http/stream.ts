import type { HttpResponse } from 'uWebSockets.js'

import type { SentFile } from '../api/core/route.ts'

/**
 * Above this size a reply is written piece by piece as the client reads, and known to be sent. What is
 * smaller fits into the buffer of a new connection.
 */
export const wholeBytes = 16 * 1024

/** Below this many bytes a second, over the whole body, a client counts as hanging. */
const leastBytesPerSecond = 16 * 1024

/** How long a client may take to read a body of this size, in milliseconds. */
export function sendTimeoutMs(bytes: number): number {
  return 20_000 + (bytes / leastBytesPerSecond) * 1_000
}

/**
 * Writes a body piece by piece as the client reads. The headers are written; `onAborted` must be attached.
 */
export function streamBytes(res: HttpResponse, bytes: Uint8Array, onDone: () => void): void {
  const [, isDone] = res.tryEnd(bytes, bytes.length)
  if (isDone) onDone()
  else streamRest(res, bytes, onDone)
}

/** The same for a body of which `tryEnd` has taken the first piece. */
export function streamRest(res: HttpResponse, bytes: Uint8Array, onDone: () => void): void {
  res.onWritable(offset => {
    // The offset counts bytes of the body.
    const [isTaken, isNowDone] = res.tryEnd(bytes.subarray(offset), bytes.length)
    if (isNowDone) onDone()
    return isTaken
  })
}

const pieceBytes = 256 * 1024

/**
 * Writes a file, which is not empty, piece by piece as the client reads; none of it is in memory while the
 * client is waited for. The headers are written; `onAborted` must be attached. Calls `onFault` where the file
 * cannot be read to the end that it had.
 */
export function streamFile(
  res: HttpResponse,
  { handle, size }: SentFile,
  {
    isOpen,
    onDone,
    onFault
  }: { isOpen: () => boolean; onDone: () => void; onFault: (error: unknown) => void }
): void {
  const read = async (offset: number): Promise<void> => {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - offset))
    const { bytesRead } = await handle.read(piece, 0, piece.length, offset)
    if (!isOpen()) return
    if (bytesRead === 0) throw new Error(`the file ended at byte ${offset} of ${size}`)
    res.cork(() => write(piece.subarray(0, bytesRead), offset))
  }
  const send = (offset: number) => void read(offset).catch(error => isOpen() && onFault(error))
  const write = (piece: Uint8Array, offset: number) => {
    const [isTaken, isDone] = res.tryEnd(piece, size)
    if (isDone) onDone()
    else if (isTaken) send(offset + piece.length)
  }
  res.onWritable(offset => {
    // The offset counts bytes of the body.
    send(offset)
    return true
  })
  send(0)
}
