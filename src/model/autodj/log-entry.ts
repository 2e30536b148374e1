/** Why a playlist is not due in a slot. */
export type PlaylistObstacle =
  | 'not_scheduled'
  | 'already_played'
  | 'too_soon'
  | 'not_enough_songs'
  | 'not_configured'
  | 'disabled'
  | 'empty'
  | 'overrun'
  | 'loop_done'

/** Why no request is played in a slot. */
export type RequestObstacle = 'not_due' | 'too_recent' | 'run_limit' | 'prioritized' | 'none_pending'

export type SlotReason = 'fill' | 'window_open' | 'request_due' | 'replaced' | 'manual' | 'interrupt'

/** A reason for a choice, stored with the row of the queue. Times are Unix seconds. */
export type DecisionLogEntry = Readonly<
  | { step: 'slot'; at: number; why: SlotReason }
  | { step: 'requests'; result: 'none'; pending: number; why: RequestObstacle }
  | { step: 'playlist'; id: number; name: string; due: false; why: PlaylistObstacle }
  | { step: 'bucket'; bucket: string; order: readonly { readonly id: number; readonly weight: number }[] }
  | { step: 'tracks'; id: number; tier: number; looked_at: number; skipped: SkippedTracks; pass: number }
  | { step: 'picked'; id: number; media: number; tier: number; pass: number; overrun: number }
  | { step: 'picked'; request: number }
  | { step: 'moved'; from: number; to: number; why: MoveReason }
  | { step: 'moved_by_hand'; from: number; to: number }
>

/** Why a row plays later than planned before. */
export type MoveReason = 'request_inserted' | 'window_open'

/** The numbers of tracks that were skipped as duplicates. */
type SkippedTracks = Readonly<Record<'song' | 'title' | 'artist', number>>
