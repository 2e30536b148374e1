/*
 * Everything a user of the client sees, and no code: it is served as it stands, as `/client.d.ts`.
 */

/** How a station is followed; what comes first is tried first. */
export type Transport = 'websocket' | 'sse' | 'poll'

/**
 * - `connecting`: nothing is known yet.
 * - `live`: what is shown is true.
 * - `stale`: what is shown was true a while ago, and there has been no news since.
 * - `offline`: there is nothing true to show; `reason` says why.
 */
export type Status = 'connecting' | 'live' | 'stale' | 'offline'

/**
 * - `unreachable`: no server answers; it goes on trying.
 * - `unknown`: the server knows no such station, or it is private; if it appears, it is shown.
 * - `refused`: the server does not want to be asked again, and is not.
 * - `closed`: `close()` was called.
 */
export type Reason = 'unreachable' | 'unknown' | 'refused' | 'closed'

export interface FollowOptions {
  /** Where Cuewire is, `https://radio.example.com`. In a page: where the page is from, unless given. */
  readonly server?: string | URL
  /** The short name of the station, or its id. */
  readonly station: string | number
  /** A key that may see a private station. It travels in headers and messages, never in an address. */
  readonly apiKey?: string
  /** The ways to try, in this order. All of them, unless given. */
  readonly transports?: readonly Transport[]
  /** After so many milliseconds without news the status is `stale`: 20,000, unless given. */
  readonly staleAfterMs?: number
  /** What is known already, from a page that the server made. */
  readonly known?: Known
  /** The class to use where there is no global one (Node 20), or another one is wanted. */
  readonly WebSocket?: WebSocketClass
  /** The function to use instead of the global one. */
  readonly fetch?: Fetch
}

/** A document with its place among the versions of the state. */
export interface Known {
  readonly np: NowPlaying
  readonly epoch: string
  readonly offset: number
  /** The server's clock when it made this, in milliseconds. */
  readonly timeMs: number
}

/** A station as it is known at one moment. Never changed: news make another one. */
export interface Snapshot {
  readonly status: Status
  /** Why the status is `offline`; null otherwise. */
  readonly reason: Reason | null
  /** The way news come at the moment; null while there is none. */
  readonly via: Transport | null
  /** What is known of the station, which is true while the status is `live`. Null before the first news. */
  readonly np: NowPlaying | null
  /** When this was last known to be true, by `Date.now()`; null before the first news. */
  readonly trueAtMs: number | null
}

/**
 * Where a song is, in milliseconds. `durationMs` and `remainingMs` are null where the length is not known.
 */
export interface Progress {
  readonly elapsedMs: number
  readonly durationMs: number | null
  readonly remainingMs: number | null
}

export interface FollowerEvents {
  /** Something is different: the document, or the status. */
  readonly change: Snapshot
  /** Another play is shown, also of the same song. `before` is null at first. */
  readonly song: { readonly np: NowPlaying; readonly before: NowPlaying | null }
  /** A DJ went on the air or left it, or another one took over. */
  readonly live: { readonly np: NowPlaying }
  /** The station went on the air, or off. */
  readonly air: { readonly np: NowPlaying; readonly isOnline: boolean }
  readonly status: { readonly status: Status; readonly reason: Reason | null }
}

export interface Follower {
  /** What is known now. */
  readonly snapshot: Snapshot
  /** Calls the listener at each such event from now on; gives the function that ends this. */
  on<Name extends keyof FollowerEvents>(
    name: Name,
    listener: (event: FollowerEvents[Name]) => void
  ): () => void
  /** Where the song is now, by the server's clock; null while nothing plays, or nothing is known. */
  progress(): Progress | null
  /** The server's clock, in milliseconds. */
  serverTimeMs(): number
  /**
   * Tries at once what waits to be tried again: for when the network is back. Pages do this by themselves.
   */
  wake(): void
  /** Ends everything. */
  close(): void
}

/**
 * Follows a station until `close()` is called. Connects by itself, goes on where it was after an
 * interruption, falls back to the next way where one is blocked, and says when it does not know any more.
 */
export declare function followStation(options: FollowOptions): Follower

/** The now-playing document as it is pushed. Times are Unix seconds, lengths seconds. */
export interface NowPlaying {
  readonly station: Station
  readonly listeners: Listeners
  readonly live: {
    readonly is_live: boolean
    /** The DJ; empty when nobody is live. */
    readonly streamer_name: string
    readonly broadcast_start: number | null
    readonly art: string | null
  }
  readonly now_playing: Play & {
    readonly streamer: string
    /** At the moment of sending; `progress()` knows it at any moment. */
    readonly elapsed: number
    readonly remaining: number
  }
  /** Null only where there is none. */
  readonly playing_next:
    | (Omit<Play, 'sh_id'> & {
        readonly cued_at: number
      })
    | null
  /** Newest first, without the current song. */
  readonly song_history: readonly (Play & { readonly streamer: string })[]
  readonly is_online: boolean
  readonly cache: string
}

export interface Play {
  /**
   * Names the play: another one has another id, also where the song is the same. 0 while the station is off
   * the air.
   */
  readonly sh_id: number
  readonly played_at: number
  /** 0 where the length is not known. */
  readonly duration: number
  readonly playlist: string
  readonly is_request: boolean
  readonly song: Song
}

export interface Song {
  readonly id: string
  /** The address of a picture. */
  readonly art: string
  readonly custom_fields: readonly string[] | Readonly<Record<string, string | null>>
  /** Artist and title in one. */
  readonly text: string
  readonly artist: string
  readonly title: string
  readonly album: string
  readonly genre: string
  readonly isrc: string
  readonly lyrics: string
}

export interface Listeners {
  readonly total: number
  readonly unique: number
  readonly current: number
}

export interface Remote {
  readonly id: number
  readonly name: string
  readonly url: string
  /** In kbit/s; 0 where it is not known. */
  readonly bitrate: number
  /** `mp3`, `ogg`, `aac`, `opus`, `flac`; empty where it is not known. */
  readonly format: string
  readonly listeners: Listeners
}

export interface Mount extends Remote {
  readonly path: string
  readonly is_default: boolean
}

export interface Station {
  readonly id: number
  readonly name: string
  readonly shortcode: string
  readonly description: string
  readonly frontend: string
  readonly backend: string
  readonly timezone: string
  readonly listen_url: string
  readonly url: string
  readonly public_player_url: string
  readonly playlist_pls_url: string
  readonly playlist_m3u_url: string
  readonly is_public: boolean
  readonly mounts: readonly Mount[]
  readonly remotes: readonly Remote[]
  readonly hls_enabled: boolean
  readonly hls_is_default: boolean
  readonly hls_url: string
  readonly hls_listeners: number
}

/** What is used of a WebSocket: that of browsers, of Node 22 and of the package `ws` have it. */
export type WebSocketClass = new (url: string) => WebSocketLike

export interface WebSocketLike {
  send(text: string): void
  close(): void
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void
}

/** What is used of `fetch`. */
export type Fetch = (
  url: string,
  init: {
    readonly headers: Readonly<Record<string, string>>
    readonly signal: AbortSignal
    readonly cache: 'no-store'
  }
) => Promise<Response>
