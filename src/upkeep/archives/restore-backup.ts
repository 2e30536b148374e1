import type { Sql } from '../../stores/db/sql.ts'
import { backupHeaderPath, backupManifestPath } from './archive-contents.ts'
import { openFileRestorer, type RestoredFiles } from './data-files.ts'
import type { NotEmptyPolicy } from './empty-database.ts'
import type { ArchiveContents } from './read-archive.ts'
import { readArchiveFiles, parseTableEntryPath } from './read-archive.ts'
import { restoreTables } from './restore-tables.ts'
import { explainRowFault } from './row-faults.ts'

export interface RestoreBackupOptions {
  readonly ifNotEmpty: NotEmptyPolicy
  readonly dataDir: string
  /** Folders that may contain files outside of DATA_DIR. */
  readonly roots: readonly string[]
  readonly signal: AbortSignal
  readonly onRows: (table: string, rows: number) => void
  readonly onIndexes: () => void
  /** Called when the database is restored, before files are written. */
  readonly onCommit: () => Promise<void>
  readonly onFiles: (files: number) => void
}

/** Restores a backup that was verified: first the database, all or nothing, then the files. */
export async function restoreBackup(
  sql: Sql,
  archive: string,
  { header, manifest }: ArchiveContents,
  { ifNotEmpty, dataDir, roots, signal, onRows, onIndexes, onCommit, onFiles }: RestoreBackupOptions
): Promise<RestoredFiles> {
  await restoreTables(
    sql,
    header,
    async sink => {
      await readArchiveFiles(archive, { signal }, async ({ path, content }) => {
        const table = parseTableEntryPath(path)
        if (table === null) return path === backupHeaderPath ? undefined : 'stop'
        for await (const piece of content) await sink(table, piece)
        return undefined
      })
      return manifest
    },
    { ifNotEmpty, onRows, onIndexes, resetLiveStates: true }
  ).catch(async (error: unknown) => {
    signal.throwIfAborted()
    throw await explainRowFault(sql, error)
  })
  await onCommit()
  const files = await openFileRestorer(sql, dataDir, roots)
  if (manifest.files.count === 0) return files.result()
  let count = 0
  await readArchiveFiles(archive, { signal }, async file => {
    if (
      file.path === backupHeaderPath ||
      file.path === backupManifestPath ||
      parseTableEntryPath(file.path) !== null
    )
      return
    await files.write(file)
    onFiles((count += 1))
  })
  return files.result()
}
