import type { Chosen } from './candidate.ts'
import type { Tier } from './choose.ts'
import type { LogEntry } from './log-entry.ts'

/** What to play in a slot: one song, or a batch that is played back to back. */
export interface Decision {
  readonly tracks: readonly [Picked, ...Picked[]]
  /** How well it suits what was heard; null for a request, which nobody chose for that. */
  readonly tier: Tier | null
  /** Nothing was left but what was just heard, what an operator has just removed, or a stream that has no time of its own. */
  readonly isForced: boolean
  readonly log: readonly LogEntry[]
}

/** A track of a playlist, or a listener's request, which belongs to none. */
export type Picked = Omit<Chosen, 'playlistId' | 'trackId'> & {
  readonly playlistId: number | null
  readonly trackId: number | null
}
