import { createHash } from 'node:crypto'

/** The weak entity tag of these texts together. */
export function tagOf(...texts: readonly string[]): string {
  return `W/"${hashOf(...texts)}"`
}

/** A hash of 16 characters of these texts and their boundaries. */
export function hashOf(...texts: readonly string[]): string {
  const hash = createHash('sha1')
  for (const text of texts) hash.update(`${Buffer.byteLength(text)}:`).update(text)
  return hash.digest('base64url').slice(0, 16)
}
