import { heardIn, note, nothingHeard } from './heard.ts'
import { lastBefore, type PendingRequest, type Play, type Slot } from './library.ts'
import { isGivenUp } from './patience.ts'
import type { SongKeys } from './song-keys.ts'

/** When something was or will be heard last, Unix milliseconds, within the range of the station. */
export interface Times {
  get(key: number): number | undefined
}

export interface Recent {
  readonly songs: Times
  readonly titles: Times
  readonly artists: Times
}

/**
 * What a slot must not repeat: what began or will have begun within the range before it, the play before it, all rows behind
 * it, and requests that will be due within the range after it. Nothing where the range is 0. A row of the queue counts as it will
 * when it has been played, so that no choice becomes a bad one by the passing of time alone.
 */
export function recentAt(slot: Slot): Recent {
  const { library, ahead, behind, atMs } = slot
  const { duplicateRangeMs } = library.rules
  const { plays } = library.past
  const near = nothingHeard()
  if (duplicateRangeMs === 0) return near
  const sinceMs = atMs - duplicateRangeMs
  const last = lastBefore(slot)
  for (const play of [...ahead, ...behind])
    if (play.startsAtMs > sinceMs) note(near, play.song, play.startsAtMs)
  if (last) note(near, last.song, last.startsAtMs)
  for (const request of library.requests)
    if (request.dueAtMs < atMs + duplicateRangeMs && !isGivenUp(request, slot))
      note(near, request.song, Math.max(request.dueAtMs, atMs))
  const aired = heardIn(plays)
  return {
    songs: timesOf(near.songs, aired.songs, sinceMs),
    titles: timesOf(near.titles, aired.titles, sinceMs),
    artists: timesOf(near.artists, aired.artists, sinceMs)
  }
}

function timesOf(
  near: ReadonlyMap<number, number>,
  aired: ReadonlyMap<number, number>,
  sinceMs: number
): Times {
  return {
    get: key => {
      const soon = near.get(key)
      const last = aired.get(key)
      if (last === undefined || last <= sinceMs) return soon
      return soon === undefined || soon < last ? last : soon
    }
  }
}

/** How well a song suits what was heard: 1 nothing clashes, 2 only an artist, 3 the song or its title. */
export function tierOf({ song, title, artists }: SongKeys, recent: Recent): 1 | 2 | 3 {
  if (recent.songs.get(song) !== undefined) return 3
  if (title !== 0 && recent.titles.get(title) !== undefined) return 3
  return artists.some(artist => recent.artists.get(artist) !== undefined) ? 2 : 1
}

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
