import * as v from 'valibot'

import { parsedUrl } from '../parsed-url.ts'
import { AnswerFault } from './answer-fault.ts'
import { signsOfSource } from './icecast-stats.ts'
import { parseLooseJson } from './loose-json.ts'
import { bitrateOf, bounded, countOf, formatOf, type Stream } from './stream.ts'
import { streamedTitle } from './streamed-title.ts'

/** A title may have been taken for a number or a truth; anything else is no text. */
const said = v.fallback(
  v.pipe(
    v.union([v.string(), v.boolean()]),
    v.transform(value => String(value))
  ),
  ''
)
const source = v.record(v.string(), said)
const status = v.object({
  icestats: v.object({ source: v.optional(v.union([v.array(source), source]), []) })
})

/**
 * Reads `/status-json.xsl` of Icecast, which anybody may ask for. Who listens is not in it. Throws an `AnswerFault`.
 */
export function parseIcecastStatus(bytes: Uint8Array): Stream[] {
  const parsed = v.safeParse(status, parseLooseJson(bytes))
  if (!parsed.success) throw new AnswerFault('The answer is not that of an Icecast server.')
  return bounded([parsed.output.icestats.source].flat()).flatMap(streamOf)
}

function streamOf(fields: Readonly<Record<string, string>>): Stream[] {
  const get = (name: string) => fields[name]?.trim() ?? ''
  const total = countOf(get('listeners'))
  const path = pathOf(get('listenurl'))
  if (path === null) return []
  return [
    {
      path,
      id: 0,
      isConnected: signsOfSource.some(name => get(name) !== ''),
      total,
      unique: total,
      ...streamedTitle({ artist: get('artist'), title: get('title') }),
      bitrate: bitrateOf(get('audio_bitrate'), get('bitrate'), get('ice-bitrate')),
      format: formatOf(get('server_type'), get('subtype'))
    }
  ]
}

/** The path of an address as it is written in a mount's name; null where it has none. */
export function pathOf(address: string): string | null {
  const pathname = parsedUrl(address)?.pathname
  if (pathname === undefined) return null
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}
