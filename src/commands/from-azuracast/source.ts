import { parseJson } from '../../platform/text/parse-json.ts'

/** A row as text, in the order of the columns of its table. Null: NULL. */
export type SourceRow = readonly (string | null)[]

/** A table of an AzuraCast database. */
export interface SourceTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: number
  /** The highest value of the column `id`; 0 without rows, and if ids are not numbers. */
  readonly maxId: number
}

/** The tables of an AzuraCast installation. */
export interface AzuracastSource {
  /** For messages. */
  readonly description: string
  readonly tables: ReadonlyMap<string, SourceTable>
  /** Reads a table in batches, in the order of its primary key. No rows if there is no such table. */
  readonly rows: (table: string) => AsyncGenerator<readonly SourceRow[]>
  /** What this kind of source does not contain. */
  readonly missing: readonly string[]
  /** The number of rows with text that is not UTF-8, and was read as windows-1252, by table. */
  readonly notUtf8: ReadonlyMap<string, number>
}

/** Values of a row by the name of the column. */
export interface RowReader {
  /** Null if the value is NULL or there is no such column: columns come and go with releases of AzuraCast. */
  readonly text: (row: SourceRow, column: string) => string | null
  /** 0 if there is no number. */
  readonly number: (row: SourceRow, column: string) => number
  /** `absent`, the default of AzuraCast, if the value is NULL or there is no such column. */
  readonly flag: (row: SourceRow, column: string, absent?: boolean) => boolean
  /** Unix milliseconds. Null: no time. */
  readonly time: (row: SourceRow, column: string) => number | null
  /** The members of a JSON object; none without one. */
  readonly json: (row: SourceRow, column: string) => Readonly<Record<string, unknown>>
  /** The elements of a JSON array; none without one. */
  readonly list: (row: SourceRow, column: string) => readonly unknown[]
  readonly has: (column: string) => boolean
}

/** Reads the values of rows of a table. */
export function openRowReader(table: Pick<SourceTable, 'columns'> | undefined): RowReader {
  const indexes = new Map(table?.columns.map((name, index) => [name, index]))
  const text = (row: SourceRow, column: string): string | null => {
    const index = indexes.get(column)
    return index === undefined ? null : (row[index] ?? null)
  }
  const parsed = (row: SourceRow, column: string): unknown => parseJson(text(row, column) ?? '')
  return {
    text,
    number: (row, column) => parseNumber(text(row, column)),
    flag: (row, column, absent = false) => {
      const value = text(row, column)
      return value === null ? absent : parseNumber(value) !== 0
    },
    time: (row, column) => parseSourceTime(text(row, column)),
    json: (row, column) => parseJsonObject(text(row, column)),
    list: (row, column) => {
      const value = parsed(row, column)
      return Array.isArray(value) ? value : []
    },
    has: column => indexes.has(column)
  }
}

/** A scalar of JSON as text; empty for anything else. */
export const scalarToText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

function parseNumber(text: string | null): number {
  const number = text === null ? 0 : Number(text)
  return Number.isFinite(number) ? number : 0
}

/** The members of a JSON object; none for other text. */
export function parseJsonObject(text: string | null): Readonly<Record<string, unknown>> {
  const value = parseJson(text ?? '')
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/**
 * Parses a time to Unix milliseconds. Until release 0.20.4 AzuraCast stored Unix seconds, with 0 for none; later
 * ones store a date and time of day in UTC.
 */
export function parseSourceTime(text: string | null): number | null {
  if (text === null || text === '') return null
  if (/^\d+$/.test(text)) return text === '0' ? null : Number(text) * 1_000
  const [, day = '', time = '00:00:00'] =
    /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2}(?:\.\d+)?))?/.exec(text) ?? []
  const ms = Date.parse(`${day}T${time.slice(0, 12)}Z`)
  return Number.isNaN(ms) ? null : ms
}
