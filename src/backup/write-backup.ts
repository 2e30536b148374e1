import { createWriteStream } from 'node:fs'
import { access, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { finished } from 'node:stream/promises'

import type { Sql } from '../db/sql.ts'
import { codeOf, OperatorError } from '../runtime/errors.ts'
import { openArchiveWriter } from './archive-writer.ts'
import { type BackupManifest, manifestPath, openFilesSummary } from './contents.ts'
import { findFiles } from './data-files.ts'
import { dumpTables } from './dump-tables.ts'
import { type ArchiveContents, verifyArchive } from './read-archive.ts'

export interface BackupOptions {
  readonly dataDir: string
  /** Whether songs and recordings are included. */
  readonly media: boolean
  readonly signal: AbortSignal
  readonly onRows: (table: string, rows: number, total: number) => void
  readonly onFiles: (files: number) => void
  /** The share of the archive that was read back. */
  readonly onCheck: (share: number) => void
}

export interface BackupResult extends ArchiveContents {
  readonly bytes: number
  /** Files that could not be read. */
  readonly unreadable: readonly string[]
}

/**
 * Writes a backup of a database and of the files of its stations, while the program runs, and reads it back. The file appears when it
 * is complete. Throws an `OperatorError` if it exists or cannot be written.
 */
export async function writeBackup(sql: Sql, archive: string, options: BackupOptions): Promise<BackupResult> {
  const { signal } = options
  await assertIsNew(archive)
  const partial = `${archive}.partial`
  try {
    await mkdir(dirname(archive), { recursive: true })
    const unreadable = await writeArchive(sql, partial, options)
    const contents = await verifyArchive(partial, { signal, onProgress: options.onCheck })
    const bytes = await syncFile(partial)
    await rename(partial, archive)
    return { ...contents, bytes, unreadable }
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {})
    if (['ENOSPC', 'EACCES', 'EROFS', 'ENOTDIR', 'EDQUOT', 'EPERM'].includes(codeOf(error)))
      throw new OperatorError(`${archive} cannot be written (${codeOf(error)})`, { cause: error })
    throw error
  }
}

async function assertIsNew(archive: string): Promise<void> {
  const isThere = await access(archive).then(
    () => true,
    () => false
  )
  if (isThere) throw new OperatorError(`${archive} exists already: choose another name, or remove it`)
}

async function writeArchive(
  sql: Sql,
  file: string,
  { dataDir, media, signal, onRows, onFiles }: BackupOptions
): Promise<string[]> {
  await rm(file, { force: true })
  const sink = createWriteStream(file, { mode: 0o600, flags: 'wx' })
  const writer = openArchiveWriter(sink, { isCompressed: true, signal })
  try {
    const { tables, sequences } = await dumpTables(sql, writer, {
      media: media ? 'included' : 'by reference',
      signal,
      onRows
    })
    const summary = openFilesSummary()
    const unreadable: string[] = []
    let files = 0
    for await (const each of findFiles(sql, dataDir, { media })) {
      signal.throwIfAborted()
      summary.begin()
      const size = await writer.addFile(each.path, each.file, chunk => summary.add(chunk))
      if (size === null) unreadable.push(each.file)
      else summary.endFile(each.path, size)
      onFiles((files += 1))
    }
    const manifest: BackupManifest = { tables, sequences, files: summary.end() }
    await writer.addText(manifestPath, JSON.stringify(manifest, null, 2))
    await writer.finish()
    return unreadable
  } catch (error) {
    sink.destroy()
    await finished(sink).catch(() => {})
    throw error
  }
}

async function syncFile(file: string): Promise<number> {
  await using handle = await open(file)
  await handle.sync()
  return (await handle.stat()).size
}
