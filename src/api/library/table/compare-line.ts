import { fieldError, type FieldError } from '../../../platform/runtime/errors.ts'
import { unescapeFormula } from '../../core/csv.ts'
import { maxCsvCellCharacters } from './csv-reader.ts'
import type { PlaylistCells } from './playlist-cells.ts'
import { findSpreadsheetDamage } from './spreadsheet-damage.ts'
import { isSpreadsheetForm } from './spreadsheet-form.ts'
import {
  renderTableCells,
  tableColumns,
  type TableRow,
  tableCueColumns,
  customColumnPrefix,
  tableTextColumns
} from './table-rows.ts'

/** A cell that differs from the stored value. */
export interface CellChange {
  readonly field: string
  readonly current: string
  readonly new: string
}

/** What a line of a file changes. */
export interface RowChange {
  readonly metadata: readonly CellChange[]
  readonly extra_metadata: readonly CellChange[]
  readonly custom_fields: readonly CellChange[]
  readonly playlists: { readonly added: readonly string[]; readonly removed: readonly string[] }
}

/** What lines of a file are compared with. */
export interface TableContext {
  /** The names of all custom fields. */
  readonly shortNames: readonly string[]
  readonly playlistCells: PlaylistCells
  /** Whether commas separate the cells of the file, so that a comma in a number may separate thousands. */
  readonly isCommaFile: boolean
}

/** How a line differs from its song. */
export interface ComparedLine {
  readonly change: RowChange
  /** All playlists of the song after the change; null if they remain. */
  readonly playlistIds: readonly number[] | null
  /** Columns of cells that a spreadsheet has made of the stored values, which remain. */
  readonly kept: readonly string[]
  /** What is wrong with cells, other than that their values are not valid. */
  readonly problems: readonly FieldError[]
}

/** Compares a line with the song. Columns that cannot be changed are ignored. */
export function compareLine(
  row: TableRow,
  line: ReadonlyMap<string, string>,
  { shortNames, playlistCells, isCommaFile }: TableContext
): ComparedLine {
  const stored = renderTableCells(row, shortNames, playlistCells)
  const currentOf = (column: string) => String(stored.get(column) ?? '')
  const problems: FieldError[] = []
  const kept: string[] = []
  const isKept = (column: string, current: string, fresh: string) => {
    const isForm = isSpreadsheetForm(current, fresh)
    if (isForm) kept.push(column)
    return isForm
  }
  const report = (column: string, sentence: string) =>
    problems.push(fieldError(column, 'invalid_format', sentence))
  /** Only the start of a cell that is too long, which the preview shows. */
  const textOf = (column: string, cell: string) => {
    if (cell.length > maxCsvCellCharacters)
      report(column, `must have at most ${maxCsvCellCharacters} characters.`)
    return unescapeFormula(cell.slice(0, maxCsvCellCharacters))
  }

  const changesOf = (columns: readonly string[], prefix = '') =>
    columns.flatMap(name => {
      const cell = line.get(prefix + name)
      const current = currentOf(prefix + name)
      const fresh = cell === undefined ? current : textOf(prefix + name, cell)
      if (normalizeLineBreaks(fresh) === normalizeLineBreaks(current)) return []
      if (isKept(prefix + name, current, fresh)) return []
      const damage = findSpreadsheetDamage(current, fresh)
      if (damage !== null) report(prefix + name, damage)
      return [{ field: name, current, new: fresh }]
    })

  const numberChanges = tableCueColumns.flatMap(name => {
    const cell = line.get(name)
    if (cell === undefined) return []
    const current = currentOf(name)
    const text = textOf(name, cell)
    const fresh = normalizeNumber(text, isCommaFile)
    const isSame = fresh === current || (fresh !== '' && current !== '' && Number(fresh) === Number(current))
    return isSame || isKept(name, current, text) ? [] : [{ field: name, current, new: fresh }]
  })

  const change = {
    metadata: changesOf(tableTextColumns),
    extra_metadata: numberChanges,
    custom_fields: changesOf(shortNames, customColumnPrefix),
    playlists: { added: [] as string[], removed: [] as string[] }
  }
  const cell = line.get('playlists')
  const stays = { ids: row.playlistIds, problems: [] }
  const named = cell === undefined ? stays : playlistCells.parse(unescapeFormula(cell), row.playlistIds)
  const isReformatted =
    named.problems.length > 0 && isKept('playlists', currentOf('playlists'), unescapeFormula(cell ?? ''))
  const parsed = isReformatted ? stays : named
  for (const sentence of parsed.problems) report('playlists', sentence)
  const added = parsed.ids.filter(id => !row.playlistIds.includes(id))
  // Of a cell with an unknown name it is not certain what it leaves out.
  const removed = parsed.problems.length > 0 ? [] : row.playlistIds.filter(id => !parsed.ids.includes(id))
  change.playlists.added.push(...added.map(playlistCells.labelOf))
  change.playlists.removed.push(...removed.map(playlistCells.labelOf))
  return { change, playlistIds: added.length + removed.length === 0 ? null : parsed.ids, kept, problems }
}

/**
 * Returns the first column whose cell is missing at the end of a line although the song has a value there; null if none
 * is. Spreadsheets leave out empty cells; other lines are cut off.
 */
export function findMissingCell(
  row: TableRow,
  line: ReadonlyMap<string, string>,
  columns: readonly string[],
  { shortNames, playlistCells }: TableContext
): string | null {
  const missing = tableColumns(shortNames).filter(name => columns.includes(name) && !line.has(name))
  if (missing.length === 0) return null
  const stored = renderTableCells(row, shortNames, playlistCells)
  return missing.find(name => (stored.get(name) ?? '') !== '') ?? null
}

/** Spreadsheets write other line breaks than they read. */
const normalizeLineBreaks = (text: string) => text.replace(/\r\n?/g, '\n')

/**
 * Writes a number with a decimal point. Where the comma separates cells, `1,234` remains: it may have been a thousand
 * and more.
 */
function normalizeNumber(cell: string, isCommaFile: boolean): string {
  const text = cell.trim()
  const isDecimal = /^-?\d+,\d+$/.test(text) && !(isCommaFile && /^-?[1-9]\d{0,2},\d{3}$/.test(text))
  return isDecimal ? text.replace(',', '.') : text
}

export const isUnchangedLine = ({
  metadata,
  extra_metadata: extra,
  custom_fields: custom,
  playlists
}: RowChange): boolean =>
  metadata.length + extra.length + custom.length + playlists.added.length + playlists.removed.length === 0

const valuesOf = <Value>(changes: readonly CellChange[], convert: (text: string) => Value) =>
  Object.fromEntries(changes.map(({ field, new: text }) => [field, convert(text)]))

/** The body of the update of a song. */
export function toSongUpdate({ change, playlistIds }: ComparedLine): object {
  return {
    ...valuesOf(change.metadata, text => text),
    ...(change.extra_metadata.length > 0
      ? { extra_metadata: valuesOf(change.extra_metadata, text => (text === '' ? null : text)) }
      : {}),
    ...(change.custom_fields.length > 0
      ? { custom_fields: valuesOf(change.custom_fields, text => text) }
      : {}),
    ...(playlistIds === null ? {} : { playlists: playlistIds })
  }
}
