import { AnswerFault } from './loose-json.ts'

/** A stream of a streaming server as it answered, whatever kind of server it is. */
export interface Stream {
  /** `/main.mp3` */
  readonly path: string
  /** The number by which Shoutcast knows it; 0 elsewhere. */
  readonly id: number
  /** Whether a source sends. */
  readonly isConnected: boolean
  readonly total: number
  /** Equal to the total where the server cannot tell. */
  readonly unique: number
  /** A hash of each who listens, where the server tells them apart. */
  readonly identities?: readonly string[]
  readonly artist: string
  readonly title: string
  /** In kbit/s, 0 where it is not known. */
  readonly bitrate: number
  readonly format: StreamFormat
}

/** Empty: not known. */
export type StreamFormat = 'mp3' | 'ogg' | 'aac' | 'opus' | 'flac' | ''

const formats: readonly (readonly [RegExp, StreamFormat])[] = [
  [/opus/, 'opus'],
  [/flac/, 'flac'],
  [/ogg|vorbis/, 'ogg'],
  [/aac/, 'aac'],
  [/mpeg|mp3/, 'mp3']
]

/**
 * The format of a content type, together with what is known of the sound in it: `application/ogg`, `Opus`.
 */
export function formatOf(contentType: string, sound = ''): StreamFormat {
  const said = `${contentType} ${sound}`.toLowerCase()
  return formats.find(([pattern]) => pattern.test(said))?.[1] ?? ''
}

const bitrateAtMost = 10_000
/** No stream has fewer bits in a second, and none so many kilobits. */
const leastBits = 8_000

/** The largest of several bitrates as servers spell them (`128`, `64000`, nothing), in kbit/s. */
export function bitrateOf(...said: readonly string[]): number {
  const known = said.map(text => Number(/^\d{1,9}/.exec(text.trim())?.[0] ?? 0))
  const inKilobits = known.map(rate => (rate >= leastBits ? Math.round(rate / 1_000) : rate))
  return Math.min(bitrateAtMost, Math.max(0, ...inKilobits))
}

/** A number of listeners. What is none is a fault: it must not be taken for nobody. */
export function countOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new AnswerFault('The answer does not say how many listen.')
  return Number(text)
}

const streamsAtMost = 1_000

/** The same streams, if they are no more than a server may have. */
export function bounded<Source>(streams: readonly Source[]): readonly Source[] {
  if (streams.length > streamsAtMost) throw new AnswerFault('The answer names too many streams.')
  return streams
}

/** The stream with those who are told apart, one hash for each connection. */
export function withListeners(stream: Stream, identities: readonly string[]): Stream {
  const distinct = [...new Set(identities)]
  return { ...stream, total: identities.length, unique: distinct.length, identities: distinct }
}
