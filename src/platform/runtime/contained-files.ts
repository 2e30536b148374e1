import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

import { errorCodeOf } from './errors.ts'

/*
 * Decides which files may be opened under a name that users, operators or the content of a folder choose. A
 * symbolic link is followed only if it leads to a place inside the allowed folders.
 */

/** The path leads, through a symbolic link or `..`, out of the allowed folders. */
export class OutsideRootsError extends Error {
  constructor(path: string) {
    super(`${path} leads out of the folders in which it must lie`)
  }
}

/** The path names a folder, FIFO, socket or device. */
export class NotRegularFileError extends Error {
  constructor(path: string) {
    super(`${path} is not a regular file`)
  }
}

/** Whether an absolute, canonical path is one of the roots or below one. Symbolic links are not resolved. */
export function isInsideRoots(path: string, roots: readonly string[]): boolean {
  return roots.some(root => {
    const relativePath = relative(root, path)
    return relativePath !== '..' && !relativePath.startsWith('../')
  })
}

/**
 * Returns the real path of `path` if it is inside the roots both as written and after resolving symbolic
 * links, else null. The file need not exist: its longest existing part is resolved. Dangling or circular
 * links and folders without access return null. Links can change later, so open the file with `openInsideRoots`.
 */
export async function resolveInsideRoots(path: string, roots: readonly string[]): Promise<string | null> {
  if (!isInsideRoots(path, roots)) return null
  const [real, ...realRoots] = await Promise.all([path, ...roots].map(each => resolveExistingPart(each)))
  const known = realRoots.filter(root => root !== null)
  return real !== undefined && real !== null && isInsideRoots(real, known) ? real : null
}

/**
 * Opens a regular file for reading if its real path is inside one of `realRoots`, which are real paths. The
 * open descriptor is checked, so swapping a link during the call has no effect. Throws `OutsideRootsError`,
 * `NotRegularFileError`, or the error of the file system.
 */
export async function openInsideRoots(path: string, realRoots: readonly string[]): Promise<FileHandle> {
  const real = await realpath(path)
  if (!isInsideRoots(real, realRoots)) throw new OutsideRootsError(path)
  // Without O_NONBLOCK, opening a FIFO waits for a writer.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!isInsideRoots(await readOpenedPath(handle, real), realRoots)) throw new OutsideRootsError(path)
    if (!(await handle.stat()).isFile()) throw new NotRegularFileError(path)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Opens a folder by its real path in bytes. Throws `OutsideRootsError` if a link replaced a part of the path.
 * `list` is the path to list it by; on Linux it refers to the open folder.
 */
export async function openFolderAt(
  realPath: Buffer
): Promise<{ readonly list: Buffer; readonly [Symbol.asyncDispose]: () => Promise<void> }> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  const handle = await open(realPath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  const close = () => handle.close()
  if (process.platform !== 'linux') return { list: realPath, [Symbol.asyncDispose]: close }
  try {
    const list = Buffer.from(`/proc/self/fd/${handle.fd}`)
    const opened = await readlink(list, { encoding: 'buffer' })
    if (!opened.equals(realPath)) throw new OutsideRootsError(realPath.toString())
    return { list, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The path of an open file: from the kernel on Linux, else `path` if it still names that file. */
async function readOpenedPath(handle: FileHandle, path: string): Promise<string> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${handle.fd}`)
  const real = await realpath(path)
  const [opened, named] = await Promise.all([handle.stat(), lstat(real)])
  if (opened.ino !== named.ino || opened.dev !== named.dev) throw new OutsideRootsError(path)
  return real
}

const maxResolutions = 3

/** Returns the real path of the longest existing part plus the rest; null if it cannot be resolved. */
export async function resolveExistingPart(path: string, resolutions = 1): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') return null
    const exists = await lstat(path).then(
      () => true,
      failure => errorCodeOf(failure) !== 'ENOENT'
    )
    // Somebody has created it since, or it is a dangling link, which exists although it has no real path.
    if (exists) return resolutions < maxResolutions ? resolveExistingPart(path, resolutions + 1) : null
    if (path === dirname(path)) return null
    const parent = await resolveExistingPart(dirname(path))
    return parent === null ? null : join(parent, relative(dirname(path), path))
  }
}
