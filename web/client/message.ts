import type {
  ChannelEntry,
  ConnectPayload,
  DeltaPublication,
  Publication,
  PublicationData,
  ServerFrames,
  Unchecked
} from '../../src/live/vocabulary.ts'
import type { NowPlaying } from './interface.ts'

/** The data of a publication, as far as the client needs it. */
export interface PublishedData extends Partial<Pick<PublicationData, 'current_time' | 'stale_since'>> {
  readonly np: NowPlaying
}

/** A message of the server, over any transport. */
export type ServerMessage = Readonly<
  /** `upTo`: the newest offset, if the client has that state and no publication follows. */
  | { type: 'connect'; epoch: string; upTo: number | null; timeMs: number | null }
  /** Connected, but the station does not exist or is private. */
  | { type: 'missing'; timeMs: number | null }
  /** A document, or a delta to the previous one. `epoch` is null if it is that of the connection. */
  | { type: 'publication'; data: unknown; isDelta: boolean; offset: number; epoch: string | null }
  /** The last publication is still current. */
  | { type: 'unchanged' }
  /** The server's clock in whole seconds. */
  | { type: 'time'; timeMs: number }
  | { type: 'ping' }
  | { type: 'disconnect'; code: number }
  | { type: 'malformed' }
>

export type PublicationMessage = Extract<ServerMessage, { type: 'publication' }>

const malformed: readonly ServerMessage[] = [{ type: 'malformed' }]

/** Parses a frame of the live protocol. Returns nothing for frames of other channels. */
export function parseServerFrame(text: string, channel: string): readonly ServerMessage[] {
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return malformed
  }
  if (!isObject(frame)) return malformed
  const { channel: named, connect, pub, disconnect }: Unchecked<ServerFrames[keyof ServerFrames]> = frame
  if (isObject(connect)) return parseConnect(connect, channel)
  if (isObject(pub)) return named === channel ? [parsePublication(pub, null)] : []
  if (isObject(disconnect)) return [{ type: 'disconnect', code: Number(disconnect['code']) || 0 }]
  return Object.keys(frame).length === 0 ? [{ type: 'ping' }] : []
}

function parseConnect({ subs, time }: Unchecked<ConnectPayload>, channel: string): readonly ServerMessage[] {
  const timeMs = typeof time === 'number' ? time : null
  const entry = isObject(subs) ? subs[channel] : undefined
  const { epoch, publications, offset }: Unchecked<ChannelEntry> = isObject(entry) ? entry : {}
  if (typeof epoch !== 'string') return [{ type: 'missing', timeMs }]
  if (!Array.isArray(publications))
    return [{ type: 'connect', epoch, upTo: typeof offset === 'number' ? offset : null, timeMs }]
  const parsed = publications.map((each: unknown) => parsePublication(isObject(each) ? each : {}, epoch))
  return [{ type: 'connect', epoch, upTo: null, timeMs }, ...parsed]
}

function parsePublication(
  { data, delta, offset }: Unchecked<Publication | DeltaPublication>,
  epoch: string | null
): ServerMessage {
  if (typeof offset !== 'number' || (data === undefined) === (delta === undefined))
    return { type: 'malformed' }
  return { type: 'publication', data: data ?? delta, isDelta: delta !== undefined, offset, epoch }
}

/** Whether the members that the client depends on are there. */
export function isPublishedData(data: unknown): data is PublishedData {
  if (!isObject(data) || !isObject(data['np'])) return false
  const { station, now_playing: playing, song_history: history, live, listeners } = data['np']
  if (![station, playing, live, listeners].every(isObject) || !Array.isArray(history)) return false
  return isObject(playing) && isObject(playing['song']) && typeof playing['sh_id'] === 'number'
}

/** Applies a JSON Merge Patch (RFC 7396). Returns a new value that shares unchanged members with the old. */
export function mergeJsonPatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch))
    if (value === null) result.delete(name)
    else result.set(name, mergeJsonPatch(result.get(name), value))
  return Object.fromEntries(result)
}

/** Whether a value is an object, and neither an array nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
