import type { AvoidedKeys, Tier } from './duplicates.ts'
import { airtimeMs } from './durations.ts'
import type { Tracks } from './tracks.ts'

export interface TrackQuery {
  readonly tracks: Tracks
  readonly recent: AvoidedKeys
  /** Songs that are skipped, except for `repeat`. */
  readonly avoided: readonly (number | null)[]
  /** Ids of tracks that are skipped, except for `repeat`. */
  readonly rejected: ReadonlySet<number>
  /** Longer tracks are skipped. */
  readonly maxAirtimeMs: number
  /** Whether a track is in the pool. */
  includes(index: number): boolean
  /** The lowest key comes first. */
  orderKey(index: number): number
}

/** Finds the best track of every tier as an index, or -1, in one scan; `repeat` may be a song to avoid. */
export function findBestTracks(query: TrackQuery) {
  const { tracks, recent, avoided, rejected, maxAirtimeMs } = query
  const { songs, titles, artists, artistsEnd, durations, lastAired, ids } = tracks
  const skipped = { song: 0, title: 0, artist: 0 }
  const best = { 1: noTrack(), 2: noTrack(), 3: noTrack(), repeat: noTrack() }
  let considered = 0
  for (let index = 0; index < ids.length; index++) {
    if (!query.includes(index)) continue
    if (maxAirtimeMs !== Infinity && airtimeMs(durations[index] ?? 0) > maxAirtimeMs) continue
    considered++
    const song = songs[index] ?? 0
    const songHeard = recent.songs.get(song)
    const heardMs = Math.max(lastAired[index] ?? 0, songHeard ?? 0)
    const orderKey = query.orderKey(index)
    keepBetter(best.repeat, index, heardMs, orderKey)
    if (avoided.includes(song) || (rejected.size > 0 && rejected.has(ids[index] ?? 0))) {
      skipped.song++
      continue
    }
    keepBetter(best[3], index, heardMs, orderKey)
    if (songHeard !== undefined) {
      skipped.song++
      continue
    }
    const title = titles[index] ?? 0
    if (title !== 0 && recent.titles.get(title) !== undefined) {
      skipped.title++
      continue
    }
    let artistMs = -Infinity
    for (let each = index === 0 ? 0 : (artistsEnd[index - 1] ?? 0); each < (artistsEnd[index] ?? 0); each++)
      artistMs = Math.max(artistMs, recent.artists.get(artists[each] ?? 0) ?? -Infinity)
    if (artistMs === -Infinity) {
      keepBetter(best[1], index, 0, orderKey)
      continue
    }
    skipped.artist++
    keepBetter(best[2], index, artistMs, orderKey)
  }
  const byTier: Record<Tier, number> = { 1: best[1].index, 2: best[2].index, 3: best[3].index }
  return { byTier, repeat: best.repeat.index, considered, skipped }
}

interface BestTrack {
  index: number
  heardMs: number
  orderKey: number
}

const noTrack = (): BestTrack => ({ index: -1, heardMs: Infinity, orderKey: Infinity })

/** Prefers the track that was heard longest ago, then the lowest order key. */
function keepBetter(best: BestTrack, index: number, heardMs: number, orderKey: number): void {
  if (heardMs > best.heardMs || (heardMs === best.heardMs && orderKey >= best.orderKey)) return
  best.index = index
  best.heardMs = heardMs
  best.orderKey = orderKey
}
