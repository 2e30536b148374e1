/* Names and definitions in a dump, whose text has one character per byte. */

import { isUtf8 } from 'node:buffer'

import { decodeForeignText } from '../../platform/text/foreign-text.ts'

const hasBytesAbove7Bits = /[\u0080-\u00FF]/

/** Decodes text with one character per byte. */
export function decodeByteText(bytes: string): string {
  return hasBytesAbove7Bits.test(bytes) ? decodeForeignText(Buffer.from(bytes, 'latin1')) : bytes
}

/** Whether text with one character per byte is UTF-8. */
export const isUtf8Text = (bytes: string): boolean =>
  !hasBytesAbove7Bits.test(bytes) || isUtf8(Buffer.from(bytes, 'latin1'))

/** A pattern with two groups: a quoted or a plain name. */
export const identifierPattern = '`((?:[^`]|``)*)`|([A-Za-z0-9_$]+)'

/** The name that a quoted one stands for. */
export const unquoteIdentifier = (name: string): string => decodeByteText(name.replaceAll('``', '`'))

/**
 * Returns the character set that a `SET NAMES` declares; null for another statement, or if it is that of a variable.
 */
export const findCharacterSet = (statement: string): string | null =>
  /^\s*set\s+names\s*=?\s*['"]?(\w+)/i.exec(statement)?.[1] ?? null

/** Returns the database of a `USE`; null for another statement. */
export function findUsedDatabase(statement: string): string | null {
  const [found, quoted, plain] = new RegExp(`^use\\s+(?:${identifierPattern})`, 'i').exec(statement) ?? []
  return found === undefined ? null : unquoteIdentifier(quoted ?? plain ?? '')
}

const constraintWords = /^(?:primary|unique|key|index|constraint|fulltext|spatial|check|foreign|period)\b/i

/** Returns the name and columns of a `CREATE TABLE`; null if it has no list of columns. */
export function parseCreateTable(statement: string) {
  const head = new RegExp(
    `^create\\s+table\\s+(?:if\\s+not\\s+exists\\s+)?(?:${identifierPattern})\\s*\\(`,
    'i'
  )
  const [start, quoted, plain] = head.exec(statement) ?? []
  if (start === undefined) return null
  const columns: string[] = []
  let depth = 1
  let itemStart = start.length
  const addItem = (end: number) => {
    const item = statement.slice(itemStart, end).trim()
    const [, quotedName, name] = new RegExp(`^(?:${identifierPattern})`).exec(item) ?? []
    if (quotedName !== undefined) columns.push(unquoteIdentifier(quotedName))
    else if (name !== undefined && !constraintWords.test(item)) columns.push(name)
  }
  for (let at = start.length; at < statement.length && depth > 0; at++) {
    const character = statement.charAt(at)
    if (character === "'" || character === '"' || character === '`') at = findClosingQuote(statement, at)
    else if (character === '(') depth++
    else if (character === ')' && --depth === 0) addItem(at)
    else if (character === ',' && depth === 1) {
      addItem(at)
      itemStart = at + 1
    }
  }
  return { table: unquoteIdentifier(quoted ?? plain ?? ''), columns }
}

/** Returns the position of the closing quote; the length of the text if there is none. */
export function findClosingQuote(text: string, from: number): number {
  const mark = text.charAt(from)
  for (let at = from + 1; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '\\' && mark !== '`') at++
    else if (character === mark) {
      if (text.charAt(at + 1) !== mark) return at
      at++
    }
  }
  return text.length
}
