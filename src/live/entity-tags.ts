import { createHash } from 'node:crypto'

/** The entity tag of what these texts determine together. */
export function tagOf(...texts: readonly string[]): string {
  return `W/"${hashOf(...texts)}"`
}

/** 16 characters that stand for these texts, and for where one ends and the next begins. */
export function hashOf(...texts: readonly string[]): string {
  const hash = createHash('sha1')
  for (const text of texts) hash.update(`${Buffer.byteLength(text)}:`).update(text)
  return hash.digest('base64url').slice(0, 16)
}
