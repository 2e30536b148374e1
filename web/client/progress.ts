import type { NowPlaying, Progress } from './interface.ts'

/** Where the song of a document is at this time of the server; null where nothing plays. */
export function progressAt(np: NowPlaying | null, serverMs: number): Progress | null {
  if (np === null || np.now_playing.sh_id === 0) return null
  const { played_at: playedAt, duration, elapsed } = np.now_playing
  const passedMs = Math.max(0, serverMs - playedAt * 1_000)
  if (duration === 0) return { elapsedMs: passedMs, durationMs: null, remainingMs: null }
  const durationMs = duration * 1_000
  // What has ended early, for a jingle, is sent with all of it elapsed.
  const elapsedMs = elapsed >= duration ? durationMs : Math.min(passedMs, durationMs)
  return { elapsedMs, durationMs, remainingMs: durationMs - elapsedMs }
}
