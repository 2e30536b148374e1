import { handOn } from '../autodj/heard.ts'
import type { Past, Play, Playlist, Refused } from '../autodj/library.ts'
import { indexOf, markAired } from '../autodj/tracks.ts'
import type { PastPlay } from '../db/library.ts'

const hourMs = 3_600_000
/** An hourly playlist looks back at the play that ran a quarter past its minute. */
const leastMs = 2 * hourMs
/** The longest window, and a bit. */
const windowMs = 26 * hourMs
/** Kept however old they are: what is on air, and runs of requests. */
const playsAtLeast = 25

/** What a station's rules look back to. */
export interface Reach {
  readonly duplicateRangeMs: number
  readonly requestThresholdMs: number
}

/** How far the rules of a station look back. Milliseconds. */
export function reachMs(
  { duplicateRangeMs, requestThresholdMs }: Reach,
  playlists: readonly Playlist[]
): number {
  const looksAtWindows = playlists.some(
    ({ schedule, options }) =>
      schedule.length > 0 &&
      (options.has('single_track') || options.has('loop_once') || schedule.some(item => item.loop_once))
  )
  const hasOverruns = playlists.some(({ schedule }) => schedule.length > 0)
  return Math.max(leastMs, duplicateRangeMs, requestThresholdMs, looksAtWindows || hasOverruns ? windowMs : 0)
}

/** The past of a station in memory, which grows by what is played and is cut where its rules do not look any more. */
export interface KeptPast {
  plays: PastPlay[]
  readonly older: Map<number, { startsAtMs: number; visibleAfter: number }>
}

/** Adds plays that are not there yet, and marks their tracks as aired. */
export function extendPast(past: KeptPast, playlists: readonly Playlist[], plays: readonly PastPlay[]): void {
  const newestId = past.plays.at(-1)?.id ?? 0
  const fresh = plays.filter(({ id }) => id > newestId)
  if (fresh.length === 0) return
  past.plays.push(...fresh)
  for (const { playlistId, trackId, pass, startsAtMs } of fresh) {
    const playlist = trackId === null ? undefined : playlists.find(({ id }) => id === playlistId)
    if (playlist && trackId !== null)
      markAired(playlist.tracks, indexOf(playlist.tracks, trackId), pass, startsAtMs)
  }
}

/** Lets go of plays that began before a time; of each playlist the last one is remembered. */
export function cutPast(past: KeptPast, beforeMs: number): void {
  const cut = past.plays.findIndex(play => play.startsAtMs >= beforeMs)
  const count = Math.min(cut === -1 ? past.plays.length : cut, past.plays.length - playsAtLeast)
  if (count <= 0) return
  for (const { playlistId, startsAtMs, isVisible } of past.plays.slice(0, count)) {
    if (isVisible) for (const last of past.older.values()) last.visibleAfter++
    if (playlistId !== null) past.older.set(playlistId, { startsAtMs, visibleAfter: 0 })
  }
  const rest = past.plays.slice(count)
  handOn(past.plays, rest)
  past.plays = rest
}

/** The past as the AutoDJ sees it. */
export function pastOf({ plays, older }: KeptPast, refused: readonly Refused[]): Past {
  return { plays: plays satisfies readonly Play[], older, refused }
}
