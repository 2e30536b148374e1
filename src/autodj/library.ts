import type { SongKeys } from './recent.ts'
import type { ScheduleItem } from './schedule.ts'
import { at, type Tracks } from './tracks.ts'
import type { Zone } from './zone.ts'

export type PlaylistType = 'default' | 'once_per_x_songs' | 'once_per_x_minutes' | 'once_per_hour' | 'custom'
export type Order = 'shuffle' | 'random' | 'sequential'
export type Option = 'interrupt' | 'single_track' | 'merge' | 'prioritize' | 'loop_once'

/** A playlist with all that decides when and what it plays. */
export interface Playlist {
  readonly id: number
  readonly name: string
  readonly type: PlaylistType
  /** `list`: a fetched list of addresses; `stream`: one address that plays until it is stopped. */
  readonly source: 'songs' | 'list' | 'stream'
  readonly order: Order
  readonly weight: number
  readonly isEnabled: boolean
  readonly isJingle: boolean
  readonly avoidsDuplicates: boolean
  readonly everySongs: number
  readonly everyMinutes: number
  readonly hourMinute: number
  readonly options: ReadonlySet<Option>
  readonly schedule: readonly ScheduleItem[]
  /** The run through all tracks that is on at least; see `workingPass`. */
  readonly pass: number
  readonly tracks: Tracks
}

/** Settings of a station. */
export interface AutodjRules {
  readonly zone: Zone
  /** Secret; with the number of a slot it seeds every choice, so that a repeated step chooses the same. */
  readonly seed: number
  readonly queueLength: number
  /** 0: only never the same song twice in a row. */
  readonly duplicateRangeMs: number
  /** How long two songs are heard together. */
  readonly overlapMs: number
  readonly requestThresholdMs: number
  /** 0: no limit. */
  readonly consecutiveRequests: number
  readonly overrunMs: number
  /** What was sent to the playout can wait there while something cuts in. */
  readonly cutsBeforeSent: boolean
}

/** What was played, or stands in the queue. */
export interface HeardPlay {
  readonly playlistId: number | null
  readonly trackId: number | null
  readonly mediaId: number | null
  readonly pass: number
  readonly requestId: number | null
  /** The opening of the schedule window, or the minute of the hour, that it belongs to. */
  readonly occurrenceMs: number | null
  readonly song: SongKeys
  readonly isVisible: boolean
  readonly isInterrupt: boolean
  readonly startsAtMs: number
  /** 0: not known. */
  readonly durationMs: number
}

/** What an operator took out of the queue: for the rules of its playlist it counts as played. */
export type Refused = Pick<HeardPlay, 'playlistId' | 'trackId' | 'pass' | 'startsAtMs' | 'occurrenceMs'>

/** The past of a station, as far back as its rules look. */
export interface Past {
  /** Oldest first; the last one may be on air. */
  readonly plays: readonly HeardPlay[]
  /** The last play of a playlist where it is older than these, and the visible plays between it and these. */
  readonly older: ReadonlyMap<number, { readonly startsAtMs: number; readonly visibleAfter: number }>
  readonly refused: readonly Refused[]
}

/** A listener's request that has not been played, whether it is in the queue or not. */
export interface PendingRequest {
  readonly id: number
  readonly mediaId: number
  readonly song: SongKeys
  readonly durationMs: number
  readonly dueAtMs: number
  readonly skipsDelay: boolean
}

/** All that a decision depends on, but for the slot. */
export interface Library {
  readonly rules: AutodjRules
  readonly playlists: readonly Playlist[]
  readonly past: Past
  /** In the order in which they were made. */
  readonly requests: readonly PendingRequest[]
}

/** A place in the queue. `ahead` and `behind` are the rows of the queue before and after it. */
export interface Slot {
  readonly library: Library
  readonly ahead: readonly HeardPlay[]
  readonly behind: readonly HeardPlay[]
  readonly atMs: number
  /** Tracks an operator has just removed. */
  readonly rejected: ReadonlySet<number>
}

/** Whether it may be picked at all. */
export function isPlayable({ isEnabled, type, tracks }: Playlist): boolean {
  return isEnabled && type !== 'custom' && tracks.ids.length > 0
}

/** An interrupting playlist belongs to no slot: it cuts in, see `interrupt.ts`. */
export const interrupts = ({ options }: Playlist) => options.has('interrupt')

/** Whether a track stands for itself: a song that a list in no order holds twice counts once. */
export function isCounted({ order, tracks }: Playlist, index: number): boolean {
  return order === 'sequential' || at(tracks.doubles, index) === 0
}

/** Such a list may hold a song twice in a row on purpose. */
export const isSequence = ({ order, options }: Playlist) => order === 'sequential' || options.has('merge')

/** What is heard directly before a slot. */
export function lastBefore({ library, ahead }: Slot): HeardPlay | null {
  return ahead.at(-1) ?? library.past.plays.at(-1) ?? null
}
