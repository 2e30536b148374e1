/** A track as the AutoDJ sees it: one entry of a playlist in one pass (one run through all its tracks). */
export interface Track {
  readonly trackId: number
  readonly mediaId: number
  /** The run in which it would be consumed by playing now. */
  readonly pass: number
  readonly songId: string
  /** Milliseconds, 0 if unknown. */
  readonly durationMs: number
}

/**
 * A playlist that may be played now, with its hand: the next tracks in playing order that neither aired nor stand
 * in the queue, those of the current pass before those of the next. A hand is bounded, so that a playlist of any
 * length costs the same; it is empty only when the playlist has no track at all.
 */
export interface Playlist {
  readonly id: number
  readonly name: string
  readonly weight: number
  readonly isJingle: boolean
  readonly hand: readonly Track[]
}

export type Library = readonly Playlist[]

/** What will be heard before the slot: the current song, then the rows ahead of it. */
export interface Ahead {
  readonly songId: string
  readonly trackId: number | null
  readonly pass: number
}
