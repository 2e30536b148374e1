import { type Heard, openHeard } from './heard.ts'
import { lastBefore, type PendingRequest, type Play, type Slot } from './library.ts'
import type { SongKeys } from './song-keys.ts'

/** When each song, title and artist was or will be heard last, within the range of the station. */
export interface Recent {
  readonly songs: Heard
  readonly titles: Heard
  readonly artists: Heard
}

/**
 * What a slot must not repeat: plays that began within the range before it, the play before it, all rows of the queue, and
 * requests that will be due within the range after it. Nothing where the range is 0.
 */
export function recentAt({ library, ahead, behind, atMs }: Slot): Recent {
  const { duplicateRangeMs } = library.rules
  if (duplicateRangeMs === 0) return nothingRecent
  const { plays } = library.past
  const from = plays.findIndex(play => play.startsAtMs > atMs - duplicateRangeMs)
  const aired = from === -1 ? plays.slice(-1) : plays.slice(from)
  const requests = library.requests
    .filter(({ dueAtMs }) => dueAtMs < atMs + duplicateRangeMs)
    .map(({ song, dueAtMs }) => ({ song, startsAtMs: Math.max(dueAtMs, atMs) }))
  const rows = [...aired, ...ahead, ...behind, ...requests]
  const recent = {
    songs: openHeard(rows.length),
    titles: openHeard(rows.length),
    artists: openHeard(rows.reduce((count, { song }) => count + song.artists.length, 0))
  }
  for (const { song, startsAtMs } of rows) {
    recent.songs.note(song.song, startsAtMs)
    if (song.title !== 0) recent.titles.note(song.title, startsAtMs)
    for (const artist of song.artists) recent.artists.note(artist, startsAtMs)
  }
  return recent
}

export const nothingRecent: Recent = { songs: openHeard(0), titles: openHeard(0), artists: openHeard(0) }

const hourMs = 3_600_000

/**
 * Whether a request would repeat what was just heard: the same song, title or artist within the threshold of the
 * station, or in the queue. An hour past its due time only the same song counts. A threshold of 0: only the row before. The same song
 * never follows itself, however long ago it began.
 */
export function isTooRecent(request: PendingRequest, slot: Slot): boolean {
  const { library, ahead, behind, atMs } = slot
  const { requestThresholdMs } = library.rules
  const { plays } = library.past
  const last = lastBefore(slot)
  if (last?.song.song === request.song.song) return true
  const isLate = atMs - request.dueAtMs > hourMs
  const clashes = ({ song }: Play) => (isLate ? song.song === request.song.song : isClash(request.song, song))
  if (requestThresholdMs === 0) return last !== null && clashes(last)
  const isClose = (play: Play) => play.startsAtMs > atMs - requestThresholdMs && clashes(play)
  return plays.some(isClose) || ahead.some(clashes) || behind.some(clashes)
}

/** Whether two songs are the same, or share a title or an artist. */
export function isClash(one: SongKeys, other: SongKeys): boolean {
  return (
    one.song === other.song ||
    (one.title !== 0 && one.title === other.title) ||
    one.artists.some(artist => other.artists.includes(artist))
  )
}
