import { SaxesParser } from 'saxes'
import * as v from 'valibot'

import type { ListenerConnection } from '../engine/listeners/sessions.ts'
import { parseUrl } from '../platform/outbound/networks.ts'
import { decodeForeignDocument, findCharset } from '../platform/text/foreign-text.ts'
import { decodePercent } from '../platform/text/percent-encoding.ts'
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

/** Parses `/admin/stats` of Icecast 2.4, 2.5 or KH. Throws a `StreamingServerError`. */
export function parseIcecastStats(bytes: Uint8Array, charset: string | null = null): ServerStream[] {
  return assertStreamCount(parseSources(bytes, charset)).map(source =>
    toStream(source.attributes.get('mount') ?? '', name => readText(source, name))
  )
}

/** Parses `/admin/listclients` of one mount, without relays. Throws a `StreamingServerError`. */
export function parseIcecastListeners(
  bytes: Uint8Array,
  charset: string | null = null
): ListenerConnection[] {
  const [source] = parseSources(bytes, charset)
  if (!source) reject('The response is not a list of listeners.')
  return withoutServerConnections(
    findChildren(source, 'listener').map(listener => ({
      address: readText(listener, 'ip'),
      userAgent: readText(listener, 'useragent'),
      seconds: parseConnectedSeconds(readText(listener, 'connected'))
    }))
  )
}

/** Icecast writes some titles as numbers or booleans. Any other type is read as an empty text. */
const looseText = v.fallback(v.pipe(v.union([v.string(), v.boolean()]), v.transform(String)), '')
const jsonSource = v.record(v.string(), looseText)
const jsonStatus = v.object({
  icestats: v.object({ source: v.optional(v.union([v.array(jsonSource), jsonSource]), []) })
})

/** Parses the public `/status-json.xsl`, which does not list listeners. Throws a `StreamingServerError`. */
export function parseIcecastStatus(bytes: Uint8Array, charset: string | null = null): ServerStream[] {
  const parsed = v.safeParse(jsonStatus, parseLooseJson(bytes, charset))
  if (!parsed.success) reject('The response is not that of an Icecast server.')
  return assertStreamCount([parsed.output.icestats.source].flat()).flatMap(fields => {
    const get = (name: string) => fields[name]?.trim() ?? ''
    const path = parseMountPath(get('listenurl'))
    const stream = toStream(path ?? '', get)
    return path === null ? [] : [stream]
  })
}

/** An on-demand relay without listeners is listed with none of these. */
const connectedFields = ['server_type', 'stream_start', 'stream_start_iso8601', 'connected', 'title']

function toStream(path: string, get: (name: string) => string): ServerStream {
  const total = parseListenerCount(get('listeners'))
  return {
    path,
    id: 0,
    isConnected: connectedFields.some(name => get(name) !== ''),
    total,
    unique: total,
    ...parseStreamedTitle({ artist: get('artist'), title: get('title') }),
    bitrate: parseBitrate(get('audio_bitrate'), get('bitrate'), get('ice-bitrate')),
    format: detectStreamFormat(get('server_type'), get('subtype'))
  }
}

/** Returns the decoded path of an address, as mounts are named; null if it is not an address. */
export function parseMountPath(address: string): string | null {
  const pathname = parseUrl(address)?.pathname
  return pathname === undefined ? null : (decodePercent(pathname) ?? pathname)
}

function parseSources(bytes: Uint8Array, charset: string | null): XmlElement[] {
  const root = parseXml(decodeXml(bytes, charset))
  if (root.name !== 'icestats') reject('The response is not that of an Icecast server.')
  return findChildren(root, 'source')
}

/** Names are in lower case. `text` excludes the text of children. */
interface XmlElement {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: XmlElement[]
  text: string
}

/** A list of ten thousand listeners has this many. */
const maxElements = 80_000
const maxDepth = 16

/** Decodes XML in the charset of its content type or declaration. Titles may be in another one. */
function decodeXml(bytes: Uint8Array, charset: string | null): string {
  const declaration = /^[^<]*<\?xml[^>]*>/.exec(Buffer.from(bytes.subarray(0, 200)).toString('latin1'))?.[0]
  return decodeForeignDocument(bytes, '<>"', charset ?? findCharset(declaration ?? ''))
}

/**
 * Parses XML and returns its root. Repairs bare `&`, unknown entities and control characters in
 * titles. Throws if it is malformed otherwise, too large, or has a document type, which may define entities.
 */
function parseXml(xml: string): XmlElement {
  const top = createElement('', [])
  const open = [top]
  let elements = 0
  const parser = new SaxesParser({ position: false })
  parser.on('error', () => reject('The response is not XML.'))
  parser.on('doctype', () => reject('The response is XML with a document type.'))
  parser.on('opentag', ({ name, attributes }) => {
    if (++elements > maxElements || open.length > maxDepth) reject('The response is too complex.')
    const element = createElement(name, Object.entries(attributes))
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => void open.pop())
  const addText = (text: string) => {
    const element = open.at(-1)
    if (element) element.text += text
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.write(repairXml(xml)).close()
  return top.children[0] ?? reject('The response is not XML.')
}

/** Returns the trimmed text of the first child of that name; empty if there is none. */
function readText(element: XmlElement, name: string): string {
  return element.children.find(child => child.name === name)?.text.trim() ?? ''
}

function findChildren(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(child => child.name === name)
}

function createElement(name: string, pairs: readonly (readonly [string, string])[]): XmlElement {
  const attributes = new Map(pairs.map(([key, value]) => [key.toLowerCase(), value]))
  return { name: name.toLowerCase(), attributes, children: [], text: '' }
}

function reject(sentence: string): never {
  throw new StreamingServerError(sentence)
}

const reference = /&(?:(?:amp|lt|gt|quot|apos);|#(\d{1,7});|#x([\dA-Fa-f]{1,6});)?/g

function repairXml(text: string): string {
  return text
    .replace(/[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu, ' ')
    .replace(reference, (found: string, decimal?: string, hex?: string) => {
      if (found === '&') return '&amp;'
      const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null
      return code === null || isXmlCharacter(code) ? found : ''
    })
}

/** `Char` of XML 1.0, without control characters. */
function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 9 || code === 10 || code === 13
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
}
