import { addMissingPollRows } from '../broadcast/polls/poll-rows.ts'
import { openCopyIn } from '../db/copy-in.ts'
import { listMigrations } from '../db/migrate.ts'
import type { Sql, Tx } from '../db/sql.ts'
import { repeatUpgradeSteps } from '../db/upgrade-steps.ts'
import { OperatorError } from '../runtime/errors.ts'
import type { BackupHeader } from './contents.ts'
import { headerPath, manifestPath } from './contents.ts'
import { openFileRestore, type RestoredFiles } from './data-files.ts'
import { useCopyFormat } from './dump-tables.ts'
import { type ArchiveContents, readFiles, tableOf } from './read-archive.ts'
import { type StationTable, stationTables } from './station-tables.ts'

export interface ImportOptions {
  /** Instead of the one in the file. */
  readonly shortName: string | null
  readonly dataDir: string
  readonly signal: AbortSignal
  readonly onRows: (table: string, rows: number) => void
}

export interface ImportedStation {
  readonly id: number
  readonly shortName: string
  /** Hooks that lack a credential. */
  readonly disabledHooks: number
  readonly files: RestoredFiles
}

/**
 * Creates the station of a file that was verified, with new ids, all or nothing. Throws an `OperatorError` if its short name is taken
 * or the file is of another schema.
 */
export async function importStation(
  sql: Sql,
  archive: string,
  { header, manifest }: ArchiveContents,
  { shortName, dataDir, signal, onRows }: ImportOptions
): Promise<ImportedStation> {
  await assertSameSchema(header)
  const name = shortName ?? header.station?.shortName ?? ''
  const created = await sql.begin(async tx => {
    await useCopyFormat(tx)
    await assertIsFree(tx, name)
    await stage(tx, archive, header, { signal, onRows })
    await tx`update staged_stations set short_name = ${name}`
    for (const table of stationTables) await insertStaged(tx, table, header)
    const [row] = await tx<{ id: number }[]>`select new as id from new_ids_stations`
    if (row === undefined) throw new OperatorError('the file has no station')
    await addMissingPollRows(tx, row.id)
    // The station may come from an installation where they were not done.
    await repeatUpgradeSteps(tx)
    const [hooks] = await tx<{ count: number }[]>`
      select count(*) as count from webhooks where station_id = ${row.id} and config @> '[{"value": ""}]' and not is_enabled`
    return { id: row.id, disabledHooks: hooks?.count ?? 0 }
  })
  const files = await restoreFiles(sql, archive, manifest.files.count, created.id, { dataDir, signal })
  return { ...created, shortName: name, files }
}

async function assertSameSchema({ kind, migrations, version }: BackupHeader): Promise<void> {
  if (kind !== 'station')
    throw new OperatorError('the file is a backup of an installation: use npm run restore')
  const known = await listMigrations()
  if (known.join() === migrations.join()) return
  throw new OperatorError(
    `the station was exported by Cuewire ${version} with another schema (${migrations.at(-1) ?? 'none'} instead of ${known.at(-1) ?? ''}): ` +
      'upgrade the older installation, and export it again'
  )
}

async function assertIsFree(tx: Tx, shortName: string): Promise<void> {
  if (!/^[\w-]{1,100}$/.test(shortName) || /^\d*$/.test(shortName))
    throw new OperatorError(
      `${JSON.stringify(shortName)} cannot be a short name: use letters, digits, _ and -, and not only digits`
    )
  const [taken] = await tx<{ id: number; name: string }[]>`
    select id, name from stations where short_name = ${shortName}`
  if (taken)
    throw new OperatorError(
      `the short name ${shortName} belongs to station ${taken.id} (${taken.name}): choose another with --short-name`
    )
}

/** Loads all rows into temporary tables without constraints. */
async function stage(
  tx: Tx,
  archive: string,
  header: BackupHeader,
  { signal, onRows }: Pick<ImportOptions, 'signal' | 'onRows'>
): Promise<void> {
  const columns = new Map<string, readonly string[]>()
  for (const { name } of stationTables) {
    const found = header.tables.find(table => table.name === name)
    if (found === undefined) throw new OperatorError(`the file has no table ${name}`)
    columns.set(name, found.columns)
    const list = found.columns.map(column => `"${column}"`).join(', ')
    await tx.unsafe(
      `create temporary table staged_${name} on commit drop as select ${list} from "${name}" with no data`
    )
  }
  let current: { table: string; copy: Awaited<ReturnType<typeof openCopyIn>>; pieces: number } | null = null
  const endTable = async () => {
    const ending = current
    current = null
    await ending?.copy.end()
  }
  const load = readFiles(archive, { signal }, async ({ path, content }) => {
    const table = tableOf(path)
    if (table === null) return path === headerPath ? undefined : 'stop'
    if (current?.table !== table) {
      await endTable()
      current = {
        table,
        copy: await openCopyIn(tx, `staged_${table}`, columns.get(table) ?? []),
        pieces: 0
      }
    }
    for await (const piece of content) await current.copy.write(piece)
    onRows(table, (current.pieces += 1))
    return undefined
  })
  await load.catch((error: unknown) => {
    current?.copy.abort()
    throw error
  })
  await endTable()
}

/** Inserts the staged rows of a table with new ids, and notes these in `new_ids_TABLE`. */
async function insertStaged(tx: Tx, table: StationTable, header: BackupHeader): Promise<void> {
  const { name, references = {}, importedAs = {}, sharedBy } = table
  const columns = header.tables.find(each => each.name === name)?.columns ?? []
  const hasId = columns.includes('id')
  if (hasId) {
    await tx.unsafe(
      `create temporary table new_ids_${name} (old bigint primary key, new bigint not null) on commit drop`
    )
    const existing =
      sharedBy === undefined
        ? 'null::bigint'
        : `(select t.id from "${name}" t where lower(t."${sharedBy}") = lower(s."${sharedBy}") limit 1)`
    await tx.unsafe(`
      insert into new_ids_${name}
      select id, coalesce(existing, nextval(pg_get_serial_sequence('${name}', 'id')))
      from (select s.id, ${existing} as existing from staged_${name} s order by s.id) r`)
    await tx.unsafe(`analyze new_ids_${name}`)
  }
  const values = columns.map(column => {
    if (column === 'id') return `(select new from new_ids_${name} where old = s.id)`
    const referenced = references[column]
    if (referenced !== undefined) return `(select new from new_ids_${referenced} where old = s."${column}")`
    return importedAs[column] ?? `s."${column}"`
  })
  const onConflict = sharedBy === undefined ? '' : 'on conflict do nothing'
  await tx.unsafe(`
    insert into "${name}" (${columns.map(column => `"${column}"`).join(', ')}) overriding system value
    select ${values.join(', ')} from staged_${name} s ${onConflict}`)
}

/** Files are written to the folder of the new station. */
async function restoreFiles(
  sql: Sql,
  archive: string,
  count: number,
  stationId: number,
  { dataDir, signal }: Pick<ImportOptions, 'dataDir' | 'signal'>
): Promise<RestoredFiles> {
  const files = await openFileRestore(sql, dataDir, [])
  if (count > 0)
    await readFiles(archive, { signal }, async ({ path, content }) => {
      if (path === headerPath || path === manifestPath || tableOf(path) !== null) return
      await files.write({ path: path.replace(/^data\//, `data/stations/${stationId}/`), content })
    })
  return files.result()
}
