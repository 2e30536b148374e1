import { version } from '../../platform/process/program-files.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import {
  backupFormat,
  type BackupHeader,
  type BackupManifest,
  backupHeaderPath,
  openTableSummarizer,
  backupTableFolder,
  type TableSummary
} from './archive-contents.ts'
import type { ArchiveWriter } from './archive-writer.ts'

/**
 * Rows of these describe running processes or files that are still being uploaded, say what was done to this
 * database, are messages that this installation sends, or are salts, which must not outlive their days.
 */
export const tablesLeftOut = [
  'migrations',
  'processes',
  'uploads',
  'cover_lookup_lease',
  'listener_salts',
  'upgrade_steps',
  'announced_alerts',
  'alert_messages'
]

/** Rows are collected to entries of this size. */
const entryBytes = 4 * 1024 * 1024

export interface DumpOptions {
  readonly media: BackupHeader['media']
  readonly signal: AbortSignal
  /** How many rows of a table were written; `total` is an estimate. */
  readonly onRows: (table: string, rows: number, total: number) => void
}

/**
 * Writes the header and all tables of a database as they were at one moment, while others write to it. Returns the
 * summaries of the tables and the sequences. Throws an `OperatorError` if it is not a database of Cuewire.
 */
export async function dumpTables(
  sql: Sql,
  writer: ArchiveWriter,
  { media, signal, onRows }: DumpOptions
): Promise<Pick<BackupManifest, 'tables' | 'sequences'>> {
  return runInSnapshot(sql, async tx => {
    const tables = await readTablesToDump(tx)
    await writeBackupHeader(tx, writer, { kind: 'installation', tables, media })
    const summaries: TableSummary[] = []
    for (const table of tables) {
      signal.throwIfAborted()
      summaries.push(await dumpTable(tx, writer, table, rows => onRows(table.name, rows, table.estimate)))
    }
    return { tables: summaries, sequences: await readSequences(tx) }
  })
}

/** Runs in a read-only transaction that sees the database as it is now. */
export function runInSnapshot<Result>(sql: Sql, run: (tx: Tx) => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const running = sql.begin('isolation level repeatable read read only', async tx => {
      await setCopyFormat(tx)
      try {
        resolve(await run(tx))
      } catch (error) {
        // After a fault within a COPY the package reports only that it cannot roll back.
        reject(error)
        throw error
      }
    })
    running.catch(reject)
  })
}

/** Writes `backup.json`. Throws an `OperatorError` if the database is not one of Cuewire. */
export async function writeBackupHeader(
  tx: Tx,
  writer: ArchiveWriter,
  { tables, ...rest }: Pick<BackupHeader, 'kind' | 'station' | 'tables' | 'media'>
): Promise<void> {
  const header: BackupHeader = {
    format: backupFormat,
    version,
    createdAt: new Date().toISOString(),
    postgresVersion: await readPostgresVersion(tx),
    migrations: await readMigrations(tx),
    tables: tables.map(({ name, columns }) => ({ name, columns })),
    ...rest
  }
  await writer.addText(backupHeaderPath, JSON.stringify(header, null, 2))
}

/** Sets what the text of values depends on, and lets the transaction wait while the archive is written. */
export async function setCopyFormat(tx: Tx): Promise<void> {
  await tx`set local timezone = 'UTC'`
  await tx`set local datestyle = 'ISO, YMD'`
  await tx`set local intervalstyle = 'iso_8601'`
  await tx`set local bytea_output = 'hex'`
  await tx`set local extra_float_digits = 1`
  await tx`set local idle_in_transaction_session_timeout = 0`
}

interface TableToDump {
  readonly name: string
  readonly columns: string[]
  /** SQL: the rows, if not the whole table. */
  readonly query?: string
}

/** The tables of the program, with the columns that are not computed. */
export async function readTablesToDump(tx: Tx): Promise<(TableToDump & { readonly estimate: number })[]> {
  return tx<(TableToDump & { estimate: number })[]>`
    select c.relname as name, greatest(c.reltuples, 0)::int8 as estimate,
      array(select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum) as columns
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> all(${tablesLeftOut})
      and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'e')
    order by c.relname`
}

async function readMigrations(tx: Tx): Promise<string[]> {
  const [known] = await tx<{ isThere: boolean }[]>`select to_regclass('migrations') is not null as "isThere"`
  if (!known?.isThere)
    throw new OperatorError('the database is not one of Cuewire: it has no table "migrations"')
  const rows = await tx<{ name: string }[]>`select name from migrations order by name`
  return rows.map(({ name }) => name)
}

async function readPostgresVersion(tx: Tx): Promise<string> {
  const [row] = await tx<{ name: string }[]>`select current_setting('server_version') as name`
  return row?.name ?? ''
}

/** Sequences only count up, so their current values are beyond all rows of the snapshot. */
async function readSequences(tx: Tx): Promise<BackupManifest['sequences']> {
  return tx<{ name: string; value: number }[]>`
    select sequencename::text as name, last_value as value from pg_sequences
    where schemaname = current_schema() and last_value is not null order by sequencename`
}

/** Writes the rows of a table, in the text format of COPY. */
export async function dumpTable(
  tx: Tx,
  writer: ArchiveWriter,
  { name, columns, query }: TableToDump,
  onRows: (rows: number) => void
): Promise<TableSummary> {
  const quoted = columns.map(column => `"${column}"`).join(', ')
  const source = query === undefined ? `"${name}" (${quoted})` : `(${query})`
  const rows = await tx.unsafe(`copy ${source} to stdout`).readable()
  const summary = openTableSummarizer(name)
  let chunks: Buffer[] = []
  let bytes = 0
  let entries = 0
  const flush = async () => {
    if (bytes === 0) return
    entries += 1
    await writer.addText(
      `${backupTableFolder}/${name}/${String(entries).padStart(6, '0')}`,
      Buffer.concat(chunks)
    )
    chunks = []
    bytes = 0
    onRows(summary.rows())
  }
  for await (const read of rows) {
    const chunk: Buffer = read
    summary.add(chunk)
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= entryBytes) await flush()
  }
  // The package pauses its socket when the stream is full, also with the last rows, after which nothing resumes it.
  // oxlint-disable-next-line no-underscore-dangle
  rows._read(0)
  await flush()
  onRows(summary.rows())
  return summary.end()
}
