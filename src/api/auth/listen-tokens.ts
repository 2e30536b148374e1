import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

import type { Secrets } from '../../stores/secrets/secrets.ts'

/*
 * Listen tokens: `lt1_` and base64url of the claims and their HMAC-SHA256. The claims are the station (6
 * bytes), the expiry in Unix seconds (5), the generation of the station's tokens (4), a random id (8) and the
 * subject in UTF-8. Nothing is stored. An API key (`<16 hex>:<32 hex>`) never begins with `lt`.
 */

export interface ListenTokenClaims {
  readonly stationId: number
  /** When it expires, in Unix milliseconds, always a whole second. */
  readonly endsAtMs: number
  readonly generation: number
  /** What the issuer names the listener; may be empty. */
  readonly subject: string
}

export type ListenTokens = ReturnType<typeof openListenTokens>

const prefix = 'lt1_'
const stationBytes = 6
const endBytes = 5
const generationBytes = 4
const idBytes = 8
const claimBytes = stationBytes + endBytes + generationBytes + idBytes
const macBytes = 32
/** Of a subject of 64 characters with 4 bytes each. Longer tokens are not decoded. */
const maxLength = prefix.length + Math.ceil(((claimBytes + 4 * 64 + macBytes) * 4) / 3)

/** Whether a credential is a listen token, of any version and validity, and so no API key. */
export const isListenToken = (credential: string): boolean => /^lt\d+_/.test(credential)

/**
 * Issues and verifies listen tokens with a key that is derived from `SECRETS_KEY`: with another one, all
 * tokens are invalid.
 */
export function openListenTokens(secrets: Pick<Secrets, 'deriveKey'>) {
  const key = secrets.deriveKey('listen tokens')
  const sign = (claims: Uint8Array) => createHmac('sha256', key).update(claims).digest()
  return {
    issue: ({ stationId, endsAtMs, generation, subject }: ListenTokenClaims): string => {
      const numbers = Buffer.alloc(claimBytes - idBytes)
      numbers.writeUIntBE(stationId, 0, stationBytes)
      numbers.writeUIntBE(Math.floor(endsAtMs / 1_000), stationBytes, endBytes)
      numbers.writeUIntBE(generation, stationBytes + endBytes, generationBytes)
      const claims = Buffer.concat([numbers, randomBytes(idBytes), Buffer.from(subject)])
      return prefix + Buffer.concat([claims, sign(claims)]).toString('base64url')
    },
    /**
     * Returns the claims of a token; null for other text, and for a token that was modified or issued with
     * another key. Does not check the expiry: see `grantsListening`.
     */
    read: (text: string): ListenTokenClaims | null => {
      if (!text.startsWith(prefix) || text.length > maxLength) return null
      const body = Buffer.from(text.slice(prefix.length), 'base64url')
      // The decoder ignores invalid characters, so only text that encodes to itself is accepted.
      if (body.length < claimBytes + macBytes || prefix + body.toString('base64url') !== text) return null
      const claims = body.subarray(0, -macBytes)
      if (!timingSafeEqual(sign(claims), body.subarray(-macBytes))) return null
      return {
        stationId: claims.readUIntBE(0, stationBytes),
        endsAtMs: claims.readUIntBE(stationBytes, endBytes) * 1_000,
        generation: claims.readUIntBE(stationBytes + endBytes, generationBytes),
        subject: claims.subarray(claimBytes).toString('utf8')
      }
    }
  }
}
