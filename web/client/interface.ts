/* The public interface of the client, and no code: it is served unchanged as `/client.d.ts`. */

/** How updates of a station are received. */
export type Transport = 'websocket' | 'sse' | 'poll'

/**
 * - `connecting`: no document was received yet.
 * - `live`: the document is current.
 * - `stale`: the document was current at `trueAtMs` and may have changed since.
 * - `offline`: there is no current document; `reason` says why.
 */
export type Status = 'connecting' | 'live' | 'stale' | 'offline'

/**
 * - `unreachable`: no server answers; the client keeps trying.
 * - `unknown`: the station does not exist, or is private and the key or token is not valid for it; it is shown if
 *   it appears.
 * - `refused`: the server refused the client for good; it does not try again.
 * - `closed`: `close()` was called.
 */
export type Reason = 'unreachable' | 'unknown' | 'refused' | 'closed'

export interface FollowOptions {
  /** The address of the server, `https://radio.example.com`. Default: the origin of the page. */
  readonly server?: string | URL
  /** The short name or id of the station. */
  readonly station: string | number
  /** A key with access to a private station. It is sent in headers and messages, never in an address. */
  readonly apiKey?: string
  /**
   * A listen token for a private station, or a function that gets one from your website. The function is called before
   * the first connection, before the token expires, and after the server refused a token.
   */
  readonly token?: string | (() => Promise<ListenToken>)
  /** The transports to try, in this order. Default: all. */
  readonly transports?: readonly Transport[]
  /** After this time without updates and pings, in milliseconds, the status is `stale`. Default: 35,000. */
  readonly staleAfterMs?: number
  /**
   * Returns how many seconds the sound that the listener hears is behind the live edge; 0 while nothing plays. If it is
   * given, the document, the events and the progress are those of what is heard: they are held back for that time, up
   * to 120 seconds. It is called several times a second.
   */
  readonly delay?: () => number
  /** The document to start with, from a page that the server rendered. */
  readonly known?: Known
  /** The class to use instead of the global one, which Node 20 does not have. */
  readonly WebSocket?: WebSocketClass
  /** The function to use instead of the global one. */
  readonly fetch?: Fetch
}

/** A listen token, as `POST /api/station/{id}/listen-tokens` returns it. */
export interface ListenToken {
  readonly token: string
  /** Seconds from now until it expires. */
  readonly expires_in: number
}

/** A document and its position among the states of the station. */
export interface Known {
  readonly np: NowPlaying
  readonly epoch: string
  readonly offset: number
  /** The server's time when it rendered the document, in milliseconds. */
  readonly timeMs: number
}

/** What is known of a station at one moment. A snapshot never changes; a new one replaces it. */
export interface Snapshot {
  readonly status: Status
  /** Why the status is `offline`; otherwise null. */
  readonly reason: Reason | null
  /** The transport of the connection; null while there is none. */
  readonly via: Transport | null
  /**
   * The newest document, or with `delay` the one of what is heard; null before the first one. It is current while the
   * status is `live`.
   */
  readonly np: NowPlaying | null
  /** When the document was last known to be current, by `Date.now()`; null if never. */
  readonly trueAtMs: number | null
}

/** The position in a song in milliseconds; `durationMs` and `remainingMs` are null for an unknown length. */
export interface Progress {
  readonly elapsedMs: number
  readonly durationMs: number | null
  readonly remainingMs: number | null
}

export interface FollowerEvents {
  /** The document, the status or the transport changed. */
  readonly change: Snapshot
  /** Another play is shown, even if of the same song. `before` is null the first time. */
  readonly song: { readonly np: NowPlaying; readonly before: NowPlaying | null }
  /** A DJ connected or disconnected, or another DJ took over. */
  readonly live: { readonly np: NowPlaying }
  /** The station went on the air or off the air. */
  readonly air: { readonly np: NowPlaying; readonly isOnline: boolean }
  readonly status: { readonly status: Status; readonly reason: Reason | null }
}

export interface Follower {
  readonly snapshot: Snapshot
  /** Adds an event listener. Returns a function that removes it. */
  on<Name extends keyof FollowerEvents>(
    name: Name,
    listener: (event: FollowerEvents[Name]) => void
  ): () => void
  /** The position in the current song now, by the server's clock and the delay; null if nothing plays. */
  progress(): Progress | null
  /** The server's clock, in milliseconds. */
  serverTimeMs(): number
  /**
   * Retries at once, for when the network is back or somebody has signed in. In pages the first happens automatically.
   */
  wake(): void
  /** Stops following. */
  close(): void
}

/**
 * Follows a station until `close()` is called. Reconnects, resumes after an interruption, falls back to the
 * next transport if one is blocked, and reports when the document may be out of date.
 */
export declare function followStation(options: FollowOptions): Follower

/** The now-playing document. Times are in Unix seconds, lengths in seconds. */
export interface NowPlaying {
  readonly station: Station
  readonly listeners: Listeners
  readonly live: {
    readonly is_live: boolean
    /** The DJ; empty if nobody is live. */
    readonly streamer_name: string
    readonly broadcast_start: number | null
    readonly art: string | null
  }
  readonly now_playing: Play & {
    readonly streamer: string
    /** When the document was sent; `progress()` has the value at any time. */
    readonly elapsed: number
    readonly remaining: number
  }
  readonly playing_next: (Omit<Play, 'sh_id'> & { readonly cued_at: number }) | null
  /** Newest first, without the current play. */
  readonly song_history: readonly (Play & { readonly streamer: string })[]
  readonly is_online: boolean
  readonly cache: string
}

export interface Play {
  /** The id of the play, which is unique even if a song repeats; 0 while the station is off the air. */
  readonly sh_id: number
  readonly played_at: number
  /** 0 if unknown. */
  readonly duration: number
  readonly playlist: string
  readonly is_request: boolean
  readonly song: Song
}

export interface Song {
  readonly id: string
  /** The address of the cover. */
  readonly art: string
  readonly custom_fields: readonly string[] | Readonly<Record<string, string | null>>
  /** Artist and title in one text. */
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
  /** In kbit/s; 0 or null if unknown. */
  readonly bitrate: number | null
  /** `mp3`, `ogg`, `aac`, `opus` or `flac`; empty or null if unknown. */
  readonly format: string | null
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
  /** Empty or null if there is none, as the other addresses. */
  readonly listen_url: string | null
  readonly url: string | null
  readonly public_player_url: string
  readonly playlist_pls_url: string
  readonly playlist_m3u_url: string
  readonly is_public: boolean
  readonly mounts: readonly Mount[]
  readonly remotes: readonly Remote[]
  readonly hls_enabled: boolean
  readonly hls_is_default: boolean
  readonly hls_url: string | null
  readonly hls_listeners: number
}

/** The part of a WebSocket that is used, which browsers, Node 22 and the package `ws` have. */
export type WebSocketClass = new (url: string) => WebSocketLike

export interface WebSocketLike {
  send(text: string): void
  close(): void
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void
}

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  init: {
    readonly headers: Readonly<Record<string, string>>
    readonly signal: AbortSignal
    readonly cache: 'no-store'
  }
) => Promise<Response>
