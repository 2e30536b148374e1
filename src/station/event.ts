import type { CuedSong, CurrentPlay, ListenerCounts, LiveBroadcast, Play, StationProfile } from './state.ts'

/**
 * What happened to a station. Each event carries the revision its facts were committed under and the whole part
 * of the state it speaks of, so that a lost, doubled or late event does no harm: the newest one wins.
 */
export type StationEvent =
  | StationChanged
  | TrackStarted
  | QueueChanged
  | ListenersCounted
  | LiveStarted
  | LiveEnded
  | WentOffline

export interface StationChanged {
  readonly type: 'station-changed'
  readonly revision: number
  readonly profile: StationProfile
}

export interface TrackStarted {
  readonly type: 'track-started'
  readonly revision: number
  readonly current: CurrentPlay
  readonly shown: Play | null
  readonly history: readonly Play[]
  readonly next: CuedSong | null
}

export interface QueueChanged {
  readonly type: 'queue-changed'
  readonly revision: number
  readonly next: CuedSong | null
}

export interface ListenersCounted {
  readonly type: 'listeners-counted'
  readonly revision: number
  readonly listeners: ListenerCounts
}

export interface LiveStarted {
  readonly type: 'live-started'
  readonly revision: number
  readonly live: LiveBroadcast
}

export interface LiveEnded {
  readonly type: 'live-ended'
  readonly revision: number
}

/** Nothing plays any more, and nothing is there to play. */
export interface WentOffline {
  readonly type: 'went-offline'
  readonly revision: number
  readonly history: readonly Play[]
  readonly next: CuedSong | null
}
