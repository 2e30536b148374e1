import { transferIndex } from '../../autodj/duplicates.ts'
import type { LibraryPast, PlayOrRow, Playlist, RemovedRow } from '../../autodj/library.ts'
import { markAired, trackIndex } from '../../autodj/tracks.ts'
import type { PastPlay } from '../../db/library.ts'
import type { StationFacts } from '../rows.ts'

const hourMs = 3_600_000
/** An hourly playlist looks back to a play that began a quarter of an hour after its minute. */
const leastMs = 2 * hourMs
/** The longest period of the rules, with a margin. */
const windowMs = 26 * hourMs
/** Plays that are kept regardless of age, for the current play and consecutive requests. */
const playsAtLeast = 25

/** The settings that determine how far rules look back. */
export type LookBackSettings = Pick<StationFacts, 'duplicateRangeMs' | 'requestThresholdMs'>

/** How far the rules of a station look back. Milliseconds. */
export function lookBackMs(
  { duplicateRangeMs, requestThresholdMs }: LookBackSettings,
  playlists: readonly Playlist[]
) {
  const hasWindows = playlists.some(({ schedule }) => schedule.length > 0)
  return Math.max(leastMs, duplicateRangeMs, requestThresholdMs, hasWindows ? windowMs : 0)
}

/** The past plays of a station in memory. */
export interface CachedPast {
  plays: PastPlay[]
  readonly older: Map<number, { startsAtMs: number; visibleAfter: number }>
}

/** Appends new plays and marks their tracks as played. */
export function extendPast(past: CachedPast, playlists: readonly Playlist[], plays: readonly PastPlay[]) {
  const newestId = past.plays.at(-1)?.id ?? 0
  const fresh = plays.filter(({ id }) => id > newestId)
  if (fresh.length === 0) return
  past.plays.push(...fresh)
  for (const { playlistId, trackId, pass, startsAtMs } of fresh) {
    const playlist = trackId === null ? undefined : playlists.find(({ id }) => id === playlistId)
    if (playlist && trackId !== null)
      markAired(playlist.tracks, trackIndex(playlist.tracks, trackId), pass, startsAtMs)
  }
}

/** Removes plays that began before a time; the last one of each playlist is kept. */
export function trimPast(past: CachedPast, beforeMs: number): void {
  const cut = past.plays.findIndex(play => play.startsAtMs >= beforeMs)
  const count = Math.min(cut === -1 ? past.plays.length : cut, past.plays.length - playsAtLeast)
  if (count <= 0) return
  for (const { playlistId, startsAtMs, isVisible } of past.plays.slice(0, count)) {
    if (isVisible) for (const last of past.older.values()) last.visibleAfter++
    if (playlistId !== null) past.older.set(playlistId, { startsAtMs, visibleAfter: 0 })
  }
  const rest = past.plays.slice(count)
  transferIndex(past.plays, rest)
  past.plays = rest
}

/** The past in the form that the AutoDJ uses. */
export function pastOf({ plays, older }: CachedPast, removed: readonly RemovedRow[]): LibraryPast {
  return { plays: plays satisfies readonly PlayOrRow[], older, removed: removed }
}
