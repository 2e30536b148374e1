import type { HttpResponse } from 'uWebSockets.js'

import type { BodyStream } from '../api/core/route.ts'
import { ApiError } from '../runtime/errors.ts'
import { abortedError } from './body.ts'

/** Above this, the connection is not read until the handler has taken the bytes. */
const maxBufferedBytes = 512 * 1024
/** Chunks are joined up to this size: a chunk may be a few bytes. */
const joinedBytes = 64 * 1024
const idleTimeoutMs = 30_000
/** What a refused client may still send: one that is cut off never sees the response. */
const maxDiscardedBytes = 16 * 1024 * 1024
const discardTimeoutMs = 5_000

export interface IncomingStream extends Omit<BodyStream, 'nameIgnored'> {
  /** The client has left. */
  readonly abort: () => void
  /**
   * Reads the rest and drops it, up to a limit. Returns whether the body is complete; otherwise the connection must be
   * closed after the response.
   */
  readonly discard: () => Promise<boolean>
}

/**
 * Receives a body in pieces, as fast as they are read. Must be called before the uWebSockets.js handler returns, or the
 * first bytes are lost. `onEnd` is called when the last byte was received.
 */
export function openIncomingStream(
  res: HttpResponse,
  size: number | null,
  onEnd: () => void
): IncomingStream {
  let chunks: Buffer[] = []
  let bufferedBytes = 0
  let isEnded = size === 0
  let isAborted = false
  let isPaused = false
  /** The client has left, or the response follows: the connection must not be used. */
  let isDone = false
  let wake: (() => void) | null = null

  res.onData((chunk, isLast) => {
    // Copied, because uWebSockets.js reuses the memory when this callback returns.
    if (chunk.byteLength > 0) chunks.push(Buffer.from(Buffer.from(chunk)))
    bufferedBytes += chunk.byteLength
    if (isLast) {
      isEnded = true
      onEnd()
    }
    if (!isLast && !isPaused && bufferedBytes > maxBufferedBytes) {
      isPaused = true
      res.pause()
    }
    wake?.()
  })

  const resume = () => {
    if (isPaused && !isDone) res.resume()
    isPaused = false
  }

  /** Takes a large chunk as it is, and joins small ones. */
  const take = (): Uint8Array => {
    let count = 0
    for (let joined = 0; count < chunks.length && joined < joinedBytes; count += 1)
      joined += chunks[count]?.length ?? 0
    const taken = chunks.splice(0, count)
    const bytes = taken.length === 1 && taken[0] ? taken[0] : Buffer.concat(taken)
    bufferedBytes -= bytes.length
    // Not inside the callback that paused it, where microtasks run as well.
    if (isPaused && chunks.length === 0) setImmediate(resume)
    return bytes
  }

  const untilMore = async (timeoutMs: number): Promise<boolean> => {
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<boolean>(resolve => {
        wake = () => resolve(true)
        timer = setTimeout(() => resolve(false), timeoutMs)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  const read = async (timeoutMs = idleTimeoutMs): Promise<Uint8Array | null> => {
    for (;;) {
      if (isAborted) throw abortedError()
      if (chunks.length > 0) return take()
      if (isEnded) return null
      if (!(await untilMore(timeoutMs)))
        throw new ApiError('invalid', `No content was sent for ${timeoutMs / 1000} seconds.`)
    }
  }

  return {
    size,
    read: () => read(),
    abort: () => {
      isAborted = true
      isDone = true
      chunks = []
      wake?.()
    },
    discard: async () => {
      const isTooLong = size !== null && size > maxDiscardedBytes
      let discarded = 0
      const endMs = performance.now() + discardTimeoutMs
      while (discarded < maxDiscardedBytes && performance.now() < endMs) {
        const bytes = isTooLong ? null : await read(discardTimeoutMs).catch(() => null)
        if (bytes === null) break
        discarded += bytes.length
      }
      isDone = true
      return isEnded
    }
  }
}
