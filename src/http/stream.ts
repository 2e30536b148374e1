import type { HttpResponse } from 'uWebSockets.js'

import type { FileToSend } from '../api/core/route.ts'
import type { LongList } from '../station/live-view.ts'

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
  else sendRemaining(res, bytes, onDone)
}

/** Bytes of a list that are sent before other work may run. */
const turnBytes = 1024 * 1024

/** Like `streamBytes`, for a body in pieces. */
export function streamPieces(
  res: HttpResponse,
  { pieces, bytes }: Pick<LongList, 'pieces' | 'bytes'>,
  { isOpen, onDone }: Pick<StreamCallbacks, 'isOpen' | 'onDone'>
): void {
  let index = 0
  /** Where the piece begins in the body. */
  let start = 0

  /** Sends from an offset of the body. Returns false if the client has to read first. */
  function send(offset: number): boolean {
    for (let sent = 0; sent < turnBytes;) {
      const piece = pieces[index]
      if (piece === undefined) return true
      if (offset >= start + piece.length) {
        start += piece.length
        index++
        continue
      }
      const rest = piece.subarray(offset - start)
      const [isTaken, isDone] = res.tryEnd(rest, bytes)
      if (isDone) onDone()
      if (isDone || !isTaken) return isDone
      offset += rest.length
      sent += rest.length
    }
    setImmediate(() => {
      if (isOpen()) res.cork(() => send(offset))
    })
    return true
  }

  // The offset counts bytes of the body.
  res.onWritable(offset => send(offset))
  send(0)
}

/** Continues a stream after the first `tryEnd`. */
export function sendRemaining(res: HttpResponse, bytes: Uint8Array, onDone: () => void): void {
  // The offset counts bytes of the body.
  res.onWritable(offset => {
    const [isTaken, isDone] = res.tryEnd(bytes.subarray(offset), bytes.length)
    if (isDone) onDone()
    return isTaken
  })
}

const pieceBytes = 256 * 1024

interface StreamCallbacks {
  readonly isOpen: () => boolean
  readonly onDone: () => void
  /** Called if the file cannot be read up to its size. */
  readonly onError: (error: unknown) => void
}

/** Like `streamBytes`, for a file that is not empty. Keeps none of it in memory while the client reads. */
export function streamFile(
  res: HttpResponse,
  { handle, size }: FileToSend,
  { isOpen, onDone, onError }: StreamCallbacks
): void {
  const read = async (offset: number): Promise<void> => {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - offset))
    const { bytesRead } = await handle.read(piece, 0, piece.length, offset)
    if (!isOpen()) return
    if (bytesRead === 0) throw new Error(`the file ended at byte ${offset} of ${size}`)
    res.cork(() => write(piece.subarray(0, bytesRead), offset))
  }
  const send = (offset: number) => void read(offset).catch(error => isOpen() && onError(error))
  const write = (piece: Uint8Array, offset: number) => {
    const [isTaken, isDone] = res.tryEnd(piece, size)
    if (isDone) onDone()
    else if (isTaken) send(offset + piece.length)
  }
  // The offset counts bytes of the body.
  res.onWritable(offset => {
    send(offset)
    return true
  })
  send(0)
}
