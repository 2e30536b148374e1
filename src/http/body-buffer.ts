import { closeSync, read, writeSync } from 'node:fs'
import { promisify } from 'node:util'

const readFile = promisify(read)

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

/** Opens an empty file that is gone once it is closed. Returns its descriptor. */
export type OpenSpool = () => number

/** Bytes in the order of their arrival. */
export interface BodyBuffer {
  /** Copies a chunk. Throws the error of the file. */
  readonly add: (chunk: Buffer) => void
  /**
   * The next bytes, which are valid until the next call; null if there are none. Rejects with the error of the file.
   */
  readonly read: () => Promise<Uint8Array | null>
  /** The number of bytes that were not read. */
  readonly unreadBytes: () => number
  readonly close: () => void
}

let totalUnreadBytes = 0

/** The bytes of all bodies that have arrived and were not read. */
export const unreadBytesOfAll = (): number => totalUnreadBytes

/**
 * Holds the bytes of a body that have arrived and were not read: in memory as long as there is some, and then in a
 * file. It is written at once, because a sender on a fast network cannot be stopped at once (see `incoming-stream.ts`).
 */
export function openBodyBuffer(openSpool: OpenSpool): BodyBuffer {
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
    add: chunk => {
      for (let offset = 0; offset < chunk.length;) {
        const stored = store(chunk.subarray(offset))
        offset += stored
        count(stored)
      }
    },
    read: async () => {
      giveBackLent()
      if (isClosed) return null
      lent = blocks.shift() ?? null
      const bytes = lent === null ? await spool.read() : lent.memory.subarray(0, lent.length)
      if (isClosed) return null
      count(-(bytes?.length ?? 0))
      return bytes
    },
    unreadBytes: () => unreadBytes,
    close: () => {
      if (isClosed) return
      isClosed = true
      giveBackLent()
      blocks.splice(0).forEach(giveBack)
      count(-unreadBytes)
      spool.close()
    }
  }
}

/** A file that is opened when it is needed, and begins anew whenever all of it was read. */
function openSpoolFile(openSpool: OpenSpool) {
  let file: number | null = null
  let memory: Buffer | null = null
  let start = 0
  let end = 0
  let isReading = false
  let isClosed = false

  /** A descriptor that is being read must not be closed: its number may be that of another file then. */
  const closeUnlessReading = () => {
    if (file === null || isReading || !isClosed) return
    closeSync(file)
    file = null
  }

  return {
    isEmpty: () => start === end,
    write: (bytes: Uint8Array): void => {
      file ??= openSpool()
      for (let written = 0; written < bytes.length;) {
        const count = writeSync(file, bytes, written, bytes.length - written, end)
        written += count
        end += count
      }
    },
    read: async (): Promise<Uint8Array | null> => {
      if (file === null || start === end) return null
      memory ??= Buffer.allocUnsafeSlow(blockBytes)
      isReading = true
      try {
        const { bytesRead } = await readFile(file, memory, 0, Math.min(blockBytes, end - start), start)
        if (bytesRead === 0) throw new Error('the file of a body is shorter than what was written to it')
        start += bytesRead
        if (start === end) start = end = 0
        return memory.subarray(0, bytesRead)
      } finally {
        isReading = false
        closeUnlessReading()
      }
    },
    close: () => {
      isClosed = true
      closeUnlessReading()
    }
  }
}
