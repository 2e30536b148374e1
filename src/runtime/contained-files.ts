import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

/*
 * Decides which files may be opened under a name that users, operators or the content of a folder choose. A symbolic link is
 * followed only if it leads to a place inside the folders that the caller names.
 */

/** The path leads, through a symbolic link or `..`, out of the folders in which the file must lie. */
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

/** Whether an absolute, canonical path is one of the allowed folders or below one, as it is written. */
export function isInsideRoots(path: string, roots: readonly string[]): boolean {
  return roots.some(root => {
    const way = relative(root, path)
    return way !== '..' && !way.startsWith('../')
  })
}

/**
 * Returns the real path of `path` if it lies inside the allowed folders both as it is written and where its
 * symbolic links lead, else null. It need not exist yet: the longest part of it that does is resolved. A
 * dangling or circular link, and a folder that may not be entered, are outside. Links can change: what is
 * opened later goes through `openInside`.
 */
export async function resolveInside(path: string, roots: readonly string[]): Promise<string | null> {
  if (!isInsideRoots(path, roots)) return null
  const [real, ...realRoots] = await Promise.all([path, ...roots].map(resolveExisting))
  const known = realRoots.filter(root => root !== null)
  return real !== undefined && real !== null && isInsideRoots(real, known) ? real : null
}

/**
 * Opens a regular file for reading if it really lies inside one of `realRoots`, which are real paths. Where
 * the file lies is checked on the open descriptor, so a link that is swapped meanwhile changes nothing.
 * Throws `OutsideRootsError`, `NotRegularFileError`, or the error of the file system.
 */
export async function openInside(path: string, realRoots: readonly string[]): Promise<FileHandle> {
  const real = await realpath(path)
  if (!isInsideRoots(real, realRoots)) throw new OutsideRootsError(path)
  // A FIFO would wait for a writer.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!isInsideRoots(await openedPath(handle, real), realRoots)) throw new OutsideRootsError(path)
    if (!(await handle.stat()).isFile()) throw new NotRegularFileError(path)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Opens a folder that really lies at `realPath`, a real path as bytes: throws `OutsideRootsError` if a link
 * took the place of a part of it. `list` is the path to list it by, which stays with the open folder where
 * the system allows that.
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

/**
 * Where an open file lies: the kernel's answer on Linux, elsewhere the path if it still names the same file.
 */
async function openedPath(handle: FileHandle, path: string): Promise<string> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${handle.fd}`)
  const real = await realpath(path)
  const [opened, named] = await Promise.all([handle.stat(), lstat(real)])
  if (opened.ino !== named.ino || opened.dev !== named.dev) throw new OutsideRootsError(path)
  return real
}

/** The real path of the longest existing part, with the rest as it is; null if it cannot be resolved. */
export async function resolveExisting(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error) || (await exists(path)) || path === dirname(path)) return null
    const parent = await resolveExisting(dirname(path))
    return parent === null ? null : join(parent, relative(dirname(path), path))
  }
}

/** A dangling link exists, although it has no real path. */
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    error => !isMissing(error)
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
