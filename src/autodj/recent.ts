import { isExpiredRequest } from './estimate.ts'
import { lastBefore, type PendingRequest, type HeardPlay, type Slot } from './library.ts'

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
 * What a slot must not repeat: what began or will have begun within the range before it, the play before it,
 * all rows behind it, and requests that will be due within the range after it. Nothing where the range is 0.
 * A row of the queue counts as it will when it has been played, so that no choice becomes a bad one by the
 * passing of time alone.
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
    if (request.dueAtMs < atMs + duplicateRangeMs && !isExpiredRequest(request, slot))
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
 * Whether a request would repeat what was just heard: the same song, title or artist within the threshold of
 * the station, or in the queue. An hour past its due time only the same song counts. A threshold of 0: only
 * the row before. The same song never follows itself, however long ago it began.
 */
export function isTooRecent(request: PendingRequest, slot: Slot): boolean {
  const { library, ahead, behind, atMs } = slot
  const { requestThresholdMs } = library.rules
  const { plays } = library.past
  const last = lastBefore(slot)
  if (last?.song.song === request.song.song) return true
  const isLate = atMs - request.dueAtMs > hourMs
  const clashes = ({ song }: HeardPlay) =>
    isLate ? song.song === request.song.song : isClash(request.song, song)
  if (requestThresholdMs === 0) return last !== null && clashes(last)
  const isClose = (play: HeardPlay) => play.startsAtMs > atMs - requestThresholdMs && clashes(play)
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

/** When each song, title and artist began last, Unix milliseconds. */
interface Heard {
  readonly songs: Map<number, number>
  readonly titles: Map<number, number>
  readonly artists: Map<number, number>
}

const nothingHeard = (): Heard => ({ songs: new Map(), titles: new Map(), artists: new Map() })

/** Notes that a song begins at a time; a later time stays. */
function note({ songs, titles, artists }: Heard, song: SongKeys, atMs: number): void {
  later(songs, song.song, atMs)
  if (song.title !== 0) later(titles, song.title, atMs)
  for (const artist of song.artists) later(artists, artist, atMs)
}

function later(heard: Map<number, number>, key: number, atMs: number): void {
  const known = heard.get(key)
  if (known === undefined || known < atMs) heard.set(key, atMs)
}

interface Index {
  readonly heard: Heard
  /** How many of the plays are in it. */
  count: number
}

const indexes = new WeakMap<readonly HeardPlay[], Index>()

/**
 * What was heard in a list of plays, kept with the list: a week of plays is not gone through for each choice.
 * Plays that were added since are taken in.
 */
export function heardIn(plays: readonly HeardPlay[]): Heard {
  const index = indexes.get(plays) ?? { heard: nothingHeard(), count: 0 }
  indexes.set(plays, index)
  for (; index.count < plays.length; index.count++) {
    const play = plays[index.count]
    if (play) note(index.heard, play.song, play.startsAtMs)
  }
  return index.heard
}

/**
 * Hands what is known of a list on to its end, of which the beginning was cut: what is older there does no
 * harm.
 */
export function transferIndex(plays: readonly HeardPlay[], rest: readonly HeardPlay[]): void {
  const index = indexes.get(plays)
  if (index && index.count === plays.length) indexes.set(rest, { heard: index.heard, count: rest.length })
}

/**
 * What makes two songs clash, as 52-bit numbers: equal texts have equal keys. `title` is 0 for a song without
 * one, which clashes with none. See `src/songs/clash-keys.ts`.
 */
export interface SongKeys {
  readonly song: number
  readonly title: number
  readonly artists: readonly number[]
}
