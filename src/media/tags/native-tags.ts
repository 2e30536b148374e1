import type { IPicture } from 'music-metadata'

/** A text of a file as its format names it: `TPE1`, `TXXX:mood`, `ARTIST`, `IART`. */
export interface NativeTag {
  readonly id: string
  readonly text: string
}

/** The tags of one kind in a file. A text that the format lists several times is several tags. */
export interface TagBlock {
  readonly tags: readonly NativeTag[]
  readonly pictures: readonly IPicture[]
}

export const noTags: TagBlock = { tags: [], pictures: [] }

/** Of one block; more are ignored. */
export const maxNativeTags = 2_000
/** Of one text, in bytes; the rest is ignored. */
export const maxTextBytes = 256 * 1024
