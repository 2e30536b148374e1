import * as v from 'valibot'

import { AnswerFault, listenerIdentity, parseLooseJson } from '../loose-json.ts'
import { bitrateOf, bounded, countOf, formatOf, type Stream } from '../stream.ts'
import { streamedTitle } from '../streamed-title.ts'

const said = v.optional(v.fallback(v.string(), ''), '')
const stream = v.object({
  id: said,
  streamstatus: said,
  currentlisteners: said,
  uniquelisteners: said,
  songtitle: said,
  streampath: said,
  bitrate: said,
  content: said
})
/** Without any stream the list is missing. */
const statistics = v.object({ totalstreams: v.string(), streams: v.optional(v.array(stream), []) })
const listeners = v.array(v.object({ hostname: said, xff: said, useragent: said }))

/** Reads `/statistics?json=1` of Shoutcast 2, which anybody may ask for. Throws an `AnswerFault`. */
export function parseShoutcastStatistics(bytes: Uint8Array): Stream[] {
  const parsed = v.safeParse(statistics, parseLooseJson(bytes))
  if (!parsed.success) throw new AnswerFault('The answer is not that of a Shoutcast 2 server.')
  return bounded(parsed.output.streams).map(streamOf)
}

/** Reads page 3 of `/admin.cgi` for one stream: a hash of each who is connected. Throws an `AnswerFault`. */
export function parseShoutcastListeners(bytes: Uint8Array): string[] {
  const parsed = v.safeParse(listeners, parseLooseJson(bytes))
  if (!parsed.success) throw new AnswerFault('The answer is no list of listeners.')
  return parsed.output.map(({ hostname, xff, useragent }) => listenerIdentity(xff || hostname, useragent))
}

function streamOf(fields: v.InferOutput<typeof stream>): Stream {
  const isConnected = fields.streamstatus === '1'
  // Of a stream without a source most may be missing.
  const total = isConnected || fields.currentlisteners !== '' ? countOf(fields.currentlisteners) : 0
  const unique = fields.uniquelisteners === '' ? total : Math.min(total, countOf(fields.uniquelisteners))
  return {
    path: fields.streampath,
    id: countOf(fields.id),
    isConnected,
    total,
    unique,
    ...streamedTitle({ text: isConnected ? separated(fields.songtitle) : '' }),
    bitrate: bitrateOf(fields.bitrate),
    format: formatOf(fields.content)
  }
}

/**
 * Shoutcast writes three spaces where a source sent ` - `, and sources are careless with the spaces around
 * it.
 */
function separated(songTitle: string): string {
  const title = songTitle.replaceAll('   ', ' - ')
  const separator = [' - ', ' -', '- ', '-'].find(each => title.includes(each)) ?? ' - '
  return title.replace(separator, ' - ')
}
