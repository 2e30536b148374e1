import type { HttpResponse } from 'uWebSockets.js'

import type { ContentSource, FileToSend } from './route.ts'

/** The number of responses of a server that have begun and are not sent. */
export interface ResponsesInFlight {
  count: number
}

/** Larger bodies are streamed as the client reads. Smaller ones fit into the buffer of a new connection. */
export const maxUnstreamedBytes = 16 * 1024

/** A client that reads more slowly than this, over the whole body, is disconnected. */
const minBytesPerSecond = 16 * 1024

/** How long a client may take to read a body of this size, in milliseconds. */
export function sendTimeoutMs(bytes: number): number {
  return 20_000 + (bytes / minBytesPerSecond) * 1_000
}

/** Streams a body. The headers are written and `onAborted` is attached. */
export function streamBytes(res: HttpResponse, bytes: Uint8Array, onDone: () => void): void {
  const [, isDone] = res.tryEnd(bytes, bytes.length)
  if (isDone) onDone()
  else sendRemainingBytes(res, bytes, onDone)
}

/** Continues a stream after the first `tryEnd`. */
export function sendRemainingBytes(res: HttpResponse, bytes: Uint8Array, onDone: () => void): void {
  // The offset counts bytes of the body.
  res.onWritable(offset => {
    const [isTaken, isDone] = res.tryEnd(bytes.subarray(offset), bytes.length)
    if (isDone) onDone()
    return isTaken
  })
}

interface StreamCallbacks {
  readonly isOpen: () => boolean
  readonly onDone: () => void
  /** Called if the body cannot be read up to its size. */
  readonly onError: (error: unknown) => void
}

/** Like `streamBytes`, for a body that is not empty. Keeps none of it in memory while the client reads. */
export function streamContent(
  res: HttpResponse,
  { size, read }: ContentSource,
  { isOpen, onDone, onError }: StreamCallbacks
): void {
  const sendFrom = async (offset: number): Promise<void> => {
    const bytes = await read(offset)
    if (!isOpen()) return
    if (bytes.length === 0) throw new Error(`the body ended at byte ${offset} of ${size}`)
    res.cork(() => write(bytes, offset))
  }
  const send = (offset: number) => void sendFrom(offset).catch(error => isOpen() && onError(error))
  const write = (bytes: Uint8Array, offset: number) => {
    const [isTaken, isDone] = res.tryEnd(bytes, size)
    if (isDone) onDone()
    else if (isTaken) send(offset + bytes.length)
  }
  // The offset counts bytes of the body.
  res.onWritable(offset => {
    send(offset)
    return true
  })
  send(0)
}

const pieceBytes = 256 * 1024

/** Reads a file in pieces. */
export const openFileSource = ({ handle, size }: FileToSend): ContentSource => ({
  size,
  read: async offset => {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - offset))
    const { bytesRead } = await handle.read(piece, 0, piece.length, offset)
    return piece.subarray(0, bytesRead)
  }
})
