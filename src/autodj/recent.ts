import { lastBefore, type PendingRequest, type Play, type Slot } from './library.ts'
import type { SongKeys } from './song-keys.ts'

/** When each song, title and artist was or will be heard last, Unix milliseconds, within the range of the station. */
export interface Recent {
  readonly songs: ReadonlyMap<number, number>
  readonly titles: ReadonlyMap<number, number>
  readonly artists: ReadonlyMap<number, number>
}

/**
 * What a slot must not repeat: plays that began within the range before it, the play before it, all rows of the queue, and
 * requests that will be due within the range after it. Nothing where the range is 0.
 */
export function recentAt({ library, ahead, behind, atMs }: Slot): Recent {
  const { duplicateRangeMs } = library.rules
  const { plays } = library.past
  const recent = {
    songs: new Map<number, number>(),
    titles: new Map<number, number>(),
    artists: new Map<number, number>()
  }
  if (duplicateRangeMs === 0) return recent
  const from = plays.findIndex(play => play.startsAtMs > atMs - duplicateRangeMs)
  const aired = from === -1 ? plays.slice(-1) : plays.slice(from)
  for (const { song, startsAtMs } of [...aired, ...ahead, ...behind]) note(recent, song, startsAtMs)
  for (const { song, dueAtMs } of library.requests)
    if (dueAtMs < atMs + duplicateRangeMs) note(recent, song, Math.max(dueAtMs, atMs))
  return recent
}

type Heard = Map<number, number>

function note(
  recent: { songs: Heard; titles: Heard; artists: Heard },
  { song, title, artists }: SongKeys,
  atMs: number
): void {
  later(recent.songs, song, atMs)
  if (title !== 0) later(recent.titles, title, atMs)
  for (const artist of artists) later(recent.artists, artist, atMs)
}

function later(heard: Heard, key: number, atMs: number): void {
  const known = heard.get(key)
  if (known === undefined || known < atMs) heard.set(key, atMs)
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
