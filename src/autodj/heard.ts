import type { Play } from './library.ts'
import type { SongKeys } from './song-keys.ts'

/** When each song, title and artist began last, Unix milliseconds. */
export interface Heard {
  readonly songs: Map<number, number>
  readonly titles: Map<number, number>
  readonly artists: Map<number, number>
}

export const nothingHeard = (): Heard => ({ songs: new Map(), titles: new Map(), artists: new Map() })

/** Notes that a song begins at a time; a later time stays. */
export function note({ songs, titles, artists }: Heard, song: SongKeys, atMs: number): void {
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

const indexes = new WeakMap<readonly Play[], Index>()

/**
 * What was heard in a list of plays, kept with the list: a week of plays is not gone through for each choice. Plays that were added since
 * are taken in.
 */
export function heardIn(plays: readonly Play[]): Heard {
  const index = indexes.get(plays) ?? { heard: nothingHeard(), count: 0 }
  indexes.set(plays, index)
  for (; index.count < plays.length; index.count++) {
    const play = plays[index.count]
    if (play) note(index.heard, play.song, play.startsAtMs)
  }
  return index.heard
}

/** Hands what is known of a list on to its end, of which the beginning was cut: what is older there does no harm. */
export function handOn(plays: readonly Play[], rest: readonly Play[]): void {
  const index = indexes.get(plays)
  if (index && index.count === plays.length) indexes.set(rest, { heard: index.heard, count: rest.length })
}
