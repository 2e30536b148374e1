import { AnswerFault } from './answer-fault.ts'
import { listenerIdentity } from './listener-identity.ts'
import { bitrateOf, bounded, countOf, formatOf, type Stream } from './stream.ts'
import { streamedTitle } from './streamed-title.ts'
import { childrenOf, parseXml, textOf, type XmlElement } from './xml-element.ts'

/** Reads `/admin/stats` of Icecast 2.4, 2.5 or KH. Throws an `AnswerFault`. */
export function parseIcecastStats(bytes: Uint8Array): Stream[] {
  return bounded(sourcesOf(bytes)).map(source => ({
    path: source.attributes.get('mount') ?? '',
    id: 0,
    isConnected: signsOfSource.some(name => textOf(source, name) !== ''),
    ...countedIn(source),
    ...streamedTitle({ artist: textOf(source, 'artist'), title: textOf(source, 'title') }),
    bitrate: bitrateOf(...['audio_bitrate', 'bitrate', 'ice-bitrate'].map(name => textOf(source, name))),
    format: formatOf(textOf(source, 'server_type'), textOf(source, 'subtype'))
  }))
}

/** Reads `/admin/listclients` of one mount: a hash of each who is connected. Throws an `AnswerFault`. */
export function parseIcecastListeners(bytes: Uint8Array): string[] {
  const [source] = sourcesOf(bytes)
  if (!source) throw new AnswerFault('The answer is no list of listeners.')
  return childrenOf(source, 'listener').map(listener =>
    listenerIdentity(textOf(listener, 'ip'), textOf(listener, 'useragent'))
  )
}

/** A relay that waits for its first listener is listed as well, with none of these. */
export const signsOfSource = [
  'server_type',
  'stream_start',
  'stream_start_iso8601',
  'connected',
  'title'
] as const

function sourcesOf(bytes: Uint8Array): XmlElement[] {
  const root = parseXml(bytes)
  if (root.name !== 'icestats') throw new AnswerFault('The answer is not that of an Icecast server.')
  return childrenOf(root, 'source')
}

function countedIn(source: XmlElement) {
  const total = countOf(textOf(source, 'listeners'))
  return { total, unique: total }
}
