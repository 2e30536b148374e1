import { createHash } from 'node:crypto'

/** Which state of its station a document shows. */
export interface Position {
  readonly epoch: string
  readonly offset: number
}

/** A document as it is true at one second. The same object stands for it as long as its body is the same. */
export interface HeldDocument {
  readonly body: Buffer
  /** A weak entity tag that differs whenever the body does, and is the same on every server. */
  readonly etag: string
  /** Null for documents of more than one station. */
  readonly position: Position | null
}

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
