import type { HttpResponse } from 'uWebSockets.js'

/** Above this size a reply is written piece by piece as the client reads. */
export const wholeBytes = 256 * 1024

/** Writes a body piece by piece as the client reads. The headers are written; `onAborted` must be attached. */
export function streamBytes(res: HttpResponse, bytes: Uint8Array, onDone: () => void): void {
  const start = res.getWriteOffset()
  const push = (offset: number) => {
    const [isTaken, isDone] = res.tryEnd(bytes.subarray(offset - start), bytes.length)
    if (isDone) onDone()
    return isTaken
  }
  res.onWritable(push)
  push(start)
}
