import { airtimeMs } from './estimate.ts'
import { interrupts, isPlayable, type Slot } from './library.ts'
import type { Recent } from './recent.ts'
import { nextOpening, type Window } from './schedule.ts'
import { at, type Tracks } from './tracks.ts'

/**
 * How well a track fits: 1 nothing clashes, 2 only its artist was heard, 3 whatever was not heard for
 * longest.
 */
export type Tier = 1 | 2 | 3

/** The best track of each tier, as indices, -1 for none; `repeat` may be the song before the slot. */
export interface Winners {
  readonly byTier: Readonly<Record<Tier, number>>
  readonly repeat: number
  readonly lookedAt: number
  readonly skipped: { readonly song: number; readonly title: number; readonly artist: number }
}

export interface Choice {
  readonly tracks: Tracks
  readonly recent: Recent
  readonly lastSong: number | null
  readonly rejected: Slot['rejected']
  /** Longer tracks are passed over. */
  readonly longestMs: number
  /** Whether a track is in the pool. */
  isIn(index: number): boolean
  /** Its place in the order: the smallest comes first. */
  placeOf(index: number): number
}

/** Finds the winners of all tiers in one run through the tracks. */
export function choose(choice: Choice): Winners {
  const { tracks, recent, lastSong, rejected, longestMs } = choice
  const { songs, titles, artists, artistsEnd, durations, lastAired, ids } = tracks
  const skipped = { song: 0, title: 0, artist: 0 }
  const best = { 1: nobody(), 2: nobody(), 3: nobody(), repeat: nobody() }
  let lookedAt = 0
  for (let index = 0; index < ids.length; index++) {
    if (!choice.isIn(index)) continue
    if (longestMs !== Infinity && airtimeMs(at(durations, index)) > longestMs) continue
    lookedAt++
    const song = at(songs, index)
    const place = choice.placeOf(index)
    const songHeard = recent.songs.get(song)
    const heardMs = Math.max(at(lastAired, index), songHeard ?? 0)
    offer(best.repeat, index, heardMs, place)
    if (song === lastSong || rejected.has(at(ids, index))) {
      skipped.song++
      continue
    }
    offer(best[3], index, heardMs, place)
    if (songHeard !== undefined) {
      skipped.song++
      continue
    }
    const title = at(titles, index)
    if (title !== 0 && recent.titles.get(title) !== undefined) {
      skipped.title++
      continue
    }
    let artistMs = -Infinity
    for (let each = index === 0 ? 0 : at(artistsEnd, index - 1); each < at(artistsEnd, index); each++)
      artistMs = Math.max(artistMs, recent.artists.get(at(artists, each)) ?? -Infinity)
    if (artistMs === -Infinity) {
      offer(best[1], index, 0, place)
      continue
    }
    skipped.artist++
    offer(best[2], index, artistMs, place)
  }
  const byTier = { 1: best[1].index, 2: best[2].index, 3: best[3].index }
  return { byTier, repeat: best.repeat.index, lookedAt, skipped }
}

interface Best {
  index: number
  heardMs: number
  place: number
}

const nobody = (): Best => ({ index: -1, heardMs: Infinity, place: Infinity })

/** The one that was heard longest ago, of several the first in the order. */
function offer(best: Best, index: number, heardMs: number, place: number): void {
  if (heardMs > best.heardMs || (heardMs === best.heardMs && place >= best.place)) return
  best.index = index
  best.heardMs = heardMs
  best.place = place
}

/** A stream without a schedule is looked at again after this time, at the latest. */
const streamMs = 600_000

/**
 * How long a stream plays from a slot on, in milliseconds: to the end of its window, or without one until
 * something with a schedule may play.
 */
export function streamLengthAt({ library, atMs }: Slot, window: Window | null): number {
  if (window !== null) return window.endMs - atMs
  const { zone } = library.rules
  const openings = library.playlists
    .filter(playlist => isPlayable(playlist) && !interrupts(playlist))
    .flatMap(({ schedule }) =>
      schedule.length === 0 ? [] : (nextOpening(zone, schedule, atMs, streamMs) ?? [])
    )
  return Math.min(streamMs, ...openings.map(openingMs => openingMs - atMs))
}
