import { isDeepStrictEqual } from 'node:util'

import { transferIndex } from '../../model/autodj/duplicates.ts'
import type { LibraryPast, PlayOrRow, Playlist, RemovedRow } from '../../model/autodj/library.ts'
import { markAired, trackIndex } from '../../model/autodj/tracks.ts'
import { jinglesAtMost, type NewPlay, type PastPlay } from '../../stores/db/library/library.ts'
import type { AutodjFacts } from '../rows.ts'

const hourMs = 3_600_000
/** An hourly playlist looks back to a play that began a quarter of an hour after its minute. */
const leastMs = 2 * hourMs
/** The longest period of the rules, with a margin. */
const windowMs = 26 * hourMs
/** Plays that are kept regardless of age, for the current play and consecutive requests. */
const playsAtLeast = 25

/** The settings that determine how far rules look back. */
export type LookBackSettings = Pick<AutodjFacts, 'duplicateRangeMs' | 'requestThresholdMs'>

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

/**
 * Adds what was read from the newest play on, that one included: new plays, the marks of their tracks, and the
 * passes of their playlists. Returns the playlists; those with the same pass are the same objects.
 */
export function extendPast(
  past: CachedPast,
  playlists: readonly Playlist[],
  plays: readonly NewPlay[]
): readonly Playlist[] {
  const passes = new Map<number | null, number>()
  for (const { playlistPass, lastPass, lastAiredMs, ...play } of plays) {
    const newest = past.plays.at(-1)
    if (newest && play.id < newest.id) continue
    if (play.id !== newest?.id) past.plays.push(play)
    // Another list, because the index of its songs belongs to a list.
    else if (!isDeepStrictEqual(play, newest)) past.plays = [...past.plays.slice(0, -1), play]
    const { tracks, index } = findTrack(playlists, play)
    if (tracks && typeof lastPass === 'number' && typeof lastAiredMs === 'number') {
      tracks.lastPass[index] = lastPass
      tracks.lastAired[index] = lastAiredMs
    } else if (tracks) markAired(tracks, index, play.pass, play.startsAtMs)
    if (play.isProvisional) markProvisional([play], playlists)
    if (typeof playlistPass === 'number') passes.set(play.playlistId, playlistPass)
  }
  const isMoved = ({ id, pass }: Playlist) => (passes.get(id) ?? pass) !== pass
  if (!playlists.some(isMoved)) return playlists
  return playlists.map(each => (isMoved(each) ? { ...each, pass: passes.get(each.id) ?? each.pass } : each))
}

/** Marks the tracks of provisional plays, which Postgres marks when a report confirms them. */
export function markProvisional(plays: readonly PastPlay[], playlists: readonly Playlist[]): void {
  for (const play of plays) {
    if (!play.isProvisional) continue
    const { tracks, index } = findTrack(playlists, play)
    if (tracks) markAired(tracks, index, play.pass, play.startsAtMs)
  }
}

function findTrack(playlists: readonly Playlist[], { playlistId, trackId }: PastPlay) {
  const tracks = trackId === null ? null : playlists.find(({ id }) => id === playlistId)?.tracks
  const index = tracks && trackId !== null ? trackIndex(tracks, trackId) : -1
  return index < 0 ? { tracks: null, index } : { tracks, index }
}

/**
 * Removes plays that began before a time. The last one of each playlist is kept, and all plays from the last one
 * on that is not a jingle, unless too many jingles follow it.
 */
export function trimPast(past: CachedPast, beforeMs: number): void {
  const cut = past.plays.findIndex(play => play.startsAtMs >= beforeMs)
  const song = past.plays.findLastIndex(({ isVisible }) => isVisible)
  const jingles = past.plays.length - song - 1
  const kept = song >= 0 && jingles <= jinglesAtMost ? Math.max(playsAtLeast, jingles + 1) : playsAtLeast
  const count = Math.min(cut === -1 ? past.plays.length : cut, past.plays.length - kept)
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
export function composePast({ plays, older }: CachedPast, removed: readonly RemovedRow[]): LibraryPast {
  return { plays: plays satisfies readonly PlayOrRow[], older, removed: removed }
}
