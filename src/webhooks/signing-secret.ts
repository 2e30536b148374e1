import { randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A new secret of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/** The bytes that a secret stands for. */
export function signingKey(secret: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64')
}

/** Whether a text is `whsec_` and the base64 of 24 to 64 bytes. */
export function isSigningSecret(text: string): boolean {
  const bytes = signingKey(text)
  // The decoder is lenient.
  const isWhole = text === prefix + bytes.toString('base64')
  return isWhole && bytes.length >= 24 && bytes.length <= 64
}
