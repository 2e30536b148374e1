import type { Sql, Tx } from '../../stores/db/sql.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import type { OpenedAzuracastBackup } from './azuracast-backup.ts'
import type { IdMap, RecordKind } from './id-map.ts'
import type { MigrationReport } from './migration-report.ts'
import { type AzuracastSource, type RowReader, openRowReader, type SourceRow } from './source.ts'
import { isUsableId } from './usable-values.ts'

/** What to do with a station whose id or short name a station of Cuewire has. */
export const conflictRules = ['refuse', 'renumber', 'skip', 'replace'] as const
export type ConflictRule = (typeof conflictRules)[number]

/** A station that is taken. */
export interface MigratedStation {
  readonly sourceId: number
  readonly id: number
  readonly name: string
  readonly shortName: string
  readonly timezone: string
  /** The storage location of its media, by its id in AzuraCast. */
  readonly mediaLocation: number
  readonly isEnabled: boolean
  /** Whether playlists may offer their songs on demand. */
  readonly hasOnDemand: boolean
}

/** A migration in progress. */
export interface AzuracastMigration {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly source: AzuracastSource
  /** The identifier of the installation of AzuraCast. */
  readonly installation: string
  readonly ids: IdMap
  readonly report: MigrationReport
  /** The files of a backup; none for other sources. */
  readonly files: Pick<OpenedAzuracastBackup, 'hasFiles' | 'forEachFile'>
  readonly isDryRun: boolean
  readonly onConflict: ConflictRule
  /** Where media are copied; null: they stay where they are. */
  readonly copyMediaTo: string | null
  /** The `DATA_DIR` of Cuewire. */
  readonly dataDir: string
  /** The folders below which local storage may lie. */
  readonly storageRoots: readonly string[]
  readonly signal: AbortSignal
  /** Called with the number of rows of a table that were read. */
  readonly onRows: (table: string, rows: number) => void
  /** By the id in AzuraCast. */
  readonly stations: Map<number, MigratedStation>
}

interface Progress {
  readonly lastId: number
  readonly isComplete: boolean
}

/** Reads how far a step came in earlier runs. */
export async function readStepProgress(
  { sql, installation }: AzuracastMigration,
  step: string
): Promise<Progress> {
  const [row] = await sql<Progress[]>`
    select last_id as "lastId", is_complete as "isComplete" from azuracast_progress
    where installation = ${installation} and step = ${step}`
  return row ?? { lastId: 0, isComplete: false }
}

/** Stores how far a step is, in the transaction that writes its records. */
export async function storeStepProgress(
  tx: Tx,
  { installation }: Pick<AzuracastMigration, 'installation'>,
  step: string,
  { lastId = 0, isComplete = false }: Partial<Progress>
): Promise<void> {
  await tx`
    insert into azuracast_progress (installation, step, last_id, is_complete)
    values (${installation}, ${step}, ${lastId}, ${isComplete})
    on conflict (installation, step) do update
      set last_id = greatest(azuracast_progress.last_id, excluded.last_id), is_complete = excluded.is_complete`
}

/** Reads all rows of a table, each with a reader of its values. */
export async function* readSourceRows(
  migration: Pick<AzuracastMigration, 'source' | 'onRows' | 'signal'>,
  table: string
): AsyncGenerator<{ readonly row: SourceRow; readonly read: RowReader }> {
  const read = openRowReader(migration.source.tables.get(table))
  for await (const rows of migration.source.rows(table)) {
    migration.signal.throwIfAborted()
    migration.onRows(table, rows.length)
    for (const row of rows) yield { row, read }
  }
}

interface TableStep<Item> {
  readonly table: string
  /** If other records refer to its records. */
  readonly kind?: RecordKind
  /** For the report, in the plural. */
  readonly title: string
  /** Name of the progress; the table if absent. */
  readonly step?: string
  readonly batch?: number
  /** Whether rows that an earlier run has written are only counted. */
  readonly convertsOnlyNew?: boolean
  /** Converts a row; null if it is not taken, which it reports. Must not depend on what was written before. */
  readonly convert: (row: SourceRow, read: RowReader, sourceId: number) => Promise<Item | null> | Item | null
  /** Writes converted rows that no earlier run has written. */
  readonly write: (tx: Tx, items: readonly Item[]) => Promise<void>
}

/**
 * Takes a table in batches. Rows that an earlier run has written are converted again, for the report, but not
 * written.
 */
export async function migrateSourceTable<Item>(
  migration: AzuracastMigration,
  step: TableStep<Item>
): Promise<void> {
  const { table, title, kind, batch: batchSize = 1_000 } = step
  const name = step.step ?? table
  const { lastId: doneId } = await readStepProgress(migration, name)
  let batch: Item[] = []
  let lastId = doneId
  let previousId = 0
  let total = 0
  let added = 0
  let writing = Promise.resolve()
  const write = (items: readonly Item[], upTo: number) =>
    migration.sql.begin(async tx => {
      await step.write(tx, items)
      await storeStepProgress(tx, migration, name, { lastId: upTo })
    })
  // While Postgres writes a batch, the next one is converted.
  const flush = async () => {
    const items = batch
    batch = []
    if (items.length === 0) return
    added += items.length
    await writing
    if (migration.isDryRun) return
    writing = write(items, lastId).then(() => {})
    // Its error is thrown where it is awaited.
    writing.catch(() => {})
  }
  try {
    for await (const { row, read } of readSourceRows(migration, table)) {
      const sourceId = read.number(row, 'id')
      if (!isUsableId(sourceId) || sourceId === previousId) {
        migration.report.leave(
          'rows with an id that is not usable, or that another row has',
          `${table}: ${read.text(row, 'id')}`
        )
        continue
      }
      previousId = sourceId
      if (sourceId <= doneId && step.convertsOnlyNew) {
        total += 1
        continue
      }
      const item = await step.convert(row, read, sourceId)
      if (item === null) continue
      if (kind) migration.ids.add(kind, sourceId)
      total += 1
      if (sourceId <= doneId) continue
      batch.push(item)
      lastId = Math.max(lastId, sourceId)
      if (batch.length >= batchSize) await flush()
    }
    await flush()
    await writing
  } finally {
    // Nothing is written any more when an error or an abort ends the migration.
    await writing.catch(() => {})
  }
  if (total > 0) migration.report.take(title, total, added)
}
