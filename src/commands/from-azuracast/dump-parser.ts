import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { decodeForeignText } from '../../platform/text/foreign-text.ts'
import {
  decodeByteText,
  findClosingQuote,
  findCharacterSet,
  findUsedDatabase,
  identifierPattern,
  isUtf8Text,
  parseCreateTable,
  unquoteIdentifier
} from './dump-statements.ts'
import type { SourceRow } from './source.ts'

/** A part of a dump. Offsets are in bytes. */
export type DumpEvent =
  | { readonly type: 'table'; readonly table: string; readonly columns: readonly string[] }
  /** Rows of one statement, whose beginning and, in its last event, end are known. */
  | {
      readonly type: 'rows'
      readonly table: string
      /** The columns that the statement names; null: all columns of the table. */
      readonly columns: readonly string[] | null
      readonly rows: readonly SourceRow[]
      /** How many of them have text that is not UTF-8. */
      readonly notUtf8: number
      readonly statementStart: number
      readonly end: number
    }
  /** The following statements are about this database. */
  | { readonly type: 'database'; readonly name: string }
  /** The line that `mariadb-dump` writes last. */
  | { readonly type: 'completed' }

/** Rows of an event at most. */
const rowsPerEvent = 500
/** A longer row or statement than this is refused, so that memory is bounded. */
const maxBytes = 64 * 1024 * 1024

/** As editors of Windows write it, one character per byte. */
const byteOrderMark = '\u00EF\u00BB\u00BF'
const quote = 0x27
const backslash = 0x5c
const comma = 0x2c
const open = 0x28
const close = 0x29
const semicolon = 0x3b

/**
 * Parses a dump of MariaDB or MySQL (`mariadb-dump`, `mysqldump`) in UTF-8. Memory is bounded by the longest row.
 * Throws an `OperatorError` with the offset if the text is not a dump or ends within a statement.
 */
export async function* parseDump(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<DumpEvent> {
  const input = chunks[Symbol.asyncIterator]()
  // One character per byte, so that positions are offsets. Values are decoded one by one.
  let text = ''
  let position = 0
  let startOffset = 0
  let delimiter = ';'

  /** Drops what was parsed and reads at least as much again as is left. Returns false at the end of the input. */
  const readMore = async (): Promise<boolean> => {
    const rest = text.slice(position)
    if (rest.length > maxBytes) fail('a statement or row is too long')
    startOffset += position
    position = 0
    const parts = [rest]
    let added = 0
    while (added === 0 || added < rest.length) {
      const next = await input.next()
      if (next.done) break
      parts.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length).toString('latin1'))
      added += next.value.length
    }
    text = parts.join('')
    return added > 0
  }
  const fail = (problem: string): never => {
    throw new OperatorError(`the database dump is damaged at byte ${startOffset + position}: ${problem}`)
  }
  /** Repeats `find`, which returns -1 if the text ends too early, with more text. */
  const find = async (findEnd: () => number, what: string): Promise<number> => {
    for (;;) {
      const end = findEnd()
      if (end !== -1) return end
      if (!(await readMore())) fail(`the text ends within ${what}`)
    }
  }

  for (;;) {
    position = skipBlank(text, position)
    // A word or comment may be cut: its beginning must be whole.
    if (text.length - position < 64) {
      const isMore = await readMore()
      position = skipBlank(text, position)
      if (!isMore && position >= text.length) return
      if (isMore && text.length - position < 64) continue
    }
    const start = text.slice(position, position + 64)
    if (startOffset + position === 0 && start.startsWith(byteOrderMark)) position = byteOrderMark.length
    else if (start.startsWith('--') || start.startsWith('#')) {
      const isCompleted = start.startsWith('-- Dump completed')
      position = await findLineEnd()
      if (isCompleted) yield { type: 'completed' }
    } else if (start.startsWith('/*')) {
      const end = await find(() => text.indexOf('*/', position + 2), 'a comment')
      checkCharacterSet(text.slice(position, end).replace(/^\/\*M?!\d*/, ''))
      position = end + 2
    } else if (text.charCodeAt(position) === semicolon) position++
    else if (/^delimiter\s/i.test(start)) {
      const end = await findLineEnd()
      delimiter = text.slice(position + 9, end).trim() || ';'
      position = end
    } else if (/^(?:insert|replace)\s/i.test(start)) yield* readInsert()
    else {
      const isTable = /^create\s+table\s/i.test(start)
      const end = await find(() => findStatementEnd(text, position, delimiter), 'a statement')
      checkCharacterSet(start)
      const database = findUsedDatabase(start)
      if (database !== null) yield { type: 'database', name: database }
      if (isTable) {
        const { table, columns } = parseCreateTable(text.slice(position, end)) ?? fail('this is no table')
        yield { type: 'table', table, columns }
      } else if (!/^[a-z]/i.test(start)) fail('this is no statement')
      position = end
    }
  }

  async function findLineEnd(): Promise<number> {
    for (;;) {
      const end = text.indexOf('\n', position)
      if (end !== -1) return end
      if (!(await readMore())) return text.length
    }
  }

  async function* readInsert(): AsyncGenerator<DumpEvent> {
    const statementStart = startOffset + position
    await find(() => findRowsStart(text, position), 'a statement')
    const rowsStart = findRowsStart(text, position)
    const head = parseInsert(text.slice(position, rowsStart)) ?? fail('this is no list of rows')
    position = rowsStart
    let rows: SourceRow[] = []
    let notUtf8 = 0
    const flush = (): DumpEvent => {
      const end = startOffset + position
      const event = { type: 'rows', ...head, rows, notUtf8, statementStart, end } as const
      rows = []
      notUtf8 = 0
      return event
    }
    for (;;) {
      const row: (string | null)[] = []
      parsedForeign = false
      let next = parseRow(text, position, row)
      if (next === notARow) fail('this is no row')
      if (next !== -1) {
        next = skipBlank(text, next)
        if (next >= text.length) next = -1
      }
      if (next === -1) {
        if (rows.length > 0) yield flush()
        if (!(await readMore())) fail('the text ends within a row')
        continue
      }
      rows.push(row)
      if (parsedForeign) notUtf8 += 1
      const separator = text.charCodeAt(next)
      if (separator === comma) position = skipBlank(text, next + 1)
      else if (separator === semicolon) {
        position = next + 1
        yield flush()
        return
      } else fail('a row is followed by something else')
      if (position >= text.length) {
        if (!(await readMore())) fail('the text ends between two rows')
        position = skipBlank(text, position)
      }
      if (rows.length >= rowsPerEvent) yield flush()
    }
  }
}

/** Throws an `OperatorError` if a statement declares another character set than UTF-8. */
function checkCharacterSet(statement: string): void {
  const name = findCharacterSet(statement)
  // `binary` is the character set of the columns, which is UTF-8 in AzuraCast.
  if (name !== null && !/^(?:utf8|utf8mb3|utf8mb4|binary)$/i.test(name))
    throw new OperatorError(
      `the database dump is in the character set ${name}: dump the database with --default-character-set=utf8mb4`
    )
}

function skipBlank(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++
  return at
}

const notARow = -2
let parsedValue: string | null = null
/** Whether a text of the row is not UTF-8. */
let parsedForeign = false

function decodeText(bytes: string): string {
  parsedForeign ||= !isUtf8Text(bytes)
  return decodeByteText(bytes)
}

/**
 * Parses a row in parentheses and appends its values to `row`. Returns the position behind it, -1 if the text ends
 * within it, or `notARow`.
 */
function parseRow(text: string, from: number, row: (string | null)[]): number {
  if (from >= text.length) return -1
  if (text.charCodeAt(from) !== open) return notARow
  let at = from + 1
  for (;;) {
    at = parseValue(text, at)
    if (at < 0) return at
    row.push(parsedValue)
    at = skipBlank(text, at)
    const next = text.charCodeAt(at)
    if (next === close) return at + 1
    if (next !== comma) return at >= text.length ? -1 : notARow
    at++
  }
}

/** Sets `parsedValue`. Returns the position behind the value, -1 if the text ends within it, or `notARow`. */
function parseValue(text: string, from: number): number {
  let at = skipBlank(text, from)
  if (at >= text.length) return -1
  if (text.charCodeAt(at) === quote) return parseString(text, at)
  const start = at
  while (at < text.length && isWordCharacter(text.charCodeAt(at))) at++
  if (at >= text.length) return -1
  const word = text.slice(start, at)
  if (word === '') return notARow
  const next = skipBlank(text, at)
  if (next >= text.length) return -1
  if (text.charCodeAt(next) === quote) {
    // `_binary '...'`, `x'414243'`, `b'0101'`
    const wasForeign = parsedForeign
    const end = parseString(text, next)
    if (end < 0) return end
    // Bytes need not be text.
    parsedForeign = wasForeign
    if (/^x$/i.test(word)) parsedValue = decodeHex(parsedValue ?? '')
    else if (/^b$/i.test(word))
      parsedValue = String(BigInt(`0b${parsedValue === '' ? '0' : (parsedValue ?? '0')}`))
    else if (!word.startsWith('_') && !/^n$/i.test(word)) return notARow
    return end
  }
  const first = word.charCodeAt(0)
  const isNumber = first <= 0x39
  if (isNumber && !hexNumber.test(word)) parsedValue = word
  else if (isNumber) parsedValue = decodeHex(word.slice(2))
  else if (word === 'NULL' || /^null$/i.test(word)) parsedValue = null
  else if (/^(?:true|false)$/i.test(word)) parsedValue = /^t/i.test(word) ? '1' : '0'
  else return notARow
  return at
}

const hexNumber = /^0x[0-9a-f]*$/i

/** Digits, letters, `_`, `.`, `+` and `-`. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    code === 0x5f ||
    code === 0x2e ||
    code === 0x2b ||
    code === 0x2d
  )
}

/** Parses a string that begins at `from` with its quote; see `parseValue`. */
function parseString(text: string, from: number): number {
  let end = from + 1
  for (;;) {
    end = text.indexOf("'", end)
    if (end === -1) return -1
    if (findBackslash(text, from) < end) return parseEscaped(text, from)
    // Whether it is doubled is known with the next character.
    if (end + 1 >= text.length) return -1
    if (text.charCodeAt(end + 1) === quote) return parseEscaped(text, from)
    parsedValue = decodeText(text.slice(from + 1, end))
    return end + 1
  }
}

let searchedText = ''
let searchedFrom = 0
let foundBackslash = -1

/** Returns the position of the next backslash, infinity without one. Each stretch of the text is searched once. */
function findBackslash(text: string, from: number): number {
  if (text !== searchedText || from < searchedFrom || from > foundBackslash) {
    const found = text.indexOf('\\', from)
    searchedText = text
    searchedFrom = from
    foundBackslash = found === -1 ? Number.POSITIVE_INFINITY : found
  }
  return foundBackslash
}

/** Other characters after a backslash stand for themselves. */
const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  b: '\b',
  n: '\n',
  r: '\r',
  t: '\t',
  Z: '\u001A'
}

function parseEscaped(text: string, from: number): number {
  const parts: string[] = []
  let at = from + 1
  let plain = at
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === backslash) {
      if (at + 1 >= text.length) return -1
      const escaped = text.charAt(at + 1)
      parts.push(text.slice(plain, at), escapes[escaped] ?? escaped)
      at++
      plain = at + 1
    } else if (code === quote) {
      if (at + 1 >= text.length) return -1
      parts.push(text.slice(plain, at))
      if (text.charCodeAt(at + 1) !== quote) {
        parsedValue = decodeText(parts.join(''))
        return at + 1
      }
      at++
      plain = at
    }
  }
  return -1
}

const decodeHex = (digits: string): string => decodeForeignText(Buffer.from(digits, 'hex'))

/** Returns where the first row of an `INSERT` begins; -1 if the text ends before it. */
function findRowsStart(text: string, from: number): number {
  const words = /`(?:[^`]|``)*`|\bvalues\s*(?=\()/giy
  const limit = Math.min(text.length, from + 1_000_000)
  for (let at = from; at < limit; at++) {
    words.lastIndex = at
    const [word] = words.exec(text) ?? []
    if (word === undefined) continue
    at += word.length - 1
    if (!word.startsWith('`')) return at + 1
  }
  return -1
}

/** Parses `INSERT INTO t (a, b) VALUES `. */
function parseInsert(head: string) {
  const pattern = new RegExp(
    `^(?:insert|replace)\\s+(?:ignore\\s+)?into\\s+(?:${identifierPattern})\\s*(?:\\(([^)]*)\\)\\s*)?values\\s*$`,
    'i'
  )
  const [found, quoted, plain, list] = pattern.exec(head) ?? []
  if (found === undefined) return null
  const names = list?.split(',').map(name => unquoteIdentifier(name.trim().replace(/^`|`$/g, '')))
  return { table: unquoteIdentifier(quoted ?? plain ?? ''), columns: names ?? null }
}

/** Returns the position behind the delimiter of a statement; -1 if the text ends before it. */
function findStatementEnd(text: string, from: number, delimiter: string): number {
  if (delimiter !== ';') {
    const end = text.indexOf(delimiter, from)
    return end === -1 ? -1 : end + delimiter.length
  }
  const marks = /['"`;]/g
  marks.lastIndex = from
  for (let found = marks.exec(text); found; found = marks.exec(text)) {
    if (found[0] === ';') return marks.lastIndex
    const end = findClosingQuote(text, found.index)
    if (end >= text.length) return -1
    marks.lastIndex = end + 1
  }
  return -1
}
