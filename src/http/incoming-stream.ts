import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'

import { ApiError } from '../platform/runtime/errors.ts'
import { createAbortedError, type BodyCompletion, keepAliveMs, openBodyCompletion } from './body.ts'
import type { BodyStream } from './route.ts'
import { openSpoolFile, type OpenSpool } from './spool-file.ts'

/*
 * uWebSockets.js reads a connection again as long as its 512 KB of memory are filled at once, even if it is paused. A
 * sender on a fast network can neither be stopped before that, nor may it be cut off, so what it sends goes to a file
 * if it is much.
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

export interface IncomingStream extends Omit<BodyStream, 'nameIgnored'>, BodyCompletion {
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
  const completion = openBodyCompletion()
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
        if (isAborted) throw createAbortedError()
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

/** The pieces of a body; each is valid until the next one is requested. */
export async function* readPieces(stream: BodyStream): AsyncGenerator<Uint8Array> {
  for (let piece = await stream.read(); piece !== null; piece = await stream.read()) yield piece
}

const blockBytes = 256 * 1024
/**
 * Of all bodies together: 64 MiB. A file takes so much longer that a sender on a fast network keeps up with it, and is
 * read until its body ends.
 */
const maxBlocks = 256

/**
 * Memory of bodies. It is used again: new memory for each chunk would be 80 MB of garbage a second, for which V8
 * collects all garbage three times a second, 10 ms each, and lets more than 64 MB wait for it.
 */
interface Block {
  readonly memory: Buffer
  length: number
}

const idleBlocks: Block[] = []
let blockCount = 0

/** Null if all are in use. */
function acquireBlock(): Block | null {
  const idle = idleBlocks.pop()
  if (idle !== undefined || blockCount === maxBlocks) return idle ?? null
  blockCount += 1
  return { memory: Buffer.allocUnsafeSlow(blockBytes), length: 0 }
}

function giveBack(block: Block): void {
  block.length = 0
  idleBlocks.push(block)
}

let totalUnreadBytes = 0

/** The bytes of all bodies that have arrived and were not read. */
export const countUnreadBodyBytes = (): number => totalUnreadBytes

/**
 * Holds the bytes of a body that have arrived and were not read, in order: in memory as long as there is some, and then
 * in a file. It is written at once, because a sender on a fast network cannot be stopped at once.
 */
export function openBodyBuffer(openSpool: OpenSpool) {
  const blocks: Block[] = []
  /** The block that the reader works on. */
  let lent: Block | null = null
  let unreadBytes = 0
  let isClosed = false
  const spool = openSpoolFile(openSpool)

  const count = (bytes: number) => {
    unreadBytes += bytes
    totalUnreadBytes += bytes
  }
  const giveBackLent = () => {
    if (lent !== null) giveBack(lent)
    lent = null
  }
  const store = (chunk: Buffer): number => {
    const last = blocks.at(-1)
    const isFull = last === undefined || last.length === blockBytes
    const block = spool.isEmpty() ? (isFull ? acquireBlock() : last) : null
    if (block === null) {
      spool.write(chunk)
      return chunk.length
    }
    if (isFull) blocks.push(block)
    const copied = chunk.copy(block.memory, block.length)
    block.length += copied
    return copied
  }

  return {
    /** Copies a chunk. Throws the error of the file. */
    add: (chunk: Buffer): void => {
      for (let offset = 0; offset < chunk.length;) {
        const stored = store(chunk.subarray(offset))
        offset += stored
        count(stored)
      }
    },
    /**
     * The next bytes, which are valid until the next call; null if there are none. Rejects with the error of the file.
     */
    read: async (): Promise<Uint8Array | null> => {
      giveBackLent()
      if (isClosed) return null
      lent = blocks.shift() ?? null
      const bytes = lent === null ? await spool.read() : lent.memory.subarray(0, lent.length)
      if (isClosed) return null
      count(-(bytes?.length ?? 0))
      return bytes
    },
    /** The number of bytes that were not read. */
    unreadBytes: () => unreadBytes,
    close: (): void => {
      if (isClosed) return
      isClosed = true
      giveBackLent()
      blocks.splice(0).forEach(giveBack)
      count(-unreadBytes)
      spool.close()
    }
  }
}

/*
 * Bodies that are received in pieces share the event loop with all other requests. A connection that is resumed can
 * send megabytes before it can be paused again, so connections are resumed one after the other, none while too much is
 * unread, and later while the event loop is late, since other requests wait then.
 */

/** Little, because a connection that is resumed delivers up to some 20 MB more. */
const maxUnreadBytes = 4 * 1024 * 1024
const sampleMs = 10
/** About what a fast sender takes when it is resumed. */
const tolerableLagMs = 20
/** A rest takes this many times as long as the event loop was late. */
const restFactor = 4
const maxRestMs = 250

/** How late the event loop was; halved with each sample. */
let lagMs = 0
let bodies = 0
let probe: NodeJS.Timeout | undefined
const waiting = new Set<() => void>()
let isRunning = false

/** Must be called when the first bytes of a body may arrive. The lag is measured while there are bodies. */
function addReceiver(): void {
  bodies += 1
  if (bodies > 1) return
  let dueMs = performance.now() + sampleMs
  probe = setInterval(() => {
    const nowMs = performance.now()
    lagMs = Math.max(nowMs - dueMs, lagMs / 2)
    dueMs = nowMs + sampleMs
  }, sampleMs)
  probe.unref()
}

/** Ends what `addReceiver` began, and cancels a call of `scheduleResume`. */
function removeReceiver(resume: () => void): void {
  waiting.delete(resume)
  bodies -= 1
  if (bodies > 0) return
  clearInterval(probe)
  lagMs = 0
}

const isTooMuchUnread = () => totalUnreadBytes > maxUnreadBytes

/** Whether connections should be paused for the sake of others. */
const mustWait = (): boolean => isTooMuchUnread() || lagMs > tolerableLagMs

/** Calls `resume` in a later tick of the event loop, after those that wait already. */
function scheduleResume(resume: () => void): void {
  waiting.add(resume)
  if (!isRunning) void runScheduled()
}

async function runScheduled(): Promise<void> {
  isRunning = true
  while (waiting.size > 0) {
    // What a connection sends after it is resumed is counted before the next one is resumed.
    const restMs = Math.min(Math.max(sampleMs, lagMs * restFactor), maxRestMs)
    await (mustWait() ? sleep(restMs) : nextTick())
    const [resume] = waiting
    if (resume === undefined || isTooMuchUnread()) continue
    waiting.delete(resume)
    resume()
  }
  isRunning = false
}
