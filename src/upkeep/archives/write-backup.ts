import type { Sql } from '../../stores/db/sql.ts'
import { type BackupManifest, backupManifestPath, openFilesSummarizer } from './archive-contents.ts'
import { findDataFiles } from './data-files.ts'
import { dumpTables } from './dump-tables.ts'
import { type ArchiveResult, writeArchive, type WriteArchiveOptions } from './write-archive.ts'

export interface BackupOptions extends WriteArchiveOptions {
  readonly dataDir: string
  /** Whether songs and recordings are included. */
  readonly media: boolean
  readonly onRows: (table: string, rows: number, total: number) => void
  readonly onFiles: (files: number) => void
}

/** Writes a backup of a database and of the files of its stations, while the program runs, and reads it back. */
export function writeBackup(
  sql: Sql,
  archive: string,
  { dataDir, media, signal, onRows, onFiles, onCheck }: BackupOptions
): Promise<ArchiveResult> {
  return writeArchive(archive, { signal, onCheck }, async writer => {
    const { tables, sequences } = await dumpTables(sql, writer, {
      media: media ? 'included' : 'by reference',
      signal,
      onRows
    })
    const summary = openFilesSummarizer()
    const unreadable: string[] = []
    let files = 0
    for await (const each of findDataFiles(sql, dataDir, { media })) {
      signal.throwIfAborted()
      summary.begin()
      const size = await writer.addFile(each.path, each.file, chunk => summary.add(chunk))
      if (size === null) unreadable.push(each.file)
      else summary.endFile(each.path, size)
      onFiles((files += 1))
    }
    const manifest: BackupManifest = { tables, sequences, files: summary.end() }
    await writer.addText(backupManifestPath, JSON.stringify(manifest, null, 2))
    return unreadable
  })
}
