import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, opendir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { isInsideRoots } from '../../runtime/contained-files.ts'
import type { ArchivedFile } from '../archive.ts'
import type { Migration } from '../migration.ts'
import { stationsByLocation } from './media.ts'
import { copiedPath, readLocalFolders } from './storage.ts'

/**
 * Copies the files of local storage locations to the folder of `--copy-media`, from the backup, else from this machine. Files
 * that are there with their size are not copied again.
 */
export async function copyMedia(migration: Migration): Promise<void> {
  const { copyMediaTo, files, isDryRun, report, signal } = migration
  if (copyMediaTo === null || isDryRun) return
  const used = stationsByLocation(migration)
  const folders = [...(await readLocalFolders(migration))]
    .filter(([location]) => used.has(location))
    .map(([, folder]) => ({ from: folder, to: copiedPath(copyMediaTo, folder), isFound: false }))
  const counts = { total: 0, added: 0 }
  if (files.hasFiles)
    await files.forEachFile(async file => {
      const path = `/${file.path}`
      const folder = folders.find(({ from }) => path.startsWith(`${from}/`))
      if (!folder) return
      folder.isFound = true
      await copyFile(folder.to, path.slice(folder.from.length + 1), file)
    })
  for (const folder of folders.filter(({ isFound }) => !isFound))
    for await (const file of walkFolder(folder.from)) {
      folder.isFound = true
      await copyFile(folder.to, file.path, file)
    }
  for (const { from } of folders.filter(({ isFound }) => !isFound))
    report.leave('media folders that neither the backup nor this machine has', from)
  if (counts.total > 0) report.take('media files copied', counts.total, counts.added)

  async function copyFile(folder: string, path: string, file: ArchivedFile): Promise<void> {
    signal.throwIfAborted()
    const isHidden = path.split('/').some(part => part.startsWith('.'))
    const target = join(folder, path)
    if (isHidden || !isInsideRoots(target, [folder])) return
    counts.total += 1
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
    counts.added += 1
  }
}

async function* walkFolder(top: string, folder = top): AsyncGenerator<ArchivedFile> {
  const entries = await opendir(folder).catch(() => null)
  if (entries === null) return
  for await (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* walkFolder(top, path)
    else if (entry.isFile()) {
      const { size } = await stat(path)
      yield { path: relative(top, path), size, open: async () => createReadStream(path) }
    }
  }
}
