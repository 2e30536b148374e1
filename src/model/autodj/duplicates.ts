import { type PlayOrRow, isExpiredRequest, type PendingRequest, type QueueSlot } from './library.ts'
import { repeatsPreviousSong, findPreviousSong } from './previous-play.ts'
import type { SongKeys } from './track-columns.ts'

/** How well a song fits a slot: 1 no duplicate, 2 its artist was heard, 3 the song or its title was heard. */
export type RepeatTier = 1 | 2 | 3

/** When a key was or will be heard last, Unix milliseconds; undefined if not within the duplicate range. */
interface LastHeard {
  get(key: number): number | undefined
}

/** The songs, titles and artists that a slot should not repeat. */
export type AvoidedKeys = Readonly<Record<'songs' | 'titles' | 'artists', LastHeard>>

/**
 * Collects the previous song, plays and rows within the duplicate range before the slot, all rows after it,
 * and requests that are due within the range after it. Rows count at their planned time, so that a plan stays
 * valid as time passes.
 */
export function collectAvoidedKeys(slot: QueueSlot): AvoidedKeys {
  const { library, rowsBefore, rowsAfter, atMs } = slot
  const { duplicateRangeMs } = library.rules
  const near = emptyIndex()
  if (duplicateRangeMs === 0) return near
  const sinceMs = atMs - duplicateRangeMs
  const last = findPreviousSong(slot)
  for (const play of [...rowsBefore, ...rowsAfter])
    if (play.startsAtMs > sinceMs) addSong(near, play.song, play.startsAtMs)
  if (last) addSong(near, last.song, last.startsAtMs)
  for (const request of library.requests)
    if (request.dueAtMs < atMs + duplicateRangeMs && !isExpiredRequest(request, slot))
      addSong(near, request.song, Math.max(request.dueAtMs, atMs))
  const past = indexPlays(library.past.plays)
  const latest = (kind: keyof AvoidedKeys) => latestOf(near[kind], past[kind], sinceMs)
  return { songs: latest('songs'), titles: latest('titles'), artists: latest('artists') }
}

function latestOf(near: LastHeard, past: LastHeard, sinceMs: number): LastHeard {
  return {
    get: key => {
      const soon = near.get(key)
      const last = past.get(key)
      if (last === undefined || last <= sinceMs) return soon
      return soon === undefined || soon < last ? last : soon
    }
  }
}

export function findRepeatTier({ song, title, artists }: SongKeys, recent: AvoidedKeys): RepeatTier {
  if (recent.songs.get(song) !== undefined) return 3
  if (title !== 0 && recent.titles.get(title) !== undefined) return 3
  return artists.some(artist => recent.artists.get(artist) !== undefined) ? 2 : 1
}

const hourMs = 3_600_000

/**
 * Whether a request would repeat a song, title or artist within the request threshold or the queue. With a
 * threshold of 0 only the previous song counts; an hour after its due time only the same song.
 */
export function requestRepeatsTooSoon(request: PendingRequest, slot: QueueSlot): boolean {
  const { library, rowsBefore, rowsAfter, atMs } = slot
  const { requestThresholdMs } = library.rules
  if (repeatsPreviousSong(slot, { song: request.song, isVisible: true })) return true
  const isLate = atMs - request.dueAtMs > hourMs
  const isRepeat = ({ song }: PlayOrRow) =>
    isLate ? song.song === request.song.song : areDuplicateSongs(request.song, song)
  if (requestThresholdMs === 0) {
    const last = findPreviousSong(slot)
    return last !== null && isRepeat(last)
  }
  const isRecentRepeat = (play: PlayOrRow) => play.startsAtMs > atMs - requestThresholdMs && isRepeat(play)
  return library.past.plays.some(isRecentRepeat) || rowsBefore.some(isRepeat) || rowsAfter.some(isRepeat)
}

/** Whether two songs are the same, or have the same title or a common artist. */
export function areDuplicateSongs(one: SongKeys, other: SongKeys): boolean {
  return (
    one.song === other.song ||
    (one.title !== 0 && one.title === other.title) ||
    one.artists.some(artist => other.artists.includes(artist))
  )
}

/** When each song, title and artist started last, Unix milliseconds. */
type HeardIndex = Readonly<Record<keyof AvoidedKeys, Map<number, number>>>

const emptyIndex = (): HeardIndex => ({ songs: new Map(), titles: new Map(), artists: new Map() })

function addSong({ songs, titles, artists }: HeardIndex, song: SongKeys, atMs: number): void {
  keepLatest(songs, song.song, atMs)
  if (song.title !== 0) keepLatest(titles, song.title, atMs)
  for (const artist of song.artists) keepLatest(artists, artist, atMs)
}

function keepLatest(times: Map<number, number>, key: number, atMs: number): void {
  const known = times.get(key)
  if (known === undefined || known < atMs) times.set(key, atMs)
}

/** The index of each list of plays, and how many of its plays are in it. */
const indexes = new WeakMap<readonly PlayOrRow[], { readonly heard: HeardIndex; count: number }>()

/** The cached index of a list of plays, so that choices do not scan a week of plays. */
export function indexPlays(plays: readonly PlayOrRow[]): HeardIndex {
  const index = indexes.get(plays) ?? { heard: emptyIndex(), count: 0 }
  indexes.set(plays, index)
  for (; index.count < plays.length; index.count++) {
    const play = plays[index.count]
    if (play) addSong(index.heard, play.song, play.startsAtMs)
  }
  return index.heard
}

/** Reuses the index of a list for a copy without its oldest plays. Keeping those in the index is harmless. */
export function transferPlayIndex(plays: readonly PlayOrRow[], rest: readonly PlayOrRow[]): void {
  const index = indexes.get(plays)
  if (index && index.count === plays.length) indexes.set(rest, { heard: index.heard, count: rest.length })
}
