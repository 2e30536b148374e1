import { ApiError } from '../platform/runtime/errors.ts'
import { openBodyBuffer, type OpenSpool } from './body-buffer.ts'
import { addReceiver, removeReceiver, mustWait, scheduleResume } from './body-scheduler.ts'
import { abortedError, keepAliveMs, openCompletion, type ReceivedBody } from './body.ts'
import type { BodyStream } from './route.ts'

/*
 * uWebSockets.js reads a connection again as long as its 512 KB of memory are filled at once, even if it is paused. A
 * sender on a fast network can neither be stopped before that, nor may it be cut off, so what it sends goes to a file
 * if it is much (`body-buffer.ts`).
 */

/**
 * Above this, the connection is not read until the handler has taken the bytes and it is resumed. It is little, so
 * that few connections are read at once: each may deliver megabytes if the event loop was late.
 */
const maxBufferedBytes = 64 * 1024
const idleTimeoutMs = 30_000

/** The connection on which a body arrives: a response of uWebSockets.js. */
export interface BodyConnection {
  readonly onData: (handler: (chunk: ArrayBuffer, isLast: boolean) => void) => unknown
  readonly pause: () => unknown
  /** Must follow `pause`: otherwise uWebSockets.js may stop reading the connection. */
  readonly resume: () => unknown
}

export interface IncomingStream extends Omit<BodyStream, 'nameIgnored'>, ReceivedBody {
  /** The client has left. What has arrived can still be read. */
  readonly abort: () => void
  /** Must be called before the response. What arrives later is dropped. */
  readonly release: () => void
}

export interface IncomingStreamOptions {
  readonly openSpool: OpenSpool
  /** Called when the last byte was received, and again when it was read. */
  readonly onEnd: () => void
}

/**
 * Receives a body in pieces, as fast as the handler reads them and other requests allow. Must be called before the
 * handler of uWebSockets.js returns, because the first bytes may arrive then.
 */
export function openIncomingStream(
  res: BodyConnection,
  size: number | null,
  { openSpool, onEnd }: IncomingStreamOptions
): IncomingStream {
  const buffer = openBodyBuffer(openSpool)
  const completion = openCompletion()
  if (size === 0) completion.end()
  let failure: Error | null = null
  let isAborted = false
  let isPaused = false
  /** The response follows: the connection must not be used. */
  let isReleased = false
  let wake: (() => void) | null = null

  res.onData((chunk, isLast) => {
    if (isLast) {
      completion.end()
      onEnd()
    }
    if (isReleased) return
    try {
      if (failure === null) buffer.add(Buffer.from(chunk))
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
    }
    if (!isLast && (isPaused || buffer.unreadBytes() > maxBufferedBytes || mustWait())) {
      isPaused = true
      // Also if it is paused: the chunk may have started a timeout of 10 seconds, which only this call ends.
      res.pause()
    }
    wake?.()
  })

  const mayUse = () => !completion.isComplete() && !isAborted && !isReleased

  /**
   * Does nothing once the body is complete. Its client waits for the response, but uWebSockets.js closes a resumed
   * connection that sends nothing for 10 seconds. `release` resumes it for the next request.
   */
  const resumeBody = () => {
    if (!isPaused || !mayUse()) return
    isPaused = false
    res.resume()
  }

  // uWebSockets.js closes a connection that sends less than 160 KB in 10 seconds, unless it is resumed.
  const keepAlive = setInterval(() => {
    if (isPaused || !mayUse()) return
    res.pause()
    res.resume()
  }, keepAliveMs)
  addReceiver()

  const untilMore = async (): Promise<boolean> => {
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<boolean>(resolve => {
        wake = () => resolve(true)
        timer = setTimeout(() => resolve(false), idleTimeoutMs)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    size,
    isComplete: completion.isComplete,
    whenComplete: completion.whenComplete,
    read: async () => {
      for (;;) {
        const bytes = await buffer.read()
        if (isPaused && buffer.unreadBytes() === 0) scheduleResume(resumeBody)
        if (bytes !== null) return bytes
        if (failure !== null) throw failure
        if (isAborted) throw abortedError()
        if (completion.isComplete()) {
          onEnd()
          return null
        }
        // A client that waits to be resumed cannot send.
        if (!(await untilMore()) && !isPaused)
          throw new ApiError('timed-out', `No content was sent for ${idleTimeoutMs / 1000} seconds.`)
      }
    },
    abort: () => {
      isAborted = true
      completion.end()
      wake?.()
    },
    release: () => {
      isReleased = true
      clearInterval(keepAlive)
      removeReceiver(resumeBody)
      buffer.close()
      if (isPaused && !isAborted) res.resume()
    }
  }
}
