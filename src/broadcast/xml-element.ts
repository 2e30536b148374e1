import { SaxesParser } from 'saxes'

import { AnswerFault } from './answer-fault.ts'

/** An element of XML. Names of elements and attributes are in lower case; `text` is without that of its children. */
export interface XmlElement {
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
 * Reads XML in UTF-8 and gives its root. What streaming servers write of foreign titles is mended: bare `&`, entities
 * that XML does not know (they stay as they are written), control characters. Everything else that is not well formed,
 * document types (which could define entities) and what is too much throws an `AnswerFault`.
 */
export function parseXml(bytes: Uint8Array): XmlElement {
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
export function textOf(element: XmlElement, name: string): string {
  return element.children.find(child => child.name === name)?.text.trim() ?? ''
}

/** The children of that name. */
export function childrenOf(element: XmlElement, name: string): XmlElement[] {
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
