import type { AvoidedKeys, Tier } from './duplicates.ts'
import { airtimeMs } from './durations.ts'
import { valueAt, type Tracks } from './tracks.ts'

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
    if (maxAirtimeMs !== Infinity && airtimeMs(valueAt(durations, index)) > maxAirtimeMs) continue
    considered++
    const song = valueAt(songs, index)
    const songHeard = recent.songs.get(song)
    const heardMs = Math.max(valueAt(lastAired, index), songHeard ?? 0)
    keepBetter(query, best.repeat, index, heardMs)
    if (avoided.includes(song) || rejected.has(valueAt(ids, index))) {
      skipped.song++
      continue
    }
    keepBetter(query, best[3], index, heardMs)
    if (songHeard !== undefined) {
      skipped.song++
      continue
    }
    const title = valueAt(titles, index)
    if (title !== 0 && recent.titles.get(title) !== undefined) {
      skipped.title++
      continue
    }
    let artistMs = -Infinity
    for (
      let each = index === 0 ? 0 : valueAt(artistsEnd, index - 1);
      each < valueAt(artistsEnd, index);
      each++
    )
      artistMs = Math.max(artistMs, recent.artists.get(valueAt(artists, each)) ?? -Infinity)
    if (artistMs === -Infinity) {
      keepBetter(query, best[1], index, 0)
      continue
    }
    skipped.artist++
    keepBetter(query, best[2], index, artistMs)
  }
  const byTier: Record<Tier, number> = { 1: best[1].index, 2: best[2].index, 3: best[3].index }
  return { byTier, repeat: best.repeat.index, considered, skipped }
}

interface BestTrack {
  index: number
  heardMs: number
  /** Null until it is needed. */
  orderKey: number | null
}

const noTrack = (): BestTrack => ({ index: -1, heardMs: Infinity, orderKey: null })

/** Prefers the track that was heard longest ago, then the lowest order key. */
function keepBetter(query: TrackQuery, best: BestTrack, index: number, heardMs: number): void {
  if (heardMs > best.heardMs) return
  let orderKey: number | null = null
  if (heardMs === best.heardMs) {
    orderKey = query.orderKey(index)
    best.orderKey ??= query.orderKey(best.index)
    if (orderKey >= best.orderKey) return
  }
  best.index = index
  best.heardMs = heardMs
  best.orderKey = orderKey
}
