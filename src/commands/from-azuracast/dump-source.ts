import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { parseDump } from './dump-parser.ts'
import type { AzuracastSource, SourceRow, SourceTable } from './source.ts'
import { isUsableId } from './usable-values.ts'

const chunkBytes = 64 * 1024

/** Where the rows of a table are in the dump. */
interface IndexedTable extends SourceTable {
  rows: number
  maxId: number
  isOrdered: boolean
  readonly sections: { start: number; end: number }[]
}

const maxTables = 10_000

/** Tables that are not in the order of their ids are read as a whole, to be sorted. */
const maxUnorderedRows = 200_000

export interface DumpSourceOptions {
  /** For messages. */
  readonly description: string
  readonly signal: AbortSignal
  /** Called with the share of the dump that was checked, from 0 to 1. */
  readonly onProgress?: (share: number) => void
}

/**
 * Reads a whole dump once, which checks it, and finds its tables. Throws an `OperatorError` if it is damaged, not
 * complete or not of AzuraCast.
 */
export async function openDumpSource(file: string, options: DumpSourceOptions): Promise<AzuracastSource> {
  const { description, signal, onProgress } = options
  const { size } = await stat(file)
  const tables = new Map<string, IndexedTable>()
  const notUtf8 = new Map<string, number>()
  let isComplete = false
  let database: string | null = null
  for await (const event of parseDump(readFile(file, signal))) {
    signal.throwIfAborted()
    if (event.type === 'completed') isComplete = true
    else if (event.type === 'database') {
      database ??= event.name
      if (event.name !== database)
        throw new OperatorError(
          `the dump in ${description} has the databases ${database} and ${event.name}: dump only that of AzuraCast`
        )
    } else if (event.type === 'table') {
      if (tables.size >= maxTables)
        throw new OperatorError(`the database dump in ${description} has more than ${maxTables} tables`)
      tables.set(event.table, {
        name: event.table,
        columns: event.columns,
        rows: 0,
        maxId: 0,
        isOrdered: true,
        sections: []
      })
    } else {
      addRows(tables.get(event.table), event, description)
      if (event.notUtf8 > 0) notUtf8.set(event.table, (notUtf8.get(event.table) ?? 0) + event.notUtf8)
      onProgress?.(event.end / size)
    }
  }
  if (!isComplete)
    throw new OperatorError(`the database dump in ${description} is not complete: its last line is missing`)
  if (!tables.has('station') || !tables.has('settings'))
    throw new OperatorError(
      `the database dump in ${description} is not of AzuraCast: it has no tables station and settings`
    )
  for (const { name, rows, isOrdered } of tables.values())
    if (!isOrdered && rows > maxUnorderedRows)
      throw new OperatorError(
        `the rows of ${name} are not in the order of their ids: dump the database with --order-by-primary`
      )

  async function* readRows(table: IndexedTable | undefined): AsyncGenerator<readonly SourceRow[]> {
    for (const section of table?.sections ?? []) {
      // The end is that of the last byte.
      const bytes = readFile(file, signal, { start: section.start, end: section.end - 1 })
      for await (const event of parseDump(bytes))
        if (event.type === 'rows' && table && event.table === table.name)
          yield inOrder(event.rows, event.columns, table)
    }
  }

  return {
    description,
    tables,
    missing: [],
    notUtf8,
    async *rows(name) {
      const table = tables.get(name)
      if (!table || table.isOrdered) {
        yield* readRows(table)
        return
      }
      const all: SourceRow[] = []
      for await (const rows of readRows(table)) all.push(...rows)
      const idIndex = table.columns.indexOf('id')
      yield all.toSorted((a, b) => Number(a[idIndex]) - Number(b[idIndex]))
    }
  }
}

function readFile(file: string, signal: AbortSignal, range: { start?: number; end?: number } = {}) {
  return createReadStream(file, { ...range, highWaterMark: chunkBytes, signal })
}

interface RowsEvent {
  readonly table: string
  readonly columns: readonly string[] | null
  readonly rows: readonly SourceRow[]
  readonly statementStart: number
  readonly end: number
}

function addRows(table: IndexedTable | undefined, event: RowsEvent, description: string): void {
  if (!table)
    throw new OperatorError(
      `the database dump in ${description} has rows of the unknown table ${event.table}`
    )
  const columns = event.columns ?? table.columns
  const idIndex = columns.indexOf('id')
  for (const row of event.rows) {
    if (row.length !== columns.length) {
      const counts = `${row.length} values instead of ${columns.length}`
      throw new OperatorError(
        `the database dump is damaged near byte ${event.end}: a row of ${event.table} has ${counts}`
      )
    }
    const id = Number(row[idIndex]) || 0
    if (id < table.maxId) table.isOrdered = false
    if (isUsableId(id)) table.maxId = Math.max(table.maxId, id)
  }
  table.rows += event.rows.length
  const last = table.sections.at(-1)
  if (last && last.end >= event.statementStart - gapBytes) last.end = event.end
  else table.sections.push({ start: event.statementStart, end: event.end })
}

/** Statements that are not farther apart than this are read at once. */
const gapBytes = 4_096

/** Puts the values into the order of the table. */
function inOrder(
  rows: readonly SourceRow[],
  columns: readonly string[] | null,
  table: SourceTable
): readonly SourceRow[] {
  if (columns === null || columns.join() === table.columns.join()) return rows
  const indexes = table.columns.map(name => columns.indexOf(name))
  return rows.map(row => indexes.map(index => row[index] ?? null))
}
