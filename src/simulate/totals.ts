import type { HeardPlay } from '../autodj/library.ts'
import { windowAt } from '../autodj/schedule.ts'
import type { Run } from './run.ts'

/** What a run amounts to. */
export interface Totals {
  readonly plays: number
  readonly silences: number
  readonly silentMs: number
  /** Different songs that were heard, and those of the library. */
  readonly songsHeard: number
  readonly songs: number
  readonly playlists: readonly PlaylistTotals[]
}

export interface PlaylistTotals {
  readonly playlistId: number
  readonly name: string
  readonly plays: number
  readonly airtimeMs: number
  readonly tracksHeard: number
  readonly tracks: number
  /** Plays that went on beyond their window, and by how much the longest of them did. */
  readonly overruns: number
  readonly longestOverrunMs: number
}

/**
 * Counts plays, airtime, silence, variety and overruns. What goes beyond the end of the run is not counted as
 * time.
 */
export function totalsOf({ library, plays, untilMs }: Run): Totals {
  const { playlists, rules } = library
  const lengthOf = (each: { startsAtMs: number; endsAtMs: number }) =>
    Math.min(each.endsAtMs, untilMs) - each.startsAtMs
  const silences = plays.filter(({ play }) => play === null)
  const heard = plays.flatMap(({ play }) => (play === null ? [] : [play]))
  return {
    plays: heard.length,
    silences: silences.length,
    silentMs: sum(silences.map(lengthOf)),
    songsHeard: countDifferent(heard, play => play.mediaId),
    songs: new Set(playlists.flatMap(({ tracks }) => [...tracks.media])).size,
    playlists: playlists.map(({ id, name, schedule, tracks }) => {
      const own = plays.filter(({ play }) => play?.playlistId === id)
      const overruns = own
        .map(
          ({ startsAtMs, endsAtMs }) =>
            endsAtMs - (windowAt(rules.zone, schedule, startsAtMs)?.endMs ?? Infinity)
        )
        .filter(overrunMs => overrunMs > 0)
      return {
        playlistId: id,
        name,
        plays: own.length,
        airtimeMs: sum(own.map(lengthOf)),
        tracksHeard: countDifferent(
          own.flatMap(({ play }) => play ?? []),
          play => play.trackId
        ),
        tracks: tracks.ids.length,
        overruns: overruns.length,
        longestOverrunMs: Math.max(0, ...overruns)
      }
    })
  }
}

function countDifferent(plays: readonly HeardPlay[], key: (play: HeardPlay) => number | null): number {
  return new Set(plays.map(key).filter(each => each !== null)).size
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
