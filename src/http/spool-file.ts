import { closeSync, read, writeSync } from 'node:fs'
import { promisify } from 'node:util'

const readFile = promisify(read)

/** What is read at once. */
const readBytes = 256 * 1024

/** Opens an empty file that is gone once it is closed. Returns its descriptor. */
export type OpenSpool = () => number

/** A file that is opened when it is needed, and begins anew whenever all of it was read. */
export function openSpoolFile(openSpool: OpenSpool) {
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
      memory ??= Buffer.allocUnsafeSlow(readBytes)
      isReading = true
      try {
        const { bytesRead } = await readFile(file, memory, 0, Math.min(readBytes, end - start), start)
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
