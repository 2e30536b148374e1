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

/** What the reader of a format finds in a file. */
export interface AudioContent {
  /** 0: unknown. */
  readonly seconds: number
  /** The most important first. */
  readonly blocks: readonly TagBlock[]
}

export const noTagBlock: TagBlock = { tags: [], pictures: [] }

/** Of one block; more are ignored. */
export const maxNativeTags = 2_000
/** Of one text, in bytes; the rest is ignored. */
export const maxTagTextBytes = 256 * 1024
