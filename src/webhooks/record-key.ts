import { createHash } from 'node:crypto'

const alphabet = '234567abcdefghijklmnopqrstuvwxyz'
const length = 13

/**
 * The key of a record of the AT protocol (https://atproto.com/specs/tid), always the same for a time and a name: a bit that
 * is 0, 53 bits of Unix microseconds, and 10 bits of a clock, which are chance elsewhere and a hash of the name here.
 */
export function recordKey(seconds: number, name: string): string {
  const hash = createHash('sha256').update(name).digest()
  const micros = Math.floor(seconds) * 1e6 + (hash.readUInt32BE(0) % 1e6)
  let bits = BigInt(micros) * 1_024n + BigInt(hash.readUInt16BE(4) % 1_024)
  let key = ''
  for (let place = 0; place < length; place++, bits >>= 5n) key = alphabet.charAt(Number(bits & 31n)) + key
  return key
}
