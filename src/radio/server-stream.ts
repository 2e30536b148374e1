import { createHash } from 'node:crypto'

import type { ListenerConnection } from '../engine/listeners/sessions.ts'
import { decodeForeignDocument } from '../platform/text/foreign-text.ts'

/** One stream of a streaming server, of any kind of server. */
export interface ServerStream {
  /** `/main.mp3` */
  readonly path: string
  /** The stream id of Shoutcast; 0 for other servers. */
  readonly id: number
  /** Whether a source is connected. */
  readonly isConnected: boolean
  readonly total: number
  /** Equal to the total if the server does not identify listeners. */
  readonly unique: number
  /** The hash of the listener of each connection, if the server identifies them. */
  readonly identities?: readonly string[]
  /** The connections, in the same order. */
  readonly connections?: readonly ListenerConnection[]
  readonly artist: string
  readonly title: string
  /** kbit/s; 0 if unknown. */
  readonly bitrate: number
  readonly format: StreamFormat
}

/** Empty if unknown. */
export type StreamFormat = 'mp3' | 'ogg' | 'aac' | 'opus' | 'flac' | ''

/** A response is unusable. The message is for the operator and quotes nothing of request and response. */
export class StreamingServerError extends Error {}

const formats: readonly (readonly [RegExp, StreamFormat])[] = [
  [/opus/, 'opus'],
  [/flac/, 'flac'],
  [/ogg|vorbis/, 'ogg'],
  [/aac/, 'aac'],
  [/mpeg|mp3/, 'mp3']
]

/** Detects the format from a content type and a codec: `application/ogg`, `Opus`. */
export function detectStreamFormat(contentType: string, codec = ''): StreamFormat {
  const text = `${contentType} ${codec}`.toLowerCase()
  return formats.find(([pattern]) => pattern.test(text))?.[1] ?? ''
}

const maxBitrate = 10_000
/** Higher numbers are bit/s: no stream has less than 8 kbit/s or more than 8 Mbit/s. */
const minBitsPerSecond = 8_000

/** Returns the largest of several bitrates (`128`, `64000`, empty), in kbit/s. */
export function parseBitrate(...texts: readonly string[]): number {
  const rates = texts.map(text => Number(/^\d{1,9}/.exec(text.trim())?.[0] ?? 0))
  const inKilobits = rates.map(rate => (rate >= minBitsPerSecond ? Math.round(rate / 1_000) : rate))
  return Math.min(maxBitrate, Math.max(0, ...inKilobits))
}

/** Parses a listener count. Throws if it is not a number: an invalid count must not be read as 0. */
export function parseListenerCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new StreamingServerError('The response has no listener count.')
  return Number(text)
}

/** Parses how long a listener has been connected; 0 if unknown. */
export const parseConnectedSeconds = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0)

const maxStreams = 1_000

/** Returns the same list. Throws if it has more than 1000 streams. */
export function assertStreamCount<Source>(streams: readonly Source[]): readonly Source[] {
  if (streams.length > maxStreams) throw new StreamingServerError('The response lists too many streams.')
  return streams
}

/** Returns the stream with its listeners. */
export function withStreamListeners(
  stream: ServerStream,
  connections: readonly ListenerConnection[]
): ServerStream {
  const identities = connections.map(({ address, userAgent }) => hashListener(address, userAgent))
  const unique = new Set(identities).size
  return { ...stream, total: connections.length, unique, identities, connections }
}

/** Hashes what identifies a listener: address and user agent. Returns 128 bits in base64url. */
export function hashListener(address: string, userAgent: string): string {
  const hash = createHash('sha256').update(`${address}\n${userAgent}`)
  return hash.digest('base64url').slice(0, 22)
}

const token = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|[^\s"{}[\],:]+/g
const literals = new Set(['true', 'false', 'null'])

/**
 * Parses the invalid JSON that streaming servers send: titles without quotes (`"title": -`, `1.`) and control
 * characters in strings. Numbers are returned as strings, as written. Throws a `StreamingServerError`.
 */
export function parseLooseJson(bytes: Uint8Array, charset: string | null = null): unknown {
  const text = decodeForeignDocument(bytes, '"', charset).replace(/\p{Cc}/gu, ' ')
  const quoted = text.replace(token, found =>
    found.startsWith('"') || literals.has(found) ? found : JSON.stringify(found)
  )
  try {
    return JSON.parse(quoted)
  } catch {
    throw new StreamingServerError('The response is not JSON.')
  }
}
