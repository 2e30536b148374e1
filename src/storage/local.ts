import type { Dirent } from 'node:fs'
import { lstat, opendir, readdir, realpath, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

import { openFolderAt, OutsideRootsError } from '../runtime/contained-files.ts'
import { codeOf, StorageFault, throwIfAborted, untilAborted } from './fault.ts'
import type { Usage } from './size.ts'

// Node has four threads for the file system and others want them too.
const foldersAtOnce = 2
const filesAtOnce = 32
const slash = Buffer.from('/')

/**
 * Makes sure that a folder of this machine is there and can be read. Throws a `StorageFault`: `no_folder`,
 * `not_a_folder`, `denied`, `timed_out`.
 */
export async function checkLocal(path: string, signal: AbortSignal): Promise<void> {
  await untilAborted(signal, lookAt(path))
}

async function lookAt(path: string): Promise<void> {
  try {
    const folder = await opendir(path)
    await folder.close()
    // Its files can be looked at, not only its names.
    await stat(`${path}/.`)
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? new StorageFault('no_folder') : faultOf(error)
  }
}

/**
 * Counts the regular files below a folder of this machine by their size. The path itself may be a symbolic
 * link, links below it are not followed. A folder that is not there holds nothing. What vanishes meanwhile is
 * not counted; what may not be looked at is skipped. Throws a `StorageFault` when the folder itself cannot be
 * read or the signal's time is up, also while a file system hangs.
 */
export async function measureLocal(path: string, signal: AbortSignal): Promise<Usage> {
  const [content, freeBytes] = await untilAborted(
    signal,
    Promise.all([measureTree(path, signal), readFreeBytes(path)])
  )
  return { ...content, freeBytes }
}

async function measureTree(path: string, signal: AbortSignal): Promise<TreeContent> {
  // Names are bytes: as text, one that is not UTF-8 would not be found again.
  const top = await realpath(path, { encoding: 'buffer' }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null
    throw faultOf(error)
  })
  if (top === null) return { usedBytes: 0n, files: 0, skipped: 0 }
  const read = async (folder: Buffer): Promise<FolderContent<Buffer>> =>
    readFolder(folder, folder === top, signal)
  return walk(top, read, foldersAtOnce, signal)
}

/** What the volume of a path has free for this user, in bytes; `null` when it cannot be told. */
export async function readFreeBytes(path: string): Promise<bigint | null> {
  try {
    const volume = await statfs(path, { bigint: true })
    return volume.bavail * volume.bsize
  } catch (error) {
    return codeOf(error) === 'ENOENT' && path !== dirname(path) ? readFreeBytes(dirname(path)) : null
  }
}

async function readFolder(
  folder: Buffer,
  isTop: boolean,
  signal: AbortSignal
): Promise<FolderContent<Buffer>> {
  const nothing = { usedBytes: 0n, files: 0, folders: [], skipped: 0 }
  try {
    await using opened = await openFolderAt(folder)
    return await readOpenFolder(folder, opened.list, signal)
  } catch (error) {
    if (signal.aborted) throw error
    if (codeOf(error) === 'ENOENT') return nothing
    if (isTop) throw faultOf(error)
    // A folder that was replaced by a file or a link meanwhile has vanished too.
    const isReplaced = error instanceof OutsideRootsError || ['ENOTDIR', 'ELOOP'].includes(codeOf(error))
    return isReplaced ? nothing : { ...nothing, skipped: 1 }
  }
}

async function readOpenFolder(
  folder: Buffer,
  list: Buffer,
  signal: AbortSignal
): Promise<FolderContent<Buffer>> {
  const entries = await readdir(list, { encoding: 'buffer', withFileTypes: true })
  const folders = entries.filter(entry => entry.isDirectory()).map(entry => below(folder, entry))
  const paths = entries.filter(entry => entry.isFile()).map(entry => below(list, entry))

  let usedBytes = 0n
  let files = 0
  let skipped = 0
  for (let from = 0; from < paths.length; from += filesAtOnce) {
    throwIfAborted(signal)
    for (const size of await Promise.all(paths.slice(from, from + filesAtOnce).map(sizeOf))) {
      if (size === 'unknown') skipped += 1
      else if (size !== 'gone') {
        usedBytes += size
        files += 1
      }
    }
  }
  return { usedBytes, files, folders, skipped }
}

function below(parent: Buffer, { name }: Dirent<Buffer>): Buffer {
  return Buffer.concat([parent, slash, name])
}

async function sizeOf(path: Buffer): Promise<bigint | 'gone' | 'unknown'> {
  try {
    const stats = await lstat(path, { bigint: true })
    return stats.isFile() ? stats.size : 'gone'
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(codeOf(error)) ? 'gone' : 'unknown'
  }
}

function faultOf(error: unknown): unknown {
  if (error instanceof StorageFault) return error
  const code = codeOf(error)
  if (code === 'ENOTDIR') return new StorageFault('not_a_folder')
  if (code === 'EACCES' || code === 'EPERM') return new StorageFault('denied', code)
  return new StorageFault('unusable', code)
}

/** What one folder holds: its own files, and the folders in it. */
export interface FolderContent<Folder> {
  readonly usedBytes: bigint
  readonly files: number
  readonly folders: readonly Folder[]
  readonly skipped: number
}

/** The sum over a tree. */
interface TreeContent {
  readonly usedBytes: bigint
  readonly files: number
  readonly skipped: number
}

const maxFolders = 10_000_000

/**
 * Sums up a tree of folders, `concurrency` of them at a time. Rejects with the first thing `read` throws, and
 * once the signal is aborted begins no further folder. A tree without end counts as skipped from ten million
 * folders on.
 */
export async function walk<Folder>(
  top: Folder,
  read: (folder: Folder) => Promise<FolderContent<Folder>>,
  concurrency: number,
  signal: AbortSignal
): Promise<TreeContent> {
  const pending = [top]
  const running = new Set<Promise<void>>()
  let found = 1
  let usedBytes = 0n
  let files = 0
  let skipped = 0

  const visit = async (folder: Folder): Promise<void> => {
    const content = await read(folder)
    usedBytes += content.usedBytes
    files += content.files
    skipped += content.skipped
    for (const inner of content.folders) {
      if (found < maxFolders) pending.push(inner)
      else skipped += 1
      found += 1
    }
  }

  while (pending.length > 0 || running.size > 0) {
    throwIfAborted(signal)
    while (running.size < concurrency) {
      const next = pending.pop()
      if (next === undefined) break
      const visiting = visit(next).finally(() => running.delete(visiting))
      running.add(visiting)
    }
    await Promise.race(running)
  }
  return { usedBytes, files, skipped }
}
