import { createHash } from 'node:crypto'

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const characters = 26

/** Something that happened at a station, and who is told. */
export interface ToldFact {
  readonly stationId: number
  readonly fact: string
  /** Unix milliseconds. */
  readonly happenedAtMs: number
  readonly webhookId: number
}

/**
 * `webhook-id`: one for a fact and a hook, however often it is sent. A fact has another one if a database that was restored from a
 * backup uses its name again. `evt_` and 26 characters of base32 (RFC 4648, in lower case), which are 130 bits of a hash.
 */
export function messageId({ stationId, fact, happenedAtMs, webhookId }: ToldFact): string {
  const told = `${stationId}\n${fact}\n${happenedAtMs}\n${webhookId}`
  const hash = createHash('sha256').update(told).digest()
  let bits = 0n
  for (const byte of hash.subarray(0, 17)) bits = bits * 256n + BigInt(byte)
  bits >>= 6n
  let text = ''
  for (let place = 0; place < characters; place++, bits >>= 5n)
    text = alphabet.charAt(Number(bits & 31n)) + text
  return `evt_${text}`
}
