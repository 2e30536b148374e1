import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { isInsideRoots } from '../../../platform/runtime/contained-files.ts'
import { forEachMediaFile, readLocalMediaFolders } from '../media-folders.ts'
import type { AzuracastMigration } from '../migration.ts'
import { parseUsablePath } from '../usable-values.ts'
import { copiedFolderPath } from './storage.ts'

/**
 * Copies the files of local storage locations to the folder of `--copy-media`. Files that are there with their size are
 * not copied again.
 */
export async function copyMedia(migration: AzuracastMigration): Promise<void> {
  const { copyMediaTo, isDryRun, report, signal } = migration
  if (copyMediaTo === null || isDryRun) return
  const folders = await readLocalMediaFolders(migration)
  let total = 0
  let added = 0
  await forEachMediaFile(migration, folders, async ({ folder }, path, file) => {
    const targetFolder = copiedFolderPath(copyMediaTo, folder)
    const target = join(targetFolder, path)
    if (isInHiddenFolder(path)) return
    if ('problem' in parseUsablePath(path) || !isInsideRoots(target, [targetFolder])) {
      report.leave('media files with an unusable path', path)
      return
    }
    total += 1
    const known = await stat(target).catch(() => null)
    if (known?.isFile() && known.size === file.size) return
    await mkdir(dirname(target), { recursive: true })
    // Renamed when it is whole, so that an aborted copy is not taken for one.
    const partial = `${target}.part`
    try {
      await pipeline(await file.open(), createWriteStream(partial), { signal })
      await rename(partial, target)
    } finally {
      await rm(partial, { force: true })
    }
    added += 1
  })
  for (const { folder } of folders.filter(({ isFound }) => !isFound))
    report.leave('media folders that neither the backup nor this machine has', folder)
  if (total > 0) report.take('media files copied', total, added)
}

/** Whether a path leads through a hidden folder, in which AzuraCast keeps covers and waveforms. */
export const isInHiddenFolder = (path: string): boolean => path.split('/').some(part => part.startsWith('.'))
