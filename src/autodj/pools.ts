import { isCounted, type Playlist, type Slot } from './library.ts'
import { passesOf } from './passes.ts'
import { loopsOnce, playedIn, type Window } from './schedule.ts'
import { at } from './tracks.ts'

/** Tracks from which a playlist may choose in a slot. */
export interface Pool {
  /** The pass in which they are played; null where the list is not gone through in passes. */
  readonly pass: number | null
  /** Seeds their order where they are shuffled. */
  readonly run: number
  isIn(index: number): boolean
}

/**
 * What a playlist chooses from: what is left of a pass, and where nothing of that suits, what it has consumed
 * of it for the pass after; so no track gets ahead of another by more than two plays. A sequence borrows
 * nothing. `draw` seeds a random order.
 */
export function poolsOf(
  playlist: Playlist,
  slot: Slot,
  window: Window | null,
  draw: number
): readonly [Pool, ...Pool[]] {
  const { order, tracks } = playlist
  if (window !== null && loopsOnce(playlist, window)) {
    const played = playedIn(playlist, slot, window)
    const isIn = (index: number) => isCounted(playlist, index) && !played.has(at(tracks.ids, index))
    return [{ pass: null, run: window.startMs / 1_000, isIn }]
  }
  if (order === 'random') return [{ pass: null, run: draw, isIn: index => isCounted(playlist, index) }]
  const { working, consumed } = passesOf(playlist, slot)
  const rest = { pass: working, run: working, isIn: (index: number) => at(consumed, index) < working }
  if (order === 'sequential') return [rest]
  const next = working + 1
  return [rest, { pass: next, run: next, isIn: index => at(consumed, index) === working }]
}

/** The first track of a pool in the order of the list, -1 if it has none. */
export function firstOf({ tracks }: Playlist, pool: Pool): number {
  for (let index = 0; index < tracks.ids.length; index++) if (pool.isIn(index)) return index
  return -1
}

const types = ['once_per_hour', 'once_per_x_songs', 'once_per_x_minutes', 'default'] as const

/** Playlists that are equal but for their weight. */
export interface Bucket {
  readonly type: (typeof types)[number]
  readonly isScheduled: boolean
}

/** What is picked from first to last; of each type, playlists with a schedule come first. */
export const buckets: readonly Bucket[] = types.flatMap(type => [
  { type, isScheduled: true },
  { type, isScheduled: false }
])

export const isOf = ({ type, schedule }: Playlist, bucket: Bucket) =>
  type === bucket.type && schedule.length > 0 === bucket.isScheduled

/** A stream without a schedule plays where nothing else does. */
export const isFallback = ({ source, schedule }: Playlist) => source === 'stream' && schedule.length === 0

/** The place of its bucket; what plays where nothing else does comes last. */
export function rankOf(playlist: Playlist): number {
  return isFallback(playlist) ? buckets.length : buckets.findIndex(bucket => isOf(playlist, bucket))
}
