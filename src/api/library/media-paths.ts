import { isAbsolute, relative } from 'node:path'

/** The path of a folder with its slash, `""` at the top. */
export function folderPrefix(folder: string): string {
  const inner = folder.replace(/\/+$/, '')
  return inner === '' ? '' : `${inner}/`
}

/**
 * The path of a file in the media storage, or null if it is elsewhere: a URL, or a file that was imported from another folder.
 * `folder` is that of local storage.
 */
export function storedPath(path: string, folder: string | null): string | null {
  if (/^https?:\/\//i.test(path)) return null
  if (!isAbsolute(path)) return path
  if (folder === null) return null
  const inner = relative(folder, path)
  return inner === '' || inner.startsWith('..') || isAbsolute(inner) ? null : inner
}

/** The last part of a path. */
export const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
