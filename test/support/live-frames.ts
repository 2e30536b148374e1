import * as v from 'valibot'

import type { ServerFrames } from '../../src/live/vocabulary.ts'

/**
 * Strict schemas of all frames of the live protocol, written from PROTOCOL.md. Of the server only the types of
 * the frames are used: the schemas must match them.
 */

const whole = v.pipe(v.number(), v.integer(), v.minValue(0))
const positive = v.pipe(v.number(), v.integer(), v.minValue(1))
const text = v.string()
const flag = v.boolean()
const unixSeconds = v.pipe(v.number(), v.integer(), v.minValue(1_700_000_000), v.maxValue(9_999_999_999))
const unixMilliseconds = v.pipe(v.number(), v.integer(), v.minValue(1_700_000_000_000))

const counts = v.strictObject({ total: whole, unique: whole, current: whole })

const song = v.strictObject({
  id: v.pipe(text, v.regex(/^[0-9a-f]{32}$/)),
  art: v.pipe(text, v.url()),
  custom_fields: v.union([v.pipe(v.array(text), v.length(0)), v.record(text, v.nullable(text))]),
  text,
  artist: text,
  title: text,
  album: text,
  genre: text,
  isrc: text,
  lyrics: text
})

const play = {
  sh_id: whole,
  played_at: whole,
  duration: whole,
  playlist: text,
  streamer: text,
  is_request: flag,
  song
}

const source = { id: positive, name: text, url: text, bitrate: whole, format: text, listeners: counts }

const nowPlaying = v.strictObject({
  station: v.strictObject({
    id: positive,
    name: text,
    shortcode: text,
    description: text,
    frontend: text,
    backend: text,
    timezone: text,
    listen_url: text,
    url: text,
    public_player_url: text,
    playlist_pls_url: text,
    playlist_m3u_url: text,
    is_public: flag,
    mounts: v.array(v.strictObject({ ...source, path: text, is_default: flag })),
    remotes: v.array(v.strictObject(source)),
    hls_enabled: flag,
    hls_is_default: flag,
    hls_url: text,
    hls_listeners: whole
  }),
  listeners: counts,
  live: v.strictObject({
    is_live: flag,
    streamer_name: text,
    broadcast_start: v.nullable(unixSeconds),
    art: v.nullable(text)
  }),
  now_playing: v.strictObject({ ...play, elapsed: whole, remaining: whole }),
  playing_next: v.nullable(
    v.strictObject({
      cued_at: whole,
      played_at: whole,
      duration: whole,
      playlist: text,
      is_request: flag,
      song
    })
  ),
  song_history: v.array(v.strictObject(play)),
  is_online: flag,
  cache: v.literal('event')
})

const trigger = v.picklist([
  'song_changed',
  'song_changed_live',
  'listener_gained',
  'listener_lost',
  'live_connect',
  'live_disconnect',
  'station_offline',
  'station_online'
])

const data = v.strictObject({
  np: nowPlaying,
  triggers: v.array(trigger),
  current_time: unixSeconds,
  stale_since: v.exactOptional(unixSeconds)
})
const publication = v.strictObject({ data, offset: positive })
const deltaPublication = v.strictObject({ delta: v.record(text, v.unknown()), offset: positive })

const options = {
  delta: v.exactOptional(v.literal('merge-patch')),
  heartbeat: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(15), v.maxValue(300)))
}
const yes = v.literal(true)
const epoch = v.pipe(text, v.nonEmpty())

/** The entries of `connect.subs` by the options of the subscription. */
export const entries = {
  recovered: v.strictObject({
    recoverable: yes,
    epoch,
    publications: v.tuple([publication]),
    recovered: yes,
    positioned: yes,
    was_recovering: yes,
    ...options
  }),
  upToDate: v.strictObject({
    recoverable: yes,
    epoch,
    recovered: yes,
    offset: positive,
    positioned: yes,
    was_recovering: yes,
    ...options
  }),
  positioned: v.strictObject({ recoverable: yes, epoch, offset: positive, positioned: yes, ...options }),
  waiting: v.strictObject({})
}

const uuid = v.pipe(text, v.uuid())

/** All frames by kind. */
const frames = {
  connect: v.strictObject({
    connect: v.strictObject({
      client: uuid,
      version: v.pipe(text, v.nonEmpty()),
      subs: v.exactOptional(
        v.pipe(
          v.record(text, v.union([entries.recovered, entries.upToDate, entries.positioned, entries.waiting])),
          v.check(subs => Object.keys(subs).length > 0, 'empty subs are left out')
        )
      ),
      ping: positive,
      session: uuid,
      time: unixMilliseconds
    })
  }),
  pub: v.strictObject({ channel: v.pipe(text, v.startsWith('station:')), pub: publication }),
  delta: v.strictObject({ channel: v.pipe(text, v.startsWith('station:')), pub: deltaPublication }),
  time: v.strictObject({
    channel: v.literal('global:time'),
    pub: v.strictObject({ data: v.strictObject({ time: unixSeconds }), offset: positive })
  }),
  disconnect: v.strictObject({
    disconnect: v.strictObject({
      code: v.pipe(v.number(), v.integer(), v.minValue(3000), v.maxValue(3999)),
      reason: v.pipe(text, v.nonEmpty())
    })
  }),
  ping: v.strictObject({})
} satisfies { [K in keyof ServerFrames]: v.GenericSchema<unknown, ServerFrames[K]> }

export type Kind = keyof typeof frames
export type FrameOf<K extends Kind> = v.InferOutput<(typeof frames)[K]>
export type Connect = FrameOf<'connect'>['connect']
export type NowPlaying = v.InferOutput<typeof nowPlaying>
export type Publication = FrameOf<'pub'>

/** A frame with its kind. */
export type AnyFrame = { [K in Kind]: { readonly kind: K; readonly frame: FrameOf<K> } }[Kind]

/** The kind of a frame by its keys, by which clients distinguish frames; `ping` for any other value. */
export function frameKind(frame: unknown): Kind {
  const keys = new Set(Object.keys(Object(frame)))
  if (keys.has('connect')) return 'connect'
  if (keys.has('disconnect')) return 'disconnect'
  if (!keys.has('pub')) return 'ping'
  const { channel, pub } = Object(frame)
  if (channel === 'global:time') return 'time'
  return Object.hasOwn(Object(pub), 'delta') ? 'delta' : 'pub'
}

/** Parses a frame without checking its members. */
export function readFrame(line: string): AnyFrame {
  const frame = JSON.parse(line)
  return { kind: frameKind(frame), frame }
}

/** Parses a frame. Throws unless its keys, types and lack of white space are exactly as specified. */
export function parseFrame(line: string): { kind: Kind; frame: unknown } {
  if (/\s/.test(line.replace(/"(?:[^"\\]|\\.)*"/g, ''))) throw new Error(`not compact: ${line.slice(0, 200)}`)
  const frame: unknown = JSON.parse(line)
  const kind = frameKind(frame)
  const result = v.safeParse(frames[kind], frame)
  if (!result.success) {
    const problems = result.issues.map(issue => `${v.getDotPath(issue)}: ${issue.message}`)
    throw new Error(`invalid ${kind} frame: ${problems.join('; ')} in ${line.slice(0, 300)}`)
  }
  return { kind, frame }
}

/** Returns a frame as one of this kind; throws if it is not. */
export function asFrame<K extends Kind>(kind: K, frame: unknown): FrameOf<K> {
  return v.parse<(typeof frames)[K]>(frames[kind], frame)
}

/** Returns the entry of a channel that was subscribed without deltas; throws unless it has this form. */
export function entryOf<K extends keyof typeof entries>(
  kind: K,
  connect: Connect,
  channel: string
): v.InferOutput<(typeof entries)[K]> {
  const entry = connect.subs?.[channel]
  if (Object.hasOwn(Object(entry), 'delta')) throw new Error(`${channel} has deltas that were not requested`)
  return v.parse<(typeof entries)[K]>(entries[kind], entry)
}

/** The message that subscribes to channels with `recover`. */
export const subsOf = (...channels: string[]) => ({
  subs: Object.fromEntries(channels.map(channel => [channel, { recover: true }]))
})
