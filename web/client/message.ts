import type {
  ChannelEntry,
  Connect,
  DeltaPublication,
  Publication,
  ServerFrames,
  Unchecked
} from '../../src/live/vocabulary.ts'
import type { NowPlaying } from './interface.ts'

/**
 * What a publication holds. `current_time`: the server's clock in whole seconds, where it was told;
 * `stale_since`: since then the server does not know whether it is true.
 */
export interface Data {
  readonly np: NowPlaying
  readonly current_time?: number
  readonly stale_since?: number
}

/** What a server says, whichever way it comes. */
export type Message =
  /** It is there. `upTo`: it has nothing newer than this offset, and sends nothing now. */
  | {
      readonly type: 'connected'
      readonly epoch: string
      readonly upTo: number | null
      readonly timeMs: number | null
    }
  /** It is there, and knows no such station. */
  | { readonly type: 'missing'; readonly timeMs: number | null }
  /** The whole document, or a patch to the one before. `epoch` null: that of the connection. */
  | {
      readonly type: 'published'
      readonly data: unknown
      readonly isPatch: boolean
      readonly offset: number
      readonly epoch: string | null
    }
  /** What it published last is still true. */
  | { readonly type: 'confirmed' }
  /** What time it is, exact to the second. */
  | { readonly type: 'timed'; readonly timeMs: number }
  | { readonly type: 'pinged' }
  | { readonly type: 'dismissed'; readonly code: number }
  /** It cannot be understood. */
  | { readonly type: 'garbled' }

const garbled: readonly Message[] = [{ type: 'garbled' }]

/** Reads a frame of the live protocol, as far as it is about this channel. */
export function readFrame(text: string, channel: string): readonly Message[] {
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return garbled
  }
  if (!isObject(frame)) return garbled
  const { channel: named, connect, pub, disconnect }: Unchecked<ServerFrames[keyof ServerFrames]> = frame
  if (isObject(connect)) return readConnect(connect, channel)
  if (isObject(pub)) return named === channel ? [readPublication(pub, null)] : []
  if (isObject(disconnect)) return [{ type: 'dismissed', code: Number(disconnect['code']) || 0 }]
  return Object.keys(frame).length === 0 ? [{ type: 'pinged' }] : []
}

function readConnect(connect: Unchecked<Connect>, channel: string): readonly Message[] {
  const { subs, time } = connect
  const timeMs = typeof time === 'number' ? time : null
  const entry = isObject(subs) ? subs[channel] : undefined
  const { epoch, publications, offset }: Unchecked<ChannelEntry> = isObject(entry) ? entry : {}
  if (typeof epoch !== 'string') return [{ type: 'missing', timeMs }]
  if (!Array.isArray(publications))
    return [{ type: 'connected', epoch, upTo: typeof offset === 'number' ? offset : null, timeMs }]
  const published = publications.map((each: unknown) =>
    isObject(each) ? readPublication(each, epoch) : { type: 'garbled' as const }
  )
  return [{ type: 'connected', epoch, upTo: null, timeMs }, ...published]
}

function readPublication(
  { data, delta, offset }: Unchecked<Publication | DeltaPublication>,
  epoch: string | null
): Message {
  if (typeof offset !== 'number' || (data === undefined) === (delta === undefined)) return { type: 'garbled' }
  return { type: 'published', data: data ?? delta, isPatch: delta !== undefined, offset, epoch }
}

/** Whether it has what is relied on here: enough to tell a document from anything else. */
export function isData(data: unknown): data is Data {
  if (!isObject(data) || !isObject(data['np'])) return false
  const { station, now_playing: playing, song_history: history, live, listeners } = data['np']
  if (![station, playing, live, listeners].every(isObject) || !Array.isArray(history)) return false
  return isObject(playing) && isObject(playing['song']) && typeof playing['sh_id'] === 'number'
}

/** JSON Merge Patch, RFC 7396. Gives a new value; what the patch does not name is shared with the old one. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch))
    if (value === null) result.delete(name)
    else result.set(name, mergePatch(result.get(name), value))
  return Object.fromEntries(result)
}

/** Whether a value is an object with members: no array, not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
