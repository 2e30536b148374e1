import { createHash, randomBytes } from 'node:crypto'

/** `<identifier>.<secret>`: the token of a session or of an invitation, which is stored like an API key. */
const format = /^([0-9a-f]{16})\.([0-9a-f]{64})$/

/** A token to find by its identifier; `verifier` is the SHA-256 hash of its secret. */
export interface ParsedToken {
  readonly identifier: string
  readonly verifier: Buffer
}

/** Generates a random token. */
export function generateToken(): string {
  return `${randomBytes(8).toString('hex')}.${randomBytes(32).toString('hex')}`
}

/** Parses a token. Null for other text. */
export function parseToken(text: string): ParsedToken | null {
  const [, identifier, secret] = format.exec(text) ?? []
  return identifier && secret ? { identifier, verifier: createHash('sha256').update(secret).digest() } : null
}
