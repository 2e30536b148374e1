import type { ScheduleItem } from './schedule.ts'
import type { TimeZone } from './time-zone.ts'
import { columnValueAt, type SongKeys, type TrackColumns } from './track-columns.ts'

export type PlaylistType = 'default' | 'once_per_x_songs' | 'once_per_x_minutes' | 'once_per_hour' | 'custom'
export type PlaylistOrder = 'shuffle' | 'random' | 'sequential'
export type PlaylistOption = 'interrupt' | 'single_track' | 'merge' | 'prioritize' | 'loop_once'

/** A playlist with its settings and tracks. */
export interface Playlist {
  readonly id: number
  readonly name: string
  readonly type: PlaylistType
  /** `list`: URLs from a remote list; `stream`: one URL that plays until it is stopped. */
  readonly source: 'songs' | 'list' | 'stream'
  readonly order: PlaylistOrder
  readonly weight: number
  readonly isEnabled: boolean
  readonly isJingle: boolean
  readonly avoidsDuplicates: boolean
  readonly everySongs: number
  readonly everyMinutes: number
  readonly hourMinute: number
  readonly options: ReadonlySet<PlaylistOption>
  readonly schedule: readonly ScheduleItem[]
  /** The current pass is at least this one; see `track-pools.ts`. */
  readonly pass: number
  readonly tracks: TrackColumns
}

/** Settings of a station that its AutoDJ depends on. */
export interface AutodjRules {
  readonly zone: TimeZone
  /** Secret. Seeds every choice with the number of its slot, so that a repeated step is the same. */
  readonly seed: number
  /** 0: only the same song twice in a row is avoided. */
  readonly duplicateRangeMs: number
  /** Crossfade. */
  readonly overlapMs: number
  readonly requestThresholdMs: number
  /** 0: no limit. */
  readonly consecutiveRequests: number
  readonly overrunMs: number
  /** Whether an interrupt may start before rows that were sent to the playout. */
  readonly cutsBeforeSent: boolean
}

/** A play, or a row of the queue. */
export interface PlayOrRow {
  readonly playlistId: number | null
  readonly trackId: number | null
  readonly mediaId: number | null
  readonly pass: number
  readonly requestId: number | null
  /** Start of the schedule window, or the hourly target, that it belongs to. */
  readonly occurrenceMs: number | null
  readonly song: SongKeys
  readonly isVisible: boolean
  readonly isInterrupt: boolean
  readonly startsAtMs: number
  /** 0: unknown. */
  readonly durationMs: number
  /** How long it overlaps with the next one; null or absent: as long as the station defines. */
  readonly overlapMs?: number | null
}

/** A row that an operator removed from the queue. The rules of its playlist count it as played. */
export type RemovedRow = Pick<PlayOrRow, 'playlistId' | 'trackId' | 'pass' | 'startsAtMs' | 'occurrenceMs'>

/** The last play of a playlist, and the number of visible plays after it. */
export interface LastPlay {
  readonly startsAtMs: number
  readonly visibleAfter: number
}

/** The past of a station, as far back as its rules need it. */
export interface LibraryPast {
  /** Oldest first; includes the current play. */
  readonly plays: readonly PlayOrRow[]
  /** By playlist: its last play before `plays`; counts visible plays up to `plays`. */
  readonly older: ReadonlyMap<number, LastPlay>
  readonly removed: readonly RemovedRow[]
}

/** A listener's request that has not been played; it may be in the queue. */
export interface PendingRequest extends Pick<PlayOrRow, 'song' | 'durationMs' | 'overlapMs'> {
  readonly id: number
  readonly mediaId: number
  readonly dueAtMs: number
  readonly skipsDelay: boolean
}

/** Time after its due time at which a request expires. */
export const requestTtlMs = 180 * 60_000

export function isExpiredRequest(
  { dueAtMs }: Pick<PendingRequest, 'dueAtMs'>,
  { atMs }: Pick<QueueSlot, 'atMs'>
): boolean {
  return atMs - dueAtMs >= requestTtlMs
}

/** Everything that a decision depends on, except the slot. */
export interface AutodjLibrary {
  readonly rules: AutodjRules
  readonly playlists: readonly Playlist[]
  readonly past: LibraryPast
  /** Oldest first. */
  readonly requests: readonly PendingRequest[]
}

/** A place in the queue for which a song is chosen. */
export interface QueueSlot {
  readonly library: AutodjLibrary
  readonly rowsBefore: readonly PlayOrRow[]
  readonly rowsAfter: readonly PlayOrRow[]
  readonly atMs: number
  /** Tracks that an operator has just removed from the queue. */
  readonly rejected: ReadonlySet<number>
}

/** Whether a playlist has tracks and may be played automatically. */
export function isPlayablePlaylist({ isEnabled, type, tracks }: Playlist): boolean {
  return isEnabled && type !== 'custom' && tracks.ids.length > 0
}

/** Whether a playlist interrupts the current song at its time; see `interrupt.ts`. */
export const isInterruptingPlaylist = ({ options }: Playlist) => options.has('interrupt')

/** The playlists of a slot that do not interrupt. */
export const listRegularPlaylists = ({ library }: QueueSlot) =>
  library.playlists.filter(playlist => !isInterruptingPlaylist(playlist))

/** A weight of 0 means the default. */
export const playlistWeight = ({ weight }: Playlist) => weight || 3

/** Whether a track counts: repeated songs count once, except in a sequential playlist. */
export function trackCountsInPass({ order, tracks }: Playlist, index: number): boolean {
  return order === 'sequential' || tracks.duplicates === null || columnValueAt(tracks.duplicates, index) === 0
}

/** Whether a playlist continues in its own order, which may repeat a song intentionally. A stream is one song. */
export const isSequencePlaylist = ({ order, options, source }: Playlist) =>
  order === 'sequential' || options.has('merge') || source === 'stream'
