/*
 * Every frame and message of the live protocol, as PROTOCOL.md describes them. Types only: `frames.ts` writes
 * the frames, `protocol.ts` reads the messages; `web/client/message.ts` and the models of the tests do the
 * opposite.
 */

/** The frames of the server by kind. Its keys distinguish a frame; the ping is `{}`. */
export interface ServerFrames {
  readonly connect: { readonly connect: ConnectPayload }
  readonly pub: { readonly channel: string; readonly pub: Publication }
  readonly delta: { readonly channel: string; readonly pub: DeltaPublication }
  /** On the channel `global:time`, in Unix seconds. */
  readonly time: {
    readonly channel: string
    readonly pub: { readonly data: { readonly time: number }; readonly offset: number }
  }
  readonly disconnect: { readonly disconnect: { readonly code: number; readonly reason: string } }
  readonly ping: object
}

/** The answer to the first message. `ping` in seconds, `time` in Unix milliseconds. */
export interface ConnectPayload {
  readonly client: string
  readonly version: string
  /** By accepted channel; left out if there is none. */
  readonly subs?: { readonly [channel: string]: ChannelEntry }
  readonly ping: number
  readonly session: string
  readonly time: number
}

/** A channel's entry in the connect frame. All members are missing if it has no state yet. */
export interface ChannelEntry {
  readonly recoverable?: true
  readonly epoch?: string
  /** With `recover`, unless the client is up to date: the newest state. */
  readonly publications?: readonly Publication[]
  readonly recovered?: true
  /** Without `publications`: the offset of the newest state. */
  readonly offset?: number
  readonly positioned?: true
  readonly was_recovering?: true
  readonly delta?: 'merge-patch'
  /** Seconds after which an unchanged state is repeated, if the client asked for that. */
  readonly heartbeat?: number
}

/** A whole state. */
export interface Publication {
  readonly data: PublicationData
  readonly offset: number
}

/** A delta: `np` is a JSON Merge Patch (RFC 7396) to the document of the publication before. */
export interface DeltaPublication {
  readonly delta: unknown
  readonly offset: number
}

/** `np`: the now-playing document, event rendering. `current_time` and `stale_since` in Unix seconds. */
export interface PublicationData {
  readonly np: object
  readonly triggers: readonly string[]
  readonly current_time: number
  readonly stale_since?: number
}

/** What a client sends: first to connect, later to replace its channels. */
export interface SubscribeMessage {
  readonly subs?: { readonly [channel: string]: SubscribeOptions }
  /** An API key, for private stations. */
  readonly token?: string
}

export interface SubscribeOptions {
  /** Send the state, unless the client has it: `epoch` and `offset` name what it has. */
  readonly recover?: boolean
  readonly delta?: 'merge-patch'
  /** Seconds after which an unchanged state is to be repeated. */
  readonly heartbeat?: number
  readonly offset?: number
  readonly epoch?: string
}

/** A value that has not been checked yet: it may have any of the members of T, of any type. */
export type Unchecked<T> = { readonly [Key in T extends unknown ? keyof T : never]?: unknown }
