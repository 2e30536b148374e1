import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { type CopyIn, openCopyIn } from '../../stores/db/copy-in.ts'
import { listMigrations, runMigrations } from '../../stores/db/migrate.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import {
  type BackupHeader,
  type BackupManifest,
  openTableSummarizer,
  type TableSummary
} from './archive-contents.ts'
import { readTablesToDump, setCopyFormat } from './dump-tables.ts'
import { assertDatabaseNotInUse, emptyDatabase, type NotEmptyPolicy } from './empty-database.ts'

/** Gets the rows of tables, one table after the other. */
export type RowSink = (table: string, piece: Buffer) => Promise<void>

export interface RestoreTablesOptions {
  readonly ifNotEmpty: NotEmptyPolicy
  readonly onRows: (table: string, rows: number) => void
  /** Called when the rows are stored and indexes are built. */
  readonly onIndexes: () => void
  /** Whether Redis may have live states of another database. */
  readonly resetLiveStates: boolean
}

/** Throws an `OperatorError` if a backup is of a release with migrations that this one does not have. */
export async function assertCanRestore({ kind, migrations, version }: BackupHeader): Promise<void> {
  if (kind !== 'installation')
    throw new OperatorError('the file is the export of one station: use npm run import-station')
  const known = new Set(await listMigrations())
  const unknown = migrations.find(name => !known.has(name))
  if (unknown !== undefined)
    throw new OperatorError(
      `the backup was written by a newer release, Cuewire ${version} (${unknown}): restore it with that release`
    )
}

/**
 * Fills an empty database, all or nothing: creates the schema of the backup, loads the rows that `load` passes on,
 * compares them with the manifest that it returns, and migrates to the schema of this release. Returns the manifest.
 * Throws an `OperatorError` if the database is not empty.
 */
export async function restoreTables(
  sql: Sql,
  header: BackupHeader,
  load: (sink: RowSink) => Promise<BackupManifest>,
  { ifNotEmpty, onRows, onIndexes, resetLiveStates }: RestoreTablesOptions
): Promise<BackupManifest> {
  await assertCanRestore(header)
  const loaded = await sql.begin(async tx => {
    await setCopyFormat(tx)
    await tx`set local maintenance_work_mem = '128MB'`
    await assertDatabaseNotInUse(tx)
    await emptyDatabase(tx, ifNotEmpty)
    const included = new Set(header.migrations)
    await runMigrations(tx, name => included.has(name))
    await assertHasTables(tx, header)
    const finishLoading = await prepareLoading(tx)
    const loader = openLoader(tx, header, onRows)
    let manifest: BackupManifest
    try {
      manifest = await load(loader.write)
      await loader.end(manifest)
    } catch (error) {
      loader.abort()
      throw error
    }
    onIndexes()
    await moveSequences(tx, manifest)
    // An epoch without a live state: each state in Redis is replaced, whatever it is.
    if (resetLiveStates) await tx`update stations set epoch = '', epoch_since = '-infinity'`
    await finishLoading()
    await runMigrations(tx)
    return manifest
  })
  await sql`analyze`
  return loaded
}

async function assertHasTables(tx: Tx, header: BackupHeader): Promise<void> {
  const tables = new Map((await readTablesToDump(tx)).map(({ name, columns }) => [name, new Set(columns)]))
  for (const { name, columns } of header.tables) {
    const known = tables.get(name)
    const missing = columns.find(column => !known?.has(column))
    if (!known || missing !== undefined)
      throw new OperatorError(
        `the backup has the ${known ? `column ${name}.${missing}` : `table ${name}`}, which its migrations do not create`
      )
  }
}

/**
 * Removes references, indexes and triggers, so that rows load quickly and in any order, and rows that migrations have
 * inserted. The result puts them back, which checks the references.
 */
async function prepareLoading(tx: Tx): Promise<() => Promise<void>> {
  const references = await tx<{ table: string; name: string; definition: string }[]>`
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by conname`
  const indexes = await tx<{ name: string; definition: string }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = current_schema()::regnamespace
      and not exists (select from pg_constraint where conindid = i.indexrelid)
    order by c.relname`
  const tables = await readTablesToDump(tx)
  const withTriggers = await tx<{ name: string }[]>`
    select distinct tgrelid::regclass::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not tgisinternal and c.relnamespace = current_schema()::regnamespace`
  await runAll(tx, [
    ...references.map(({ table, name }) => `alter table ${table} drop constraint "${name}"`),
    ...indexes.map(({ name }) => `drop index ${name}`),
    ...withTriggers.map(({ name }) => `alter table ${name} disable trigger user`),
    `truncate ${tables.map(({ name }) => `"${name}"`).join(', ')}`
  ])
  return () =>
    runAll(tx, [
      ...indexes.map(({ definition }) => definition),
      ...references.map(
        ({ table, name, definition }) => `alter table ${table} add constraint "${name}" ${definition}`
      ),
      ...withTriggers.map(({ name }) => `alter table ${name} enable trigger user`)
    ])
}

/** In one round trip. */
async function runAll(tx: Tx, statements: readonly string[]): Promise<void> {
  await tx.unsafe(statements.join(';\n'))
}

function openLoader(tx: Tx, header: BackupHeader, onRows: RestoreTablesOptions['onRows']) {
  const columns = new Map(header.tables.map(table => [table.name, table.columns]))
  const loaded = new Map<string, TableSummary>()
  let current: {
    readonly table: string
    readonly copy: CopyIn
    readonly summary: ReturnType<typeof openTableSummarizer>
  } | null = null

  const endTable = async () => {
    if (current === null) return
    const { table, copy, summary } = current
    current = null
    await copy.end()
    loaded.set(table, summary.end())
    onRows(table, summary.rows())
  }
  return {
    write: async (table: string, piece: Buffer): Promise<void> => {
      if (current?.table !== table) {
        await endTable()
        const names = columns.get(table)
        if (names === undefined || loaded.has(table))
          throw new OperatorError(`the backup has unexpected rows of the table ${table}`)
        current = { table, copy: await openCopyIn(tx, table, names), summary: openTableSummarizer(table) }
      }
      current.summary.add(piece)
      await current.copy.write(piece)
      onRows(table, current.summary.rows())
    },
    abort: () => current?.copy.abort(),
    async end(manifest: BackupManifest): Promise<void> {
      await endTable()
      for (const { name, rows, sha256 } of manifest.tables) {
        const found = loaded.get(name) ?? openTableSummarizer(name).end()
        if (found.sha256 !== sha256)
          throw new OperatorError(
            `the backup is damaged: table ${name} has ${found.rows} of ${rows} rows or other content`
          )
      }
    }
  }
}

async function moveSequences(tx: Tx, { sequences }: BackupManifest): Promise<void> {
  for (const { name, value } of sequences)
    await tx`select setval(to_regclass(quote_ident(${name})), ${value}) where to_regclass(quote_ident(${name})) is not null`
}
