import { createHash } from 'node:crypto'

/** Who listens, as far as it matters: somebody with this address and user agent. 128 bits of a hash, in base64url. */
export function listenerIdentity(address: string, userAgent: string): string {
  const hash = createHash('sha256').update(`${address}\n${userAgent}`)
  return hash.digest('base64url').slice(0, 22)
}
