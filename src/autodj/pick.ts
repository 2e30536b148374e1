import type { Ahead, Library, Playlist, Track } from './library.ts'
import type { Random } from './random.ts'

/** A reason, readable by operators and by programs; kept with the queue row it led to. */
export type LogEntry =
  | { readonly step: 'slot'; readonly at: number; readonly why: 'fill' | 'manual' }
  | {
      readonly step: 'bucket'
      readonly bucket: 'default/unscheduled'
      readonly order: { readonly id: number; readonly weight: number }[]
    }
  | {
      readonly step: 'picked'
      readonly id: number
      readonly media: number
      readonly tier: number
      readonly pass: number
    }

export interface Decision {
  readonly playlist: Playlist
  readonly track: Track
  readonly log: LogEntry[]
}

/**
 * Chooses the track for one slot, or null if no playlist has any. A playlist is drawn by weight; of its hand the
 * first track whose song is neither on air nor queued. Tracks queued in this pass, `rejected` ones (an operator has
 * just removed them) and a song twice in a row are taken, in this order, only when nothing better is there. Pure: an unused
 * decision leaves no trace.
 */
export function pick(
  library: Library,
  ahead: readonly Ahead[],
  rejected: ReadonlySet<number>,
  atMs: number,
  random: Random
): Decision | null {
  const order = drawOrder(library, random)
  const last = ahead.at(-1)
  const log: LogEntry[] = [
    { step: 'slot', at: Math.floor(atMs / 1000), why: 'fill' },
    { step: 'bucket', bucket: 'default/unscheduled', order: order.map(({ id, weight }) => ({ id, weight })) }
  ]
  const songsAhead = new Set(ahead.map(row => row.songId))
  const isQueued = (track: Track) =>
    ahead.some(row => row.trackId === track.trackId && row.pass >= track.pass)
  const tiers: ((track: Track) => boolean)[] = [
    track => !songsAhead.has(track.songId) && !rejected.has(track.trackId),
    track => !isQueued(track) && track.songId !== last?.songId && !rejected.has(track.trackId),
    track => track.songId !== last?.songId,
    () => true
  ]
  for (const [index, fits] of tiers.entries()) {
    for (const playlist of order) {
      const track = playlist.hand.find(fits)
      if (!track) continue
      const { mediaId: media, pass } = track
      const picked: LogEntry = { step: 'picked', id: playlist.id, media, tier: index + 1, pass }
      return { playlist, track, log: [...log, picked] }
    }
  }
  return null
}

/** Playlists in a weighted order without replacement: each comes first with a chance in proportion to its weight. */
function drawOrder(library: Library, random: Random): Playlist[] {
  return library
    .map(playlist => ({ playlist, key: -Math.log(1 - random()) / playlist.weight }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ playlist }) => playlist)
}
