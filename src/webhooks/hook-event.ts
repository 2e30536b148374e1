import type { renderCuedObject, renderPlayObject, renderStationObject } from '../model/station/now-playing.ts'
import type { Trigger } from '../model/station/triggers.ts'

/** An event of a station, for one web hook. The same in every attempt. */
export interface HookEvent {
  /** `webhook-id`: one per event and web hook. */
  readonly id: string
  /** The triggers that fired and that the web hook subscribes to, those of merged events included. */
  readonly triggers: readonly Trigger[]
  /** Unix seconds. */
  readonly happenedAt: number
  /** The station at that time. */
  readonly nowPlaying: EventNowPlaying
}

/** What differs between attempts. */
export interface AttemptContext {
  /** The time of the attempt in Unix seconds. */
  readonly at: number
  /** Replaced signing secrets that still sign, in clear. */
  readonly formerSecrets: readonly string[]
}

/** The now-playing object of the API, in the rendering of events. */
export interface EventNowPlaying {
  readonly station: ReturnType<typeof renderStationObject>
  readonly listeners: { readonly total: number; readonly unique: number; readonly current: number }
  readonly live: {
    readonly is_live: boolean
    readonly streamer_name: string
    readonly broadcast_start: number | null
    readonly art: string | null
  }
  readonly now_playing: ReturnType<typeof renderPlayObject> & {
    readonly elapsed: number
    readonly remaining: number
  }
  readonly playing_next: ReturnType<typeof renderCuedObject> | null
  readonly song_history: readonly ReturnType<typeof renderPlayObject>[]
  readonly is_online: boolean
  readonly cache: string
}
