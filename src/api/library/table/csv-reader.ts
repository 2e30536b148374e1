import { pipeline, Readable } from 'node:stream'

import { CsvError, parse } from 'csv-parse'
import { parse as parseWhole } from 'csv-parse/sync'

import { refuseField } from '../../../platform/runtime/errors.ts'
import { openEventLoopYield } from '../../../platform/runtime/time-slices.ts'
import { decodeFileText, detectFileEncoding } from './csv-encoding.ts'

export interface CsvOptions {
  /** Names of columns, of which the first line must have at least one. They determine the separator. */
  readonly required: readonly string[]
  /** Records, with the first one. Lines without a character do not count. */
  readonly maxLines: number
  readonly maxColumns: number
  readonly maxLineBytes: number
  /** The charset that the sender names, if any. */
  readonly charset?: string | null
}

/** A line of a CSV file: a record. One with line breaks in its cells is several lines of the file. */
export interface CsvLine {
  /** The first line of the record in the file, counted from 1. */
  readonly line: number
  /** By name of the column. Cells that are missing at the end are undefined. */
  readonly cells: ReadonlyMap<string, string>
}

export interface CsvFile extends AsyncDisposable {
  /** As the Encoding Standard names it. */
  readonly encoding: string
  readonly separator: string
  readonly columns: readonly string[]
  /** The lines after the first, without empty ones, some at a time. Throws 400 with the line of a problem. */
  readonly batches: () => AsyncGenerator<readonly CsvLine[]>
}

/** What a cell of Excel can have. Values of songs are shorter. */
export const maxCsvCellCharacters = 32_767

const separators = [',', ';', '\t', '|']
const lineEnds = ['\r\n', '\n', '\r']
/** Enough for the names of all columns. */
const maxHeaderCharacters = 8 * 1024
const batchSize = { lines: 250, characters: 1024 * 1024 }
/** How long the parser may run before it yields to the event loop. */
const sliceMs = 8
/** What the parser gets at once: lines cost the most, then cells. */
const pieceSize = { lineEnds: 64, bytes: 1024 }

/**
 * Opens a CSV file with a first line of names, in a form that spreadsheets write: UTF-8, UTF-16, a charset that is
 * named or Windows-1252; separated by commas, semicolons, tabs or bars, also after a line `sep=;`; with any line ends.
 * The file is read in time slices, and no more than a few lines are in memory. Throws 400 for a file that is none, with
 * the line.
 */
export async function openCsvFile(path: string, options: CsvOptions): Promise<CsvFile> {
  const encoding = await detectFileEncoding(path, options.charset ?? null)
  if (encoding === null) return refuse('is neither valid UTF-8 nor Windows-1252: save it as UTF-8.')
  const text = decodeFileText(path, encoding)
  const start = await readStart(text)
  const directive = /^"?sep=([^"\r\n])"?(?:\r\n|\n|\r)/i.exec(start)
  const body = start.slice(directive?.[0].length ?? 0)
  const separator = directive?.[1] ?? (await detectSeparator(body, options.required))
  // Before the rest of a line of megabytes is read.
  const names = readFirstLine(body, separator)
  if (names.length > options.maxColumns)
    refuseField('file', 'too_long', `must have at most ${options.maxColumns} columns.`)
  const skipped = directive === null ? 0 : 1
  const records = readRecords(joinTexts(body, text), separator, { ...options, skipped })
  const close = async () => void (await records.return(undefined))
  try {
    const first = await records.next()
    const columns = first.done ? [] : first.value.record.map(name => name.trim())
    assertColumns(columns, options)
    const batches = () => readBatches(records, columns)
    return { encoding, separator, columns, batches, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

const refuse = (sentence: string) => refuseField('file', 'invalid_format', sentence)

async function readStart(text: AsyncGenerator<string>): Promise<string> {
  let start = ''
  while (start.length < maxHeaderCharacters) {
    const { value, done } = await text.next()
    if (done) return start
    start += value
  }
  return start
}

async function* joinTexts(start: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield start
  yield* rest
}

/** Finds the separator with which the first line has the most of the required names, or else the most names. */
async function detectSeparator(start: string, required: readonly string[]): Promise<string> {
  const pause = openEventLoopYield(sliceMs)
  const scores: { readonly separator: string; readonly found: number; readonly count: number }[] = []
  for (const separator of separators) {
    await pause()
    const names = readFirstLine(start, separator)
    const found = required.filter(name => names.includes(name)).length
    scores.push({ separator, found, count: names.length })
  }
  return scores.toSorted((a, b) => b.found - a.found || b.count - a.count)[0]?.separator ?? ','
}

function readFirstLine(start: string, separator: string): readonly string[] {
  try {
    const text = start.slice(0, maxHeaderCharacters).replace(/^[\r\n]+/, '')
    const [names = []]: string[][] = parseWhole(text, {
      delimiter: separator,
      record_delimiter: lineEnds,
      skip_empty_lines: true,
      to: 1
    })
    return names.map(name => name.trim())
  } catch {
    return []
  }
}

function assertColumns(columns: readonly string[], { required, maxColumns }: CsvOptions): void {
  if (columns.length > maxColumns) refuseField('file', 'too_long', `must have at most ${maxColumns} columns.`)
  if (!required.some(name => columns.includes(name)))
    refuse(`must have a first line of names, separated by commas, with ${required.join(' or ')}.`)
  const twice = columns.find((name, index) => name !== '' && columns.indexOf(name) < index)
  if (twice !== undefined) refuse(`must not have two columns ${JSON.stringify(twice.slice(0, 100))}.`)
}

interface ParsedRecord {
  readonly record: readonly string[]
  readonly line: number
}

/** Those that the parser has seen. */
interface LineCounts {
  readonly lines: number
  readonly empty_lines: number
}

/** What waits in the buffer of a stream is parsed without a pause. The option is missing in the parser's types. */
const unbuffered = { writableHighWaterMark: 1 }

/** Yields the records of a text that are not empty. */
async function* readRecords(
  text: AsyncGenerator<string>,
  separator: string,
  { maxLines, maxColumns, maxLineBytes, skipped }: CsvOptions & { readonly skipped: number }
): AsyncGenerator<ParsedRecord> {
  let previous = skipped
  let previousEmpty = 0
  let count = 0
  /** Puts the line before the cells. */
  const withLine = (record: string[], { lines, empty_lines: empty }: LineCounts) => {
    const line = previous + 1 + empty - previousEmpty
    previous = lines + skipped
    previousEmpty = empty
    if (++count > maxLines) refuseField('file', 'too_long', `must have at most ${maxLines} lines.`)
    // All cells would be looked at below.
    if (record.length > maxColumns)
      refuseField('file', 'too_long', `must have at most ${maxColumns} columns (line ${line}).`)
    return record.some(cell => cell !== '') ? [String(line), ...record] : null
  }
  const parser = parse({
    delimiter: separator,
    record_delimiter: lineEnds,
    relax_column_count: true,
    max_record_size: maxLineBytes,
    // Nor do records of empty cells enter the stream.
    skip_empty_lines: true,
    on_record: withLine,
    ...unbuffered
  })
  // Errors, also those of the text, come out of the parser.
  pipeline(Readable.from(sliceText(text), { highWaterMark: 1 }), parser, () => {})
  try {
    for await (const parsed of parser) {
      const [line, ...record]: string[] = parsed
      yield { record, line: Number(line) }
    }
  } catch (error) {
    throw toProblem(error, { skipped, maxLineBytes })
  }
}

/** Yields a text in small pieces, and lets others run between time slices. */
async function* sliceText(text: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  const pause = openEventLoopYield(sliceMs)
  for await (const whole of text) {
    if (whole.includes('\0')) refuse('contains the character NUL: save it as UTF-8.')
    for (const piece of cutPieces(Buffer.from(whole))) {
      await pause()
      yield piece
    }
  }
}

function* cutPieces(bytes: Uint8Array): Generator<Uint8Array> {
  let from = 0
  let ends = 0
  for (const [index, byte] of bytes.entries()) {
    if (byte === 0x0a || byte === 0x0d) ends++
    if (ends < pieceSize.lineEnds && index - from < pieceSize.bytes) continue
    yield bytes.subarray(from, index)
    from = index
    ends = 0
  }
  yield bytes.subarray(from)
}

/** Sentences for the errors of the parser. */
const sentences = new Map([
  ['CSV_QUOTE_NOT_CLOSED', 'a cell begins with a quote and has none at its end'],
  ['INVALID_OPENING_QUOTE', 'a quote is inside a cell without quotes around it'],
  ['CSV_INVALID_CLOSING_QUOTE', 'a cell with quotes has text after the second one']
])

function toProblem(error: unknown, { skipped, maxLineBytes }: { skipped: number; maxLineBytes: number }) {
  if (!(error instanceof CsvError)) return error
  const { lines } = error as CsvError & { readonly lines?: number }
  const sentence =
    error.code === 'CSV_MAX_RECORD_SIZE'
      ? `the line has more than ${maxLineBytes} bytes`
      : (sentences.get(error.code) ?? error.message.slice(0, 200))
  return refuse(`is not a valid CSV file: line ${(lines ?? 0) + skipped}: ${sentence}.`)
}

async function* readBatches(
  records: AsyncGenerator<ParsedRecord>,
  columns: readonly string[]
): AsyncGenerator<readonly CsvLine[]> {
  let batch: CsvLine[] = []
  let characters = 0
  for await (const { record, line } of records) {
    const isTooLong = record.some((cell, index) => cell !== '' && (columns[index] ?? '') === '')
    if (isTooLong)
      refuse(`must have a name in the first line for each cell: line ${line} has a cell without one.`)
    const cells = record.flatMap((cell, index) => {
      characters += cell.length
      const name = columns[index] ?? ''
      return name === '' ? [] : [[name, cell] as const]
    })
    batch.push({ line, cells: new Map(cells) })
    if (batch.length < batchSize.lines && characters < batchSize.characters) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}
