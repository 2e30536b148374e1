import { SaxesParser } from 'saxes'
import * as v from 'valibot'

import { FetchFault } from '../../outbound/guarded-fetch.ts'
import { parsedUrl } from '../../outbound/networks.ts'
import { AnswerFault, listenerIdentity, parseLooseJson } from '../loose-json.ts'
import { bitrateOf, bounded, countOf, formatOf, type Stream, withListeners } from '../stream.ts'
import { streamedTitle } from '../streamed-title.ts'
import {
  askPage,
  bodyOf,
  type ListenersAnswer,
  refusalOf,
  type ServerAnswer,
  type StreamingServer
} from '../streaming-server.ts'

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

/**
 * Asks Icecast for all its streams: as its admin where there is a password that it accepts, else as anybody
 * may. Throws an `AnswerFault` or a `FetchFault`.
 */
export async function askIcecast(server: StreamingServer, signal: AbortSignal): Promise<ServerAnswer> {
  if (server.password === '') return askAsAnybody(server, signal, '')
  const answer = await askPage(server, 'admin/stats', { asAdmin: true, signal })
  if (answer.status !== 200) return askAsAnybody(server, signal, refusalOf(answer.status))
  return { streams: parseIcecastStats(answer.body), knowsListeners: true, problem: '' }
}

async function askAsAnybody(
  server: StreamingServer,
  signal: AbortSignal,
  problem: string
): Promise<ServerAnswer> {
  const answer = await askPage(server, 'status-json.xsl', { asAdmin: false, signal })
  return { streams: parseIcecastStatus(bodyOf(answer)), knowsListeners: false, problem }
}

/** Asks as the admin who listens to a stream. Throws an `AnswerFault` or a `FetchFault`. */
export async function askIcecastListeners(
  server: StreamingServer,
  stream: Stream,
  signal: AbortSignal
): Promise<ListenersAnswer> {
  const page = `admin/listclients?mount=${encodeURIComponent(stream.path)}`
  try {
    const answer = await askPage(server, page, { asAdmin: true, signal })
    // Its source has gone since.
    if (answer.status === 400 || answer.status === 404)
      return { stream: { ...withListeners(stream, []), isConnected: false }, problem: '' }
    return { stream: withListeners(stream, parseIcecastListeners(bodyOf(answer))), problem: '' }
  } catch (error) {
    if (!(error instanceof FetchFault && error.word === 'too_large')) throw error
    return { stream, problem: 'There are too many listeners to be told apart.' }
  }
}

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
 * Reads `/status-json.xsl` of Icecast, which anybody may ask for. Who listens is not in it. Throws an
 * `AnswerFault`.
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

/**
 * An element of XML. Names of elements and attributes are in lower case; `text` is without that of its
 * children.
 */
interface XmlElement {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly XmlElement[]
  readonly text: string
}

interface OpenElement extends XmlElement {
  readonly children: OpenElement[]
  text: string
}

/** A list of ten thousand listeners has so many. */
const elementsAtMost = 80_000
const depthAtMost = 16

/**
 * Reads XML in UTF-8 and gives its root. What streaming servers write of foreign titles is mended: bare `&`,
 * entities that XML does not know (they stay as they are written), control characters. Everything else that
 * is not well formed, document types (which could define entities) and what is too much throws an
 * `AnswerFault`.
 */
function parseXml(bytes: Uint8Array): XmlElement {
  const top = elementOf('', [])
  const open = [top]
  let elements = 0
  const parser = new SaxesParser({ position: false })
  parser.on('error', () => refuse('The answer is no XML.'))
  parser.on('doctype', () => refuse('The answer is XML of a kind that is not read.'))
  parser.on('opentag', ({ name, attributes }) => {
    if (++elements > elementsAtMost || open.length > depthAtMost) refuse('The answer is too complex.')
    const element = elementOf(name, Object.entries(attributes))
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => void open.pop())
  const add = (text: string) => {
    const element = open.at(-1)
    if (element) element.text += text
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.write(mended(new TextDecoder().decode(bytes))).close()
  return top.children[0] ?? refuse('The answer is no XML.')
}

/** The text of the first child of that name, without blanks at its ends; empty where there is none. */
function textOf(element: XmlElement, name: string): string {
  return element.children.find(child => child.name === name)?.text.trim() ?? ''
}

/** The children of that name. */
function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(child => child.name === name)
}

function elementOf(name: string, attributes: readonly (readonly [string, string])[]): OpenElement {
  return {
    name: name.toLowerCase(),
    attributes: new Map(attributes.map(([key, value]) => [key.toLowerCase(), value])),
    children: [],
    text: ''
  }
}

function refuse(sentence: string): never {
  throw new AnswerFault(sentence)
}

const reference = /&(?:(?:amp|lt|gt|quot|apos);|#(\d{1,7});|#x([\dA-Fa-f]{1,6});)?/g

function mended(text: string): string {
  return text
    .replace(/[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu, ' ')
    .replace(reference, (found: string, decimal?: string, hex?: string) => {
      if (found === '&') return '&amp;'
      const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null
      return code === null || isXmlCharacter(code) ? found : '\uFFFD'
    })
}

/** `Char` of XML 1.0, without control characters. */
function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 9 || code === 10 || code === 13
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
}
