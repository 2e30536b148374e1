import * as v from 'valibot'

import {
  checkStreamCount,
  detectFormat,
  hashListener,
  parseBitrate,
  parseListenerCount,
  parseLooseJson,
  type Stream,
  StreamingServerError,
  withListeners
} from './stream.ts'
import { parseStreamedTitle } from './streamed-title.ts'
import {
  describeRefusal,
  fetchPage,
  requireBody,
  type ServerStreams,
  type StreamingServer,
  type StreamListeners
} from './streaming-server.ts'

/** Fetches all streams of a Shoutcast 2 server. Throws a `StreamingServerError` or a `FetchFault`. */
export async function fetchShoutcastStreams(
  server: StreamingServer,
  signal: AbortSignal
): Promise<ServerStreams> {
  const response = await fetchPage(server, 'statistics?json=1', { asAdmin: false, signal })
  const streams = parseShoutcastStatistics(requireBody(response))
  return { streams, listsListeners: server.password !== '', problem: '' }
}

/** Fetches the listeners of a stream as the admin. Throws a `StreamingServerError` or a `FetchFault`. */
export async function fetchShoutcastListeners(
  server: StreamingServer,
  stream: Stream,
  signal: AbortSignal
): Promise<StreamListeners> {
  const page = `admin.cgi?sid=${stream.id}&mode=viewjson&page=3`
  const { status, body } = await fetchPage(server, page, { asAdmin: true, signal })
  if (status !== 200) return { stream, problem: describeRefusal(status) }
  return { stream: withListeners(stream, parseShoutcastListeners(body)), problem: '' }
}

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
const listeners = v.array(v.object({ hostname: looseText, xff: looseText, useragent: looseText }))

/** Parses the public `/statistics?json=1` of Shoutcast 2. Throws a `StreamingServerError`. */
export function parseShoutcastStatistics(bytes: Uint8Array): Stream[] {
  const parsed = v.safeParse(statistics, parseLooseJson(bytes))
  if (!parsed.success) throw new StreamingServerError('The response is not that of a Shoutcast 2 server.')
  return checkStreamCount(parsed.output.streams).map(toStream)
}

/** Parses page 3 of `/admin.cgi` for a stream into a hash per connection. Throws a `StreamingServerError`. */
export function parseShoutcastListeners(bytes: Uint8Array): string[] {
  const parsed = v.safeParse(listeners, parseLooseJson(bytes))
  if (!parsed.success) throw new StreamingServerError('The response is not a list of listeners.')
  return parsed.output.map(({ hostname, xff, useragent }) => hashListener(xff || hostname, useragent))
}

function toStream(fields: v.InferOutput<typeof jsonStream>): Stream {
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
    format: detectFormat(fields.content)
  }
}

/** Shoutcast replaces ` - ` by three spaces, and sources omit the spaces around the dash. */
function normalizeSeparator(songTitle: string): string {
  const title = songTitle.replaceAll('   ', ' - ')
  const separator = [' - ', ' -', '- ', '-'].find(each => title.includes(each)) ?? ' - '
  return title.replace(separator, ' - ')
}
