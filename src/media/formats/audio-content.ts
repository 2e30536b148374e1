import type { TagBlock } from '../tags/native-tags.ts'

/** What the reader of a format finds in a file. */
export interface AudioContent {
  /** 0: unknown. */
  readonly seconds: number
  /** The most important first. */
  readonly blocks: readonly TagBlock[]
}
