import { createHash } from 'node:crypto'

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const characters = 26

/**
 * `webhook-id`: one for a fact and a hook, however often it is made or sent. `evt_` and 26 characters of base32
 * (RFC 4648, in lower case), which are 130 bits of a hash.
 */
export function messageId(stationId: number, fact: string, webhookId: number): string {
  const hash = createHash('sha256').update(`${stationId}\n${fact}\n${webhookId}`).digest()
  let bits = 0n
  for (const byte of hash.subarray(0, 17)) bits = bits * 256n + BigInt(byte)
  bits >>= 6n
  let text = ''
  for (let place = 0; place < characters; place++, bits >>= 5n)
    text = alphabet.charAt(Number(bits & 31n)) + text
  return `evt_${text}`
}
