import type { BlockList } from 'node:net'
import { isDeepStrictEqual } from 'node:util'

import * as v from 'valibot'

import { toFieldErrors } from '../../model/fields/validators.ts'
import { detectImageType } from '../../model/songs/image-type.ts'
import { findTargetProblem } from '../../platform/outbound/guard.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { type CopyIn, openCopyIn } from '../../stores/db/copy-in.ts'
import type { Tx } from '../../stores/db/sql.ts'
import type { BackupHeader } from '../../upkeep/archives/archive-contents.ts'
import { readArchiveFiles, parseTableEntryPath } from '../../upkeep/archives/read-archive.ts'
import { columnNamesOf, type StagedRow, type ExportedTable, stationTables } from './station-tables.ts'

/*
 * Rows of an exported station in temporary tables `staged_TABLE`, in which nothing refers to anything yet. The column
 * `"Row"` is their number in the file.
 */

export interface StageRowsOptions {
  readonly signal: AbortSignal
  readonly onRows: (table: string, rows: number) => void
  /** Private networks that addresses may lead to. */
  readonly allowedNetworks: BlockList
}

/**
 * Loads the rows of a file, with the columns that exports have. Throws an `OperatorError` with table, column and row
 * for the first value that is not accepted. Returns the names of tables and columns that were ignored.
 */
export async function stageRows(
  tx: Tx,
  archive: string,
  header: BackupHeader,
  options: StageRowsOptions
): Promise<readonly string[]> {
  const columns = new Map(header.tables.map(table => [table.name, table.columns]))
  for (const table of stationTables) await createStaged(tx, table, columns.get(table.name))
  await load(tx, archive, columns, options)
  for (const table of stationTables) {
    await setTypes(tx, table.name, columnNamesOf(table))
    await checkRows(tx, table, options)
    if (table.picture) await checkPictures(tx, table.name, table.picture)
  }
  return findIgnored(header)
}

/** As text, so that COPY accepts every row. */
async function createStaged(
  tx: Tx,
  table: ExportedTable,
  columns: readonly string[] | undefined
): Promise<void> {
  if (columns === undefined) throw new OperatorError(`the file has no table ${table.name}`)
  const missing = columnNamesOf(table).find(column => !columns.includes(column))
  if (missing !== undefined) throw new OperatorError(`the file has no column ${table.name}.${missing}`)
  const list = columns.map(column => `, "${column}" text`).join('')
  await tx.unsafe(
    `create temporary table staged_${table.name} ("Row" bigint generated always as identity primary key${list}) on commit drop`
  )
}

function findIgnored({ tables }: BackupHeader): string[] {
  return tables.flatMap(({ name, columns }) => {
    const table = stationTables.find(each => each.name === name)
    if (!table) return [name]
    const known = columnNamesOf(table)
    return columns.filter(column => !known.includes(column)).map(column => `${name}.${column}`)
  })
}

async function load(
  tx: Tx,
  archive: string,
  columns: ReadonlyMap<string, readonly string[]>,
  { signal, onRows }: StageRowsOptions
): Promise<void> {
  const known = new Set(stationTables.map(({ name }) => name))
  const state: { table: string; copy: CopyIn | null; pieces: number } = { table: '', copy: null, pieces: 0 }
  const refuse = (cause: unknown): never => {
    throw new OperatorError(`the rows of the table ${state.table} are not in the text format of COPY`, {
      cause
    })
  }
  const begin = async (table: string) => {
    await state.copy?.end().catch(refuse)
    state.copy = null
    Object.assign(state, { table, pieces: 0 })
    state.copy = await openCopyIn(tx, `staged_${table}`, columns.get(table) ?? [])
    return state.copy
  }
  try {
    await readArchiveFiles(archive, { signal }, async ({ path, content }) => {
      const table = parseTableEntryPath(path)
      if (table === null || !known.has(table)) return
      const copy = state.copy !== null && state.table === table ? state.copy : await begin(table)
      for await (const piece of content) await copy.write(piece).catch(refuse)
      onRows(table, (state.pieces += 1))
    })
    await state.copy?.end().catch(refuse)
  } catch (error) {
    state.copy?.abort()
    throw error
  }
}

/** Gives columns the types that they have in the database. */
async function setTypes(tx: Tx, name: string, columns: readonly string[]): Promise<void> {
  const types = await tx<{ name: string; type: string }[]>`
    select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = to_regclass(quote_ident(${name})) and attname = any(${[...columns]}::text[]) and atttypid <> 'text'::regtype`
  const change = (list: readonly { name: string; type: string }[]) =>
    tx.savepoint(inner =>
      inner.unsafe(
        `alter table staged_${name} ${list.map(each => `alter "${each.name}" type ${each.type} using "${each.name}"::${each.type}`).join(', ')}`
      )
    )
  if (types.length === 0) return
  try {
    await change(types)
  } catch (error) {
    if (!errorCodeOf(error).startsWith('22')) throw error
    // Postgres does not say which one it is.
    for (const column of types)
      await change([column]).catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : String(cause)
        throw new OperatorError(`${name}.${column.name} is not accepted: ${reason.slice(0, 300)}`, { cause })
      })
    throw error
  }
}

const rowsAtOnce = 1_000

/** Checks the values of all rows, and stores them as they are accepted. */
async function checkRows(
  tx: Tx,
  table: ExportedTable,
  { allowedNetworks, signal }: StageRowsOptions
): Promise<void> {
  const { name, accept = row => row, addresses } = table
  const checked = Object.keys(table.columns)
  const list = checked.map(column => `"${column}"`).join(', ')
  for (let after = 0; ;) {
    signal.throwIfAborted()
    const rows = await tx.unsafe<{ place: number; row: StagedRow }[]>(
      `select "Row" as place, (select row_to_json(c) from (select ${list}) c) as row from staged_${name}
       where "Row" > ${after} order by "Row" limit ${rowsAtOnce}`
    )
    const changed: StagedRow[] = []
    for (const { place, row } of rows) {
      const valid = acceptValues(table, place, row)
      const accepted = accept(valid)
      if (isProblem(accepted)) throw refusal(name, accepted.column, place, valid, accepted.sentence)
      for (const { column, url } of addresses?.(accepted) ?? []) {
        const problem = await findTargetProblem(url, allowedNetworks)
        if (problem) throw refusal(name, column, place, { [column]: url }, problem.sentence)
      }
      if (!isDeepStrictEqual(accepted, row)) changed.push({ ...accepted, Row: place })
    }
    if (changed.length > 0)
      await tx.unsafe(
        `update staged_${name} s set ${checked.map(column => `"${column}" = r."${column}"`).join(', ')}
         from jsonb_populate_recordset(null::staged_${name}, $1::text::jsonb) r where s."Row" = r."Row"`,
        [JSON.stringify(changed)]
      )
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsAtOnce) return
    after = last.place
  }
}

type Problem = { readonly column: string; readonly sentence: string }

const isProblem = (value: StagedRow | Problem): value is Problem =>
  Object.keys(value).length === 2 && 'column' in value && 'sentence' in value

function acceptValues({ name, columns }: ExportedTable, place: number, row: StagedRow): StagedRow {
  const accepted: Record<string, unknown> = {}
  for (const [column, value] of Object.entries(row)) {
    const field = columns[column]
    if (!field) continue
    const result = v.safeParse(field.input, value, { abortPipeEarly: true })
    if (!result.success) {
      const [problem] = toFieldErrors(result.issues, column)
      const sentence = problem?.message.startsWith(`${problem.field} `)
        ? problem.message.slice(problem.field.length + 1)
        : 'is not accepted.'
      throw refusal(name, column, place, row, sentence)
    }
    accepted[column] = result.output
  }
  return accepted
}

const maxShown = 100

function refusal(table: string, column: string, place: number, row: StagedRow, sentence: string) {
  const value = JSON.stringify(row[column] ?? null)
  const shown = value.length > maxShown ? `${value.slice(0, maxShown)}…` : value
  return new OperatorError(`${table}.${column} of row ${place} ${sentence} (got ${shown})`)
}

const startBytes = 12

/** Stores the type and the hash that the bytes of pictures have. */
async function checkPictures(
  tx: Tx,
  name: string,
  { bytes, type, hash, isKey }: NonNullable<ExportedTable['picture']>
): Promise<void> {
  for (let after = 0; ;) {
    const rows = await tx.unsafe<{ place: number; start: Uint8Array | null; hash: string; stored: string }[]>(
      `select "Row" as place, substr("${bytes}", 1, ${startBytes}) as start, encode(sha256("${bytes}"), 'hex') as hash,
         "${hash}" as stored
       from staged_${name} where "Row" > ${after} order by "Row" limit ${rowsAtOnce}`
    )
    const types: (string | null)[] = []
    for (const row of rows) {
      const found = row.start === null ? null : detectImageType(row.start)
      if (found === null && (row.start !== null || isKey))
        throw new OperatorError(
          `${name}.${bytes} of row ${row.place} is not a JPEG, PNG, WebP or GIF picture`
        )
      if (isKey && row.hash !== row.stored)
        throw new OperatorError(`${name}.${hash} of row ${row.place} is not the SHA-256 of its picture`)
      types.push(found)
    }
    const places = rows.map(({ place }) => place)
    await tx.unsafe(
      `update staged_${name} s set "${type}" = r.type, "${hash}" = r.hash
       from unnest($1::bigint[], $2::text[], $3::text[]) as r (place, type, hash) where s."Row" = r.place`,
      [places, types, rows.map(row => row.hash)]
    )
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsAtOnce) return
    after = last.place
  }
}
