import type { BlockList } from 'node:net'

import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { addMissingPollRows } from '../../radio/polls/poll-rows.ts'
import { listMigrations } from '../../stores/db/migrate.ts'
import { assertShortName } from '../../stores/db/named-stations.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { repeatUpgradeSteps } from '../../stores/db/upgrade-step.ts'
import type { BackupHeader } from '../../upkeep/archives/archive-contents.ts'
import { backupHeaderPath, backupManifestPath } from '../../upkeep/archives/archive-contents.ts'
import {
  findArchivePathProblem,
  openStationFileWriter,
  type WrittenFiles
} from '../../upkeep/archives/data-files.ts'
import { setCopyFormat } from '../../upkeep/archives/dump-tables.ts'
import {
  type ArchiveContents,
  readArchiveFiles,
  parseTableEntryPath
} from '../../upkeep/archives/read-archive.ts'
import { explainRowFault } from '../../upkeep/archives/row-faults.ts'
import { stageRows } from './stage-rows.ts'
import { columnNamesOf, type ExportedTable, stationTables } from './station-tables.ts'

export interface StationImportOptions {
  /** Instead of the one in the file. */
  readonly shortName: string | null
  readonly dataDir: string
  /** Private networks that web hooks, remotes and remote playlists may lead to. */
  readonly allowedNetworks: BlockList
  readonly signal: AbortSignal
  readonly onRows: (table: string, rows: number) => void
}

export interface ImportedStation {
  readonly id: number
  readonly shortName: string
  /** Hooks that lack a credential. */
  readonly disabledHooks: number
  /** Files that were written. */
  readonly files: number
  /** Tables and columns of the file that exports do not have. */
  readonly ignored: readonly string[]
}

/**
 * Creates the station of a file that was verified, with new ids, all or nothing. The file may have been written by
 * anybody: only columns that exports have are taken, with values that the API accepts. Throws an `OperatorError` if its
 * short name is taken, the file is of another schema, or a value is not accepted.
 */
export async function importStation(
  sql: Sql,
  archive: string,
  { header, manifest }: ArchiveContents,
  { shortName, dataDir, allowedNetworks, signal, onRows }: StationImportOptions
): Promise<ImportedStation> {
  await assertSameSchema(header)
  const name = shortName ?? header.station?.shortName ?? ''
  const written: WrittenFiles[] = []
  try {
    return await sql.begin(async tx => {
      await setCopyFormat(tx)
      await assertIsFree(tx, name)
      const ignored = await stageRows(tx, archive, header, { signal, onRows, allowedNetworks })
      await assertHasOneStation(tx)
      await tx`update staged_stations set short_name = ${name}`
      for (const table of stationTables) await insertStaged(tx, table)
      const [row] = await tx<{ id: number }[]>`select new as id from new_ids_stations`
      if (row === undefined) throw new OperatorError('the file has no station')
      await addMissingPollRows(tx, row.id)
      // The station may come from an installation where they were not done.
      await repeatUpgradeSteps(tx)
      const [hooks] = await tx<{ count: number }[]>`
        select count(*) as count from webhooks where station_id = ${row.id} and config @> '[{"value": ""}]' and not is_enabled`
      // Before the commit, so that nothing is left if a file cannot be written.
      const files = openStationFileWriter(dataDir, row.id)
      written.push(files)
      await restoreFiles(archive, manifest.files.count, files, signal)
      return { id: row.id, shortName: name, disabledHooks: hooks?.count ?? 0, files: files.count(), ignored }
    })
  } catch (error) {
    for (const files of written) await files.remove()
    signal.throwIfAborted()
    throw await explainRowFault(sql, error)
  }
}

async function assertHasOneStation(tx: Tx): Promise<void> {
  const [found] = await tx<{ count: number }[]>`select count(*) as count from staged_stations`
  if (found?.count !== 1) throw new OperatorError(`the file has ${found?.count ?? 0} stations instead of one`)
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
  assertShortName(shortName)
  const [taken] = await tx<{ id: number; name: string }[]>`
    select id, name from stations where short_name = ${shortName}`
  if (taken)
    throw new OperatorError(
      `the short name ${shortName} belongs to station ${taken.id} (${taken.name}): choose another with --short-name`
    )
}

/** Inserts the staged rows of a table with new ids, and notes these in `new_ids_TABLE`. */
async function insertStaged(tx: Tx, table: ExportedTable): Promise<void> {
  const { name, references = {}, importedAs = {}, sharedBy } = table
  const columns = columnNamesOf(table)
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

async function restoreFiles(
  archive: string,
  count: number,
  files: WrittenFiles,
  signal: AbortSignal
): Promise<void> {
  if (count === 0) return
  await readArchiveFiles(archive, { signal }, async ({ path, content }) => {
    if (path === backupHeaderPath || path === backupManifestPath || parseTableEntryPath(path) !== null) return
    // The file may have changed since it was verified.
    const problem = findArchivePathProblem(path, 'station')
    if (problem !== null) throw new Error(`${JSON.stringify(path)} ${problem}`)
    await files.write(path.replace(/^data\//, ''), content)
  })
}
