import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { parsedUrl } from '../parsed-url.ts'

/** Where a playlist entry points: a URL, or the paths under which the file may be found, best first. */
export type Location =
  | { type: 'remote'; url: string }
  | { type: 'file'; paths: string[] }
  | { type: 'unusable'; reason: string }

/**
 * Understands what playlists write: http(s) and file URLs, absolute paths, and paths relative to the folder of
 * the playlist, also with backslashes or percent escapes. What is literally there comes first.
 */
export function resolveLocation(location: string, folder: string): Location {
  if (/^https?:\/\//i.test(location)) {
    const url = parsedUrl(location)
    return url ? { type: 'remote', url: url.href } : { type: 'unusable', reason: 'it is not a valid URL' }
  }
  if (/^file:/i.test(location)) return ofFileUrl(location, folder)
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(location)?.[1]
  if (scheme !== undefined) return { type: 'unusable', reason: `${scheme}: addresses cannot be played` }
  if (/^[a-z]:[\\/]/i.test(location)) return { type: 'unusable', reason: 'it is a path of a Windows drive' }

  const slashed = location.replaceAll('\\', '/')
  const paths = [location, slashed, unescape(slashed)].map(path => resolve(folder, path))
  return { type: 'file', paths: [...new Set(paths)] }
}

/** Players write file:///abs, file://localhost/abs and, wrongly, file://relative or unescaped characters. */
function ofFileUrl(location: string, folder: string): Location {
  try {
    const path = fileURLToPath(new URL(location.replace(/^file:\/\/localhost\//i, 'file:///')))
    if (!path.includes('\0')) return { type: 'file', paths: [path] }
    return { type: 'unusable', reason: 'no path holds a NUL character' }
  } catch {
    const rest = location.replace(/^file:(\/\/)?/i, '')
    return { type: 'file', paths: [...new Set([rest, unescape(rest)].map(path => resolve(folder, path)))] }
  }
}

function unescape(text: string): string {
  try {
    const plain = decodeURIComponent(text)
    return plain.includes('\0') ? text : plain
  } catch {
    return text
  }
}
