import { createHash } from 'node:crypto'

/** What tells listeners of one source apart: address and agent, as 22 characters that show neither. */
export function listenerIdentity(address: string, agent: string): string {
  return createHash('sha256').update(`${address}\n${agent}`).digest('base64url').slice(0, 22)
}
