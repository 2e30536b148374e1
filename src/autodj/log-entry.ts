import type { ChosenSong } from './candidate.ts'
import type { Tier } from './choose.ts'

/** Why a playlist is not played in a slot. */
export type Obstacle =
  | 'not_scheduled'
  | 'already_played'
  | 'too_soon'
  | 'not_enough_songs'
  | 'not_configured'
  | 'disabled'
  | 'empty'
  | 'overrun'
  | 'loop_done'

export type SlotReason = 'fill' | 'window_open' | 'request_due' | 'replaced' | 'manual' | 'interrupt'

/**
 * A reason, readable by operators and by programs; kept with the row of the queue it led to. Times are Unix
 * seconds.
 */
export type LogEntry =
  | { readonly step: 'slot'; readonly at: number; readonly why: SlotReason }
  | {
      readonly step: 'requests'
      readonly result: 'none'
      readonly pending: number
      readonly why: 'not_due' | 'too_recent' | 'run_limit' | 'prioritized' | 'none_pending'
    }
  | {
      readonly step: 'playlist'
      readonly id: number
      readonly name: string
      readonly due: false
      readonly why: Obstacle
    }
  | {
      readonly step: 'bucket'
      readonly bucket: string
      readonly order: readonly { readonly id: number; readonly weight: number }[]
    }
  | {
      readonly step: 'tracks'
      readonly id: number
      readonly tier: number
      readonly looked_at: number
      readonly skipped: { readonly song: number; readonly title: number; readonly artist: number }
      readonly pass: number
    }
  | {
      readonly step: 'picked'
      readonly id: number
      readonly media: number
      readonly tier: number
      readonly pass: number
      readonly overrun: number
    }
  | { readonly step: 'picked'; readonly request: number }
  | {
      readonly step: 'moved'
      readonly from: number
      readonly to: number
      readonly why: 'request_inserted' | 'window_open'
    }
  /** By an operator, from one place in the queue to another. */
  | { readonly step: 'moved_by_hand'; readonly from: number; readonly to: number }

/** Of one row. */
export const entriesAtMost = 60
const bytesAtMost = 8_192

/**
 * Keeps the beginning and the end of a log that is too long; what lies between is why playlists were not
 * played.
 */
export function shortened(log: readonly LogEntry[]): LogEntry[] {
  const sizes = log.map(entry => new TextEncoder().encode(JSON.stringify(entry)).length + 1)
  let bytes = sizes.reduce((sum, size) => sum + size, 1)
  let [from, to] = [log.length >> 1, log.length >> 1]
  while (to - from < log.length && (log.length - (to - from) > entriesAtMost || bytes > bytesAtMost)) {
    const gone = from > 0 && from >= log.length - to ? --from : to++
    bytes -= sizes[gone] ?? 0
  }
  return [...log.slice(0, from), ...log.slice(to)]
}

/** What to play in a slot: one song, or a batch that is played back to back. */
export interface Decision {
  readonly tracks: readonly [PickedSong, ...PickedSong[]]
  /** How well it suits what was heard; null for a request, which nobody chose for that. */
  readonly tier: Tier | null
  /**
   * Nothing was left but what was just heard, what an operator has just removed, or a stream that has no time
   * of its own.
   */
  readonly isForced: boolean
  readonly log: readonly LogEntry[]
}

/** A track of a playlist, or a listener's request, which belongs to none. */
export type PickedSong = Omit<ChosenSong, 'playlistId' | 'trackId'> & {
  readonly playlistId: number | null
  readonly trackId: number | null
}
