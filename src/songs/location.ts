import { posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { parsedUrl } from '../outbound/networks.ts'
import { libraryPath } from './library-path.ts'

/** Where a playlist entry points: a URL, or the paths under which the file may be found, best first. */
export type Location =
  | { type: 'remote'; url: string }
  | { type: 'file'; paths: string[] }
  | { type: 'unusable'; reason: string }

/**
 * Understands what playlists write: http(s) and file URLs, absolute paths, and paths relative to the folder
 * of the playlist, also with backslashes or percent escapes. What is literally there comes first.
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

/** Under what a library may have the song that a list names; best first. */
export interface Candidates {
  readonly paths: readonly string[]
  /** File names that tell the song where only one has them. */
  readonly names: readonly string[]
  /** The address as a library keeps it, where the song is behind one. */
  readonly url: string | null
}

/**
 * Where a list's entry may be found. What is literally written comes first; `mediaFolder` is the folder of
 * the station where it is known.
 */
export function candidatesOf(location: string, mediaFolder: string | null): Candidates {
  if (/^https?:\/\//i.test(location)) {
    const found = libraryPath(location, null)
    const url = 'path' in found ? found.path : null
    return { paths: usable([location, url ?? location]), names: [], url }
  }
  const folder = mediaFolder ?? '/'
  const resolved = resolveLocation(location, folder)
  const absolute = resolved.type === 'file' ? resolved.paths : []
  const relative = absolute.map(path => posix.relative(folder, path)).filter(path => !path.startsWith('../'))
  const names = [location, ...absolute].map(path => path.split(/[/\\]/).at(-1) ?? '')
  return {
    paths: usable([location, ...absolute.flatMap((path, index) => [path, relative[index] ?? path])]),
    names: usable(names),
    url: null
  }
}

/** Postgres refuses NUL, and half a character is none. */
function usable(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter(text => text !== '' && !/\0|\p{Surrogate}/u.test(text))
}
