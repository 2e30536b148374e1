import * as v from 'valibot'

import type { ListenerConnection } from '../engine/listeners/sessions.ts'
import {
  assertStreamCount,
  detectStreamFormat,
  parseBitrate,
  parseListenerCount,
  parseLooseJson,
  parseConnectedSeconds,
  type ServerStream,
  StreamingServerError
} from './server-stream.ts'
import { parseStreamedTitle } from './streamed-title.ts'
import { withoutServerConnections } from './user-agent.ts'

const looseText = v.optional(v.fallback(v.string(), ''), '')
const jsonStream = v.object({
  id: looseText,
  streamstatus: looseText,
  currentlisteners: looseText,
  uniquelisteners: looseText,
  songtitle: looseText,
  streampath: looseText,
  bitrate: looseText,
  content: looseText
})
/** A server without streams omits the list. */
const statistics = v.object({ totalstreams: v.string(), streams: v.optional(v.array(jsonStream), []) })
const listeners = v.array(
  v.object({ hostname: looseText, xff: looseText, useragent: looseText, connecttime: looseText })
)

/** Parses the public `/statistics?json=1` of Shoutcast 2. Throws a `StreamingServerError`. */
export function parseShoutcastStatistics(bytes: Uint8Array, charset: string | null = null): ServerStream[] {
  const parsed = v.safeParse(statistics, parseLooseJson(bytes, charset))
  if (!parsed.success) throw new StreamingServerError('The response is not that of a Shoutcast 2 server.')
  return assertStreamCount(parsed.output.streams).map(toStream)
}

/** Parses page 3 of `/admin.cgi` for a stream, without relays. Throws a `StreamingServerError`. */
export function parseShoutcastListeners(
  bytes: Uint8Array,
  charset: string | null = null
): ListenerConnection[] {
  const parsed = v.safeParse(listeners, parseLooseJson(bytes, charset))
  if (!parsed.success) throw new StreamingServerError('The response is not a list of listeners.')
  return withoutServerConnections(
    parsed.output.map(({ hostname, xff, useragent, connecttime }) => ({
      address: xff || hostname,
      userAgent: useragent,
      seconds: parseConnectedSeconds(connecttime)
    }))
  )
}

function toStream(fields: v.InferOutput<typeof jsonStream>): ServerStream {
  const { currentlisteners, uniquelisteners } = fields
  const isConnected = fields.streamstatus === '1'
  // A stream without a source may omit its counts.
  const total = isConnected || currentlisteners !== '' ? parseListenerCount(currentlisteners) : 0
  const unique = uniquelisteners === '' ? total : Math.min(total, parseListenerCount(uniquelisteners))
  return {
    path: fields.streampath,
    id: parseListenerCount(fields.id),
    isConnected,
    total,
    unique,
    ...parseStreamedTitle({ text: isConnected ? normalizeSeparator(fields.songtitle) : '' }),
    bitrate: parseBitrate(fields.bitrate),
    format: detectStreamFormat(fields.content)
  }
}

/** Shoutcast replaces ` - ` by three spaces. */
const normalizeSeparator = (songTitle: string): string => songTitle.replaceAll('   ', ' - ')
