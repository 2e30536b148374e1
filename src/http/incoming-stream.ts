import { setImmediate as nextTurn } from 'node:timers/promises'

import type { BodyStream } from '../api/core/route.ts'
import { ApiError } from '../runtime/errors.ts'
import { abortedError } from './body.ts'
import type { Pace } from './pace.ts'
import { countUnread, isTooMuchUnread, leaveTurn, resumeInTurn } from './unread-bytes.ts'

/** Above this, the connection is not read until the handler has taken the bytes. */
const maxBufferedBytes = 512 * 1024
/**
 * Above this, the connection is closed. uWebSockets.js reads a connection again as long as its 512 KB of memory are
 * filled at once, even if it is paused, so a sender on a fast network could fill the memory.
 */
const maxUnreadBytes = 32 * 1024 * 1024
const blockBytes = 256 * 1024
/** Blocks that are kept for later bodies: 16 MiB. A body that is faster than its handler holds up to five. */
const maxIdleBlocks = 64
const idleTimeoutMs = 30_000
/** Small bodies do not wait for uploads. */
const unpacedBytes = 64 * 1024
/** What a refused client may still send: one that is cut off never sees the response. */
const maxDiscardedBytes = 16 * 1024 * 1024
const discardTimeoutMs = 5_000

/**
 * Memory of bodies. It is used again: new memory for each chunk would be 80 MB of garbage a second, for which V8 collects all
 * garbage three times a second, 10 ms each, and lets more than 64 MB wait for it.
 */
interface Block {
  readonly memory: Buffer
  length: number
}

const idleBlocks: Block[] = []

const takeBlock = (): Block => idleBlocks.pop() ?? { memory: Buffer.allocUnsafeSlow(blockBytes), length: 0 }

function giveBack(block: Block): void {
  block.length = 0
  if (idleBlocks.length < maxIdleBlocks) idleBlocks.push(block)
}

/** The connection on which a body arrives: a response of uWebSockets.js. */
export interface BodyConnection {
  readonly onData: (handler: (chunk: ArrayBuffer, isLast: boolean) => void) => unknown
  readonly pause: () => unknown
  readonly resume: () => unknown
  /** Closes it, and calls `abort` of the stream. */
  readonly close: () => unknown
}

export interface IncomingStream extends Omit<BodyStream, 'nameIgnored'> {
  /** The client has left. What has arrived can still be read. */
  readonly abort: () => void
  /**
   * Reads the rest and drops it, up to a limit. Returns whether the body is complete; otherwise the connection must be
   * closed after the response.
   */
  readonly discard: () => Promise<boolean>
}

export interface IncomingStreamOptions {
  readonly pace: Pace
  /** Called when the last byte was received, and again when it was read. */
  readonly onEnd: () => void
}

/**
 * Receives a body in pieces, as fast as the handler reads them and `pace` allows. Must be called before the handler of
 * uWebSockets.js returns, because the first bytes may arrive then. `discard` must be called in the end.
 */
export function openIncomingStream(
  res: BodyConnection,
  size: number | null,
  { pace, onEnd }: IncomingStreamOptions
): IncomingStream {
  const blocks: Block[] = []
  /** The block that the handler works on. */
  let lent: Block | null = null
  let bufferedBytes = 0
  let readBytes = 0
  let isEnded = size === 0
  const aborted = new AbortController()
  let isPaused = false
  let isDiscarding = false
  /** The client has left, or the response follows: the connection must not be used. */
  let isDone = false
  let wake: (() => void) | null = null

  /** Copies a chunk, because uWebSockets.js reuses its memory. */
  const store = (chunk: Buffer) => {
    for (let offset = 0; offset < chunk.length;) {
      let block = blocks.at(-1)
      if (block === undefined || block.length === blockBytes) {
        block = takeBlock()
        blocks.push(block)
      }
      const copied = chunk.copy(block.memory, block.length, offset)
      block.length += copied
      offset += copied
    }
    bufferedBytes += chunk.length
    countUnread(chunk.length)
  }

  res.onData((chunk, isLast) => {
    if (!isDone) store(Buffer.from(chunk))
    if (isLast) {
      isEnded = true
      onEnd()
    }
    const isMuch = bufferedBytes > maxBufferedBytes || (!isDiscarding && isTooMuchUnread())
    if (!isLast && !isDone && (isPaused || isMuch)) {
      isPaused = true
      // Also if it is paused: the chunk has started a timeout of 10 seconds, which only this call ends.
      res.pause()
    }
    if (!isLast && !isDone && bufferedBytes > maxUnreadBytes) res.close()
    wake?.()
  })

  /**
   * Does nothing once the body is complete. Its client waits for the response, but uWebSockets.js closes a resumed connection that
   * sends nothing for 10 seconds. `discard` resumes it for the next request.
   */
  const resumeBody = () => {
    if (!isPaused || isEnded || isDone) return
    isPaused = false
    res.resume()
  }

  const requestResume = () => {
    if (!isPaused) return
    // Not inside the callback that paused it, where microtasks run as well. What is dropped takes no memory.
    if (isDiscarding) setImmediate(resumeBody)
    else resumeInTurn(resumeBody)
  }

  const take = (block: Block): Uint8Array => {
    blocks.shift()
    lent = block
    bufferedBytes -= block.length
    countUnread(-block.length)
    if (blocks.length === 0) requestResume()
    return block.memory.subarray(0, block.length)
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
    if (lent !== null) giveBack(lent)
    lent = null
    for (;;) {
      const [first] = blocks
      if (first !== undefined) return take(first)
      if (aborted.signal.aborted) throw abortedError()
      if (isEnded) return null
      // A first chunk without bytes may have been paused.
      requestResume()
      // A client that waits for its turn cannot send.
      const maySend = !isPaused || isDiscarding
      if (!(await untilMore(timeoutMs)) && maySend)
        throw new ApiError('invalid', `No content was sent for ${timeoutMs / 1000} seconds.`)
    }
  }

  return {
    size,
    read: async () => {
      const bytes = await read()
      if (bytes === null) return null
      readBytes += bytes.length
      const paced = pace(bytes.length, aborted.signal)
      if (readBytes > unpacedBytes) await paced
      if (isEnded && blocks.length === 0) onEnd()
      return bytes
    },
    abort: () => {
      aborted.abort()
      isDone = true
      wake?.()
    },
    discard: async () => {
      isDiscarding = true
      const isTooLong = size !== null && size > maxDiscardedBytes
      let discarded = 0
      const endMs = performance.now() + discardTimeoutMs
      while (discarded < maxDiscardedBytes && performance.now() < endMs) {
        const bytes = isTooLong ? null : await read(discardTimeoutMs).catch(() => null)
        if (bytes === null) break
        discarded += bytes.length
      }
      if (isPaused && isEnded) {
        await nextTurn()
        if (!aborted.signal.aborted) res.resume()
      }
      isDone = true
      countUnread(-bufferedBytes)
      bufferedBytes = 0
      blocks.splice(0).forEach(giveBack)
      leaveTurn(resumeBody)
      return isEnded
    }
  }
}
