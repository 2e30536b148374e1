import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

/** Whether an absolute, canonical path is one of the allowed folders or below one, as it is written. */
export function isInsideRoots(path: string, roots: readonly string[]): boolean {
  return roots.some(root => {
    const way = relative(root, path)
    return way !== '..' && !way.startsWith('../')
  })
}

/**
 * Whether a path is inside the allowed folders both as it is written and where its symbolic links really lead. It
 * need not exist yet: the longest part of it that does is followed. A link to nowhere or in circles, or a folder
 * that may not be entered, is outside. Links can change: ask again right before each use.
 */
export async function resolvesInsideRoots(path: string, roots: readonly string[]): Promise<boolean> {
  if (!isInsideRoots(path, roots)) return false
  const [real, ...realRoots] = await Promise.all([path, ...roots].map(resolveExisting))
  return (
    real !== undefined &&
    real !== null &&
    isInsideRoots(
      real,
      realRoots.filter(root => root !== null)
    )
  )
}

/** The real path of the longest existing part, with the rest as it is; `null` when it cannot be followed. */
async function resolveExisting(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error) || (await isThere(path)) || path === dirname(path)) return null
    const parent = await resolveExisting(dirname(path))
    return parent === null ? null : join(parent, relative(dirname(path), path))
  }
}

/** A link to nowhere is there, although it has no real path. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    error => !isMissing(error)
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
