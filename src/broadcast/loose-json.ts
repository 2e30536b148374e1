import { createHash } from 'node:crypto'

const token = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|[^\s"{}[\],:]+/g
const literals = new Set(['true', 'false', 'null'])

/**
 * Reads JSON in UTF-8 as streaming servers write it: a number may be anything that somebody's title was taken
 * for (`"title": -`, `1.`), and texts may hold control characters. Numbers come as texts, spelled as they
 * were. What cannot be read throws an `AnswerFault`.
 */
export function parseLooseJson(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes).replace(/\p{Cc}/gu, ' ')
  const quoted = text.replace(token, found =>
    found.startsWith('"') || literals.has(found) ? found : JSON.stringify(found)
  )
  try {
    return JSON.parse(quoted)
  } catch {
    throw new AnswerFault('The answer is no JSON.')
  }
}

/**
 * Why the answer of a streaming server cannot be used. The message is a sentence for the operator: nothing of
 * what was asked or answered is in it.
 */
export class AnswerFault extends Error {}

/**
 * Who listens, as far as it matters: somebody with this address and user agent. 128 bits of a hash, in
 * base64url.
 */
export function listenerIdentity(address: string, userAgent: string): string {
  const hash = createHash('sha256').update(`${address}\n${userAgent}`)
  return hash.digest('base64url').slice(0, 22)
}
