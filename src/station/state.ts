/**
 * The live state of one station: what Redis stores and servers render. Instants are Unix milliseconds,
 * durations milliseconds.
 */
export interface StationState {
  readonly stationId: number
  /** Names one lifetime of this state; a rebuilt state gets a new one, and clients start over. */
  readonly epoch: string
  /**
   * Grows strictly with each change within the epoch, by one or more. Redis chooses it when the state is
   * stored; 0 before that.
   */
  readonly offset: number
  /** The revision of the station with which each part changed last. */
  readonly revisions: Revisions
  readonly profile: StationProfile
  readonly listeners: ListenerCounts
  /** What runs now; null while the station is silent. */
  readonly current: CurrentPlay | null
  /** The play a listener is shown: `current`, or the visible play before it while a jingle runs. */
  readonly shown: Play | null
  /** Ended visible plays, newest first. */
  readonly history: readonly Play[]
  readonly next: CuedSong | null
  readonly live: LiveBroadcast | null
}

export interface Revisions {
  readonly station: number
  readonly playback: number
  readonly queue: number
  readonly listeners: number
  readonly live: number
}

/** What an operator set: it changes rarely. */
export interface StationProfile {
  readonly name: string
  readonly shortName: string
  readonly description: string
  readonly url: string
  readonly timezone: string
  readonly frontend: string
  readonly backend: string
  readonly isPublic: boolean
  readonly hlsEnabled: boolean
  readonly hlsIsDefault: boolean
  readonly offlineText: string
  readonly mounts: readonly Mount[]
  readonly remotes: readonly Remote[]
  /** All defined custom fields, in id order. */
  readonly customFields: readonly { readonly id: number; readonly shortName: string }[]
}

/** A mount shown on public pages. `bitrate` in kbit/s, 0 if unknown. */
export interface Mount {
  readonly id: number
  readonly path: string
  readonly displayName: string
  readonly bitrate: number
  readonly format: string
  /** Its name tells format and bitrate only where the AutoDJ makes the sound. */
  readonly hasAutodj: boolean
  /** Where listeners find it, if not at its path. */
  readonly customUrl: string
  readonly isDefault: boolean
}

export interface Remote {
  readonly id: number
  readonly name: string
  readonly url: string
  readonly bitrate: number
  readonly format: string
}

/** `unique` is never above `total`. */
export interface Count {
  readonly total: number
  readonly unique: number
}

/** Counts of the station and of each source, by the id of the mount or remote. */
export interface ListenerCounts extends Count {
  readonly mounts: Readonly<Record<string, Count>>
  readonly remotes: Readonly<Record<string, Count>>
  /** The sum over the HLS streams. */
  readonly hls: number
}

export interface Song {
  /** 32 hex digits, see `src/songs/song.ts`. */
  readonly id: string
  readonly artist: string
  readonly title: string
  readonly album: string
  readonly genre: string
  readonly isrc: string
  readonly lyrics: string
  /** Last part of the cover's path without `.jpg`; empty where the built-in image stands in. */
  readonly artId: string
  /** Values by the id of the custom field. */
  readonly customFields: Readonly<Record<string, string>>
}

/** One row of the song history. */
export interface Play {
  readonly shId: number
  readonly startedAtMs: number
  /** 0 where the length is not known. */
  readonly durationMs: number
  readonly playlist: string
  readonly streamer: string
  readonly isRequest: boolean
  readonly song: Song
}

/** What runs now, shown or not. `dueAtMs`: when the clock has to end it, null where only a report can. */
export interface CurrentPlay {
  readonly shId: number
  readonly dueAtMs: number | null
  readonly isVisible: boolean
}

/** The first visible row of the queue. */
export interface CuedSong {
  readonly cuedAtMs: number
  readonly playsAtMs: number
  readonly durationMs: number
  readonly playlist: string
  readonly isRequest: boolean
  readonly song: Song
}

/** A DJ on air. `art` is the path or URL of a picture, empty if there is none. */
export interface LiveBroadcast {
  readonly streamerName: string
  readonly startedAtMs: number
  readonly art: string
}

/**
 * What a station shows, as one statement read it from Postgres: its whole live state but for the offset,
 * which is chosen when the state is stored.
 */
export type StationSnapshot = Omit<StationState, 'offset'>

/** The revision of the station that a state shows. */
export function newestRevision({ revisions }: Pick<StationState, 'revisions'>): number {
  return Math.max(...Object.values(revisions))
}

/** Audio really goes out: something plays, or a DJ is connected. */
export function isOnline(state: { readonly current: unknown; readonly live: unknown }): boolean {
  return state.current !== null || state.live !== null
}

const clocksApartMs = 60_000

/**
 * Whether an offset that a client names may have been sent by another server. Offsets follow the time of
 * Redis, so one that is more than a minute ahead of it (`nowMs`, Unix milliseconds) is made up.
 */
export function mayHaveBeenSent(offset: number, nowMs: number): boolean {
  return offset <= nowMs + clocksApartMs
}
