import { lstat, opendir, readdir, realpath, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

import { openFolderAt, OutsideRootsError } from '../../platform/runtime/contained-files.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { StorageFault, throwIfStorageAborted, unlessAborted } from './storage-fault.ts'
import { type FolderContent, type StorageUsage, sumFolderTree } from './walk.ts'

// Node.js has four threads for the file system, shared with everything else.
const folderConcurrency = 2
const fileConcurrency = 32

/** Checks that a local folder exists and can be read. Throws a `StorageFault`. */
export async function assertLocalFolder(path: string, signal: AbortSignal): Promise<void> {
  await unlessAborted(signal, assertReadable(path))
}

async function assertReadable(path: string): Promise<void> {
  try {
    const folder = await opendir(path)
    await folder.close()
    // Fails if names can be listed, but files not accessed.
    await stat(`${path}/.`)
  } catch (error) {
    throw errorCodeOf(error) === 'ENOENT' ? new StorageFault('no_folder') : toFault(error)
  }
}

/**
 * Measures the regular files below a local folder. The path may be a symbolic link; links below it are not
 * followed. A missing folder is empty. Files that vanish are not counted, unreadable ones are skipped. Throws
 * a `StorageFault` if the folder itself cannot be read, or on timeout, even if the file system hangs.
 */
export async function measureLocalFolder(path: string, signal: AbortSignal): Promise<StorageUsage> {
  const measuring = Promise.all([measureTree(path, signal), readFreeBytes(path)])
  const [content, freeBytes] = await unlessAborted(signal, measuring)
  return { ...content, freeBytes }
}

async function measureTree(path: string, signal: AbortSignal): Promise<Omit<StorageUsage, 'freeBytes'>> {
  // Names are bytes: a name that is not UTF-8 cannot be decoded and opened again.
  const top = await realpath(path, { encoding: 'buffer' }).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw toFault(error)
  })
  if (top === null) return { usedBytes: 0n, files: 0, skipped: 0 }
  return sumFolderTree<Buffer>(
    top,
    folder => readFolder(folder, folder === top, signal),
    folderConcurrency,
    signal
  )
}

/** Returns the free space of a path's volume for this user, in bytes; null if unknown. */
export async function readFreeBytes(path: string): Promise<bigint | null> {
  try {
    const volume = await statfs(path, { bigint: true })
    return volume.bavail * volume.bsize
  } catch (error) {
    return errorCodeOf(error) === 'ENOENT' && path !== dirname(path) ? readFreeBytes(dirname(path)) : null
  }
}

async function readFolder(
  folder: Buffer,
  isTop: boolean,
  signal: AbortSignal
): Promise<FolderContent<Buffer>> {
  try {
    await using opened = await openFolderAt(folder)
    return await listFolder(folder, opened.list, signal)
  } catch (error) {
    if (signal.aborted) throw error
    const isMissing = errorCodeOf(error) === 'ENOENT'
    if (isTop && !isMissing) throw toFault(error)
    // A folder that was replaced by a file or a link has vanished too.
    const isReplaced = error instanceof OutsideRootsError || ['ENOTDIR', 'ELOOP'].includes(errorCodeOf(error))
    return { usedBytes: 0n, files: 0, folders: [], skipped: isMissing || isReplaced ? 0 : 1 }
  }
}

/** Reads a folder by the path `list` of its open descriptor. */
async function listFolder(folder: Buffer, list: Buffer, signal: AbortSignal): Promise<FolderContent<Buffer>> {
  const entries = await readdir(list, { encoding: 'buffer', withFileTypes: true })
  const folders = entries.filter(entry => entry.isDirectory()).map(({ name }) => joinBytes(folder, name))
  const paths = entries.filter(entry => entry.isFile()).map(({ name }) => joinBytes(list, name))
  const content = { usedBytes: 0n, files: 0, folders, skipped: 0 }
  for (let from = 0; from < paths.length; from += fileConcurrency) {
    throwIfStorageAborted(signal)
    for (const size of await Promise.all(paths.slice(from, from + fileConcurrency).map(readSize))) {
      if (size === 'unreadable') content.skipped += 1
      else if (size !== 'vanished') {
        content.usedBytes += size
        content.files += 1
      }
    }
  }
  return content
}

const joinBytes = (folder: Buffer, name: Buffer) => Buffer.concat([folder, Buffer.from('/'), name])

async function readSize(path: Buffer): Promise<bigint | 'vanished' | 'unreadable'> {
  try {
    const stats = await lstat(path, { bigint: true })
    return stats.isFile() ? stats.size : 'vanished'
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error)) ? 'vanished' : 'unreadable'
  }
}

function toFault(error: unknown): unknown {
  if (error instanceof StorageFault) return error
  const code = errorCodeOf(error)
  if (code === 'ENOTDIR') return new StorageFault('not_a_folder')
  return new StorageFault(code === 'EACCES' || code === 'EPERM' ? 'denied' : 'unusable', code)
}
