import type { renderSong, renderStation } from '../station/now-playing.ts'
import type { Trigger } from '../station/triggers.ts'

/** What happened at a station, as one hook is told of it. The same over all attempts to tell it. */
export interface HookEvent {
  /** `webhook-id`: one per fact and hook. */
  readonly id: string
  /** The triggers that the fact raised and the hook asks for; facts that were merged bring theirs along. */
  readonly triggers: readonly Trigger[]
  /** Unix seconds of the fact. */
  readonly happenedAt: number
  /** The station as of the fact. */
  readonly nowPlaying: NowPlaying
}

/** One attempt to tell of an event. */
export interface Attempt {
  /** Unix seconds. */
  readonly at: number
  /** Signing secrets that were replaced and still count, in clear. */
  readonly formerSecrets: readonly string[]
}

/** The now-playing object of the interface, in the rendering of events. */
export interface NowPlaying {
  readonly station: ReturnType<typeof renderStation>
  readonly listeners: { readonly total: number; readonly unique: number; readonly current: number }
  readonly live: {
    readonly is_live: boolean
    readonly streamer_name: string
    readonly broadcast_start: number | null
    readonly art: string | null
  }
  readonly now_playing: Played & { readonly elapsed: number; readonly remaining: number }
  readonly playing_next: (Item & { readonly cued_at: number }) | null
  readonly song_history: readonly Played[]
  readonly is_online: boolean
  readonly cache: string
}

interface Item {
  readonly played_at: number
  readonly duration: number
  readonly playlist: string
  readonly is_request: boolean
  readonly song: ReturnType<typeof renderSong>
}

interface Played extends Item {
  /** 0 where nothing plays. */
  readonly sh_id: number
  readonly streamer: string
}
