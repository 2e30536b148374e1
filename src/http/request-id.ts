import { randomBytes, randomUUID } from 'node:crypto'

/** The id of a request in logs, errors and `X-Request-Id`: the caller's own if it is sane, else a new one. */
export function requestIdOf(given: string): string {
  return /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID()
}

/** Where ids are short-lived and many: a random text of this process, and a number that grows. */
const bytes = Buffer.from(`${randomBytes(6).toString('hex')}-0000000000`)

/** How many bytes such an id has. */
export const countedIdBytes = bytes.length

/** Writes the next id to the beginning of a buffer: a text of its own would cost more than all else of an answer. */
export function writeCountedId(into: Uint8Array): void {
  for (let at = bytes.length - 1; at >= 0; at--) {
    const digit = bytes[at] ?? 0
    // The dash ends the number, which then begins again.
    if (digit < 0x30) break
    bytes[at] = digit === 0x39 ? 0x30 : digit + 1
    if (digit !== 0x39) break
  }
  into.set(bytes)
}
