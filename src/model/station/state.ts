/** The live state of a station, as stored in Redis. Times are Unix milliseconds. */
export interface StationState {
  readonly stationId: number
  /** Identifies one lifetime of the state. A rebuilt state has a new epoch, and clients start over. */
  readonly epoch: string
  /** Increases with each change within the epoch. Set by Redis when the state is stored; 0 before. */
  readonly offset: number
  /** The station revision at which each part last changed. */
  readonly revisions: PartRevisions
  readonly profile: StationProfile
  readonly listeners: ListenerCounts
  /** Null while the station is silent. */
  readonly current: CurrentPlay | null
  /** The current play, or the visible play before it while a jingle plays. */
  readonly shown: ShownPlay | null
  /** Ended visible plays, newest first. */
  readonly history: readonly ShownPlay[]
  readonly next: CuedSong | null
  readonly live: LiveBroadcast | null
}

export type PartRevisions = Readonly<Record<'station' | 'playback' | 'queue' | 'listeners' | 'live', number>>

/** Settings that change rarely. */
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
  /** Undefined in states that release 0.2 stored; then false. */
  readonly requestsEnabled?: boolean
  /** Listen tokens of earlier generations are revoked. Undefined in states of releases without them; then 0. */
  readonly listenTokenGeneration?: number
  readonly mounts: readonly ShownMount[]
  readonly remotes: readonly RemoteStream[]
  /** All custom fields, by id. */
  readonly customFields: readonly { readonly id: number; readonly shortName: string }[]
}

/** A visible mount. `bitrate` in kbit/s; 0: unknown. */
export interface ShownMount {
  readonly id: number
  readonly path: string
  readonly displayName: string
  readonly bitrate: number
  readonly format: string
  /** Whether the AutoDJ sends to it; then its name contains format and bitrate. */
  readonly hasAutodj: boolean
  /** URL for listeners, if not the path. */
  readonly customUrl: string
  readonly isDefault: boolean
}

export interface RemoteStream extends Pick<ShownMount, 'id' | 'bitrate' | 'format'> {
  readonly name: string
  readonly url: string
}

/** Kinds of sources: a mount, a remote, an HLS stream. */
export type SourceKind = 'mount' | 'remote' | 'hls'

/** `unique` is at most `total`. */
export interface ListenerCount {
  readonly total: number
  readonly unique: number
}

/** Counts of the station and, by id, of its mounts and remotes. */
export interface ListenerCounts extends ListenerCount {
  readonly mounts: Readonly<Record<string, ListenerCount>>
  readonly remotes: Readonly<Record<string, ListenerCount>>
  /** Sum of the HLS streams. */
  readonly hls: number
}

export interface ShownSong {
  /** 32 hex digits, see `src/model/songs/song.ts`. */
  readonly id: string
  readonly artist: string
  readonly title: string
  readonly album: string
  readonly genre: string
  readonly isrc: string
  readonly lyrics: string
  /** File name of the cover without `.jpg`; empty: default cover. */
  readonly artId: string
  /** Values by custom field id. */
  readonly customFields: Readonly<Record<string, string>>
}

/** A row of the song history. */
export interface ShownPlay {
  readonly shId: number
  readonly startedAtMs: number
  /** 0: unknown. */
  readonly durationMs: number
  readonly playlist: string
  readonly streamer: string
  readonly isRequest: boolean
  readonly song: ShownSong
}

/** The current play, shown or not. `dueAtMs`: when the clock ends it; null if only a report does. */
export interface CurrentPlay {
  readonly shId: number
  readonly dueAtMs: number | null
  readonly isVisible: boolean
}

/** The first visible row of the queue. */
export interface CuedSong extends Pick<ShownPlay, 'durationMs' | 'playlist' | 'isRequest' | 'song'> {
  readonly cuedAtMs: number
  readonly playsAtMs: number
}

/** A DJ on air. `art`: path or URL of a picture, or empty. */
interface LiveBroadcast {
  readonly streamerName: string
  readonly startedAtMs: number
  readonly art: string
}

/** The live state as read from Postgres, without the offset, which is set when the state is stored. */
export interface StationSnapshot extends VisibleState {
  readonly counts: FlushedCounts
}

/** What a station shows, without the offset. */
export type VisibleState = Omit<StationState, 'offset'>

/** Returns the part of a snapshot that is shown: all but the counts for Redis. */
export function pickVisibleState(snapshot: VisibleState & Partial<StationSnapshot>): VisibleState {
  const { counts: _counts, ...shown } = snapshot
  return shown
}

/**
 * The counts in Postgres, as of the last flush. Redis keeps its own counts and starts with these if it has
 * none. The list of sources is always taken from here.
 */
export interface FlushedCounts extends ListenerCount {
  /** Whether the station has a web hook for gained or lost listeners. */
  readonly hasHooks: boolean
  /** By key: `mount:7`, `remote:7`, `hls:7`. `path`: of the mount, or the URL of the remote. */
  readonly sources: Readonly<
    Record<string, ListenerCount & { readonly path: string; readonly isShown: boolean }>
  >
  readonly play: PlayCounts | null
}

/** The listeners of a play: at its start, the sums of gains and losses, the peak, and unique ones. */
export interface PlayCounts {
  readonly id: number
  readonly start: number
  readonly gained: number
  readonly lost: number
  readonly peak: number
  readonly unique: number
}

/** The station revision of a state. */
export function stationRevisionOf({ revisions }: Pick<StationState, 'revisions'>): number {
  return Math.max(...Object.values(revisions))
}

/** Whether a song plays or a DJ is connected. */
export function isStationOnline(state: { readonly current: unknown; readonly live: unknown }): boolean {
  return state.current !== null || state.live !== null
}

const maxClockSkewMs = 60_000

/** Whether an offset may have been sent. Offsets follow the Redis time, up to a minute ahead. */
export const isPlausibleOffset = (offset: number, nowMs: number): boolean => offset <= nowMs + maxClockSkewMs

/** What a stored state must match. It may be from before a deletion, a rename or a change to private. */
export interface StationIdentity {
  /** The short name that the station had in AzuraCast, if it is none here. */
  readonly formerName?: string | null
  /** Null: the station was deleted. */
  readonly epoch: string | null
  readonly shortName: string
  readonly isPublic: boolean
}

/** Whether a state has another epoch or short name, or is public while the station is private. */
export function isStaleIdentity(
  { epoch, profile }: StationState,
  identity: StationIdentity | undefined
): boolean {
  if (identity === undefined) return false
  const { shortName, isPublic } = profile
  return epoch !== identity.epoch || shortName !== identity.shortName || (isPublic && !identity.isPublic)
}
