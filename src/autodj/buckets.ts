import type { Playlist } from './library.ts'

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
