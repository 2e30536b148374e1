import type { HttpResponse } from 'uWebSockets.js'

/**
 * Above this size a reply is written piece by piece as the client reads, and known to be sent. What is smaller fits into the
 * buffer of a new connection.
 */
export const wholeBytes = 16 * 1024

/** Below this many bytes a second, over the whole body, a client counts as hanging. */
const leastBytesPerSecond = 16 * 1024

/** How long a client may take to read a body of this size, in milliseconds. */
export function sendTimeoutMs(bytes: number): number {
  return 20_000 + (bytes / leastBytesPerSecond) * 1_000
}

/** Writes a body piece by piece as the client reads. The headers are written; `onAborted` must be attached. */
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
