import { createWriteStream } from 'node:fs'
import { access, open, rename, rm } from 'node:fs/promises'
import { finished } from 'node:stream/promises'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { type ArchiveWriter, openArchiveWriter } from './archive-writer.ts'
import { type ArchiveContents, verifyArchive } from './read-archive.ts'

export interface WriteArchiveOptions {
  readonly signal: AbortSignal
  /** The share of the archive that was read back. */
  readonly onCheck: (share: number) => void
}

export interface ArchiveResult extends ArchiveContents {
  readonly bytes: number
  /** Files that could not be read. */
  readonly unreadable: readonly string[]
}

/**
 * Writes an archive with `fill`, which returns the files that it could not read, and reads it back. The file appears
 * when it is complete. Throws an `OperatorError` if it exists or cannot be written.
 */
export async function writeArchive(
  archive: string,
  { signal, onCheck }: WriteArchiveOptions,
  fill: (writer: ArchiveWriter) => Promise<readonly string[]>
): Promise<ArchiveResult> {
  await assertArchiveIsNew(archive)
  const partial = `${archive}.partial`
  try {
    const unreadable = await writeFile(partial, signal, fill)
    const contents = await verifyArchive(partial, { signal, onProgress: onCheck })
    const bytes = await syncFile(partial)
    await rename(partial, archive)
    return { ...contents, bytes, unreadable }
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {})
    if (['ENOSPC', 'ENOENT', 'EACCES', 'EROFS', 'ENOTDIR', 'EDQUOT', 'EPERM'].includes(errorCodeOf(error)))
      throw new OperatorError(`${archive} cannot be written (${errorCodeOf(error)})`, { cause: error })
    throw error
  }
}

async function assertArchiveIsNew(archive: string): Promise<void> {
  const isThere = await access(archive).then(
    () => true,
    () => false
  )
  if (isThere) throw new OperatorError(`${archive} exists already: choose another name, or remove it`)
}

async function writeFile(
  file: string,
  signal: AbortSignal,
  fill: (writer: ArchiveWriter) => Promise<readonly string[]>
): Promise<readonly string[]> {
  await rm(file, { force: true })
  const sink = createWriteStream(file, { mode: 0o600, flags: 'wx' })
  const writer = openArchiveWriter(sink, { isCompressed: true, signal })
  try {
    const unreadable = await fill(writer)
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
