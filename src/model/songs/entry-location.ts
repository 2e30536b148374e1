import { posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { isWebUrl, parseUrl } from '../../platform/outbound/networks.ts'
import { decodePercent } from '../../platform/text/percent-encoding.ts'
import { maxPathBytes, parseLibraryPath } from './library-path.ts'

/** The target of a playlist entry: a URL, or possible paths of a file, best first. */
export type ResolvedEntryLocation =
  | { type: 'remote'; url: string }
  | { type: 'file'; paths: string[] }
  | { type: 'unusable'; reason: string }

/**
 * Resolves http(s) and file URLs, absolute and relative paths, also with backslashes or percent escapes. The
 * literal path comes first.
 */
export function resolveEntryLocation(location: string, folder: string): ResolvedEntryLocation {
  if (isWebUrl(location)) {
    const url = parseUrl(location)
    return url ? { type: 'remote', url: url.href } : { type: 'unusable', reason: 'it is not a valid URL' }
  }
  if (/^file:/i.test(location)) return resolveFileUrl(location, folder)
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(location)?.[1]
  if (scheme !== undefined) return { type: 'unusable', reason: `${scheme}: URLs cannot be played` }
  if (/^[a-z]:[\\/]/i.test(location)) return { type: 'unusable', reason: 'it is a path on a Windows drive' }

  const slashed = location.replaceAll('\\', '/')
  const paths = [location, slashed, decodeName(slashed)].map(path => resolve(folder, path))
  return { type: 'file', paths: [...new Set(paths)] }
}

/** Players write file:///abs, file://localhost/abs and, incorrectly, file://relative or unescaped text. */
function resolveFileUrl(location: string, folder: string): ResolvedEntryLocation {
  try {
    const path = fileURLToPath(new URL(location.replace(/^file:\/\/localhost\//i, 'file:///')))
    if (!path.includes('\0')) return { type: 'file', paths: [path] }
    return { type: 'unusable', reason: 'it contains a NUL character' }
  } catch {
    const rest = location.replace(/^file:(\/\/)?/i, '')
    return {
      type: 'file',
      paths: [...new Set([rest, decodeName(rest)].map(path => resolve(folder, path)))]
    }
  }
}

function decodeName(text: string): string {
  const plain = decodePercent(text)
  return plain === null || plain.includes('\0') ? text : plain
}

/** How the song of a playlist entry may be stored in a library; best first. */
export interface SongCandidates {
  readonly paths: readonly string[]
  /** File names, to be used only if they are unique. */
  readonly names: readonly string[]
  /** The normalized URL, if the entry is one. */
  readonly url: string | null
}

/** The possible songs of a playlist entry. The literal path comes first. */
export function findSongCandidates(location: string, mediaFolder: string | null): SongCandidates {
  if (isWebUrl(location)) {
    const found = parseLibraryPath(location, null)
    const url = 'path' in found ? found.path : null
    return { paths: toStorable([location, url ?? location]), names: [], url }
  }
  const folder = mediaFolder ?? '/'
  const resolved = resolveEntryLocation(location, folder)
  const absolute = resolved.type === 'file' ? resolved.paths : []
  const relative = absolute.map(path => posix.relative(folder, path)).filter(path => !path.startsWith('../'))
  const names = [location, ...absolute].map(path => path.split(/[/\\]/).at(-1) ?? '')
  return {
    paths: toStorable([location, ...absolute.flatMap((path, index) => [path, relative[index] ?? path])]),
    names: toStorable(names),
    url: null
  }
}

/** Removes repeats, and texts that no song has as its path, some of which Postgres rejects. */
function toStorable(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter(
    text => text !== '' && Buffer.byteLength(text) <= maxPathBytes && !/\0|\p{Surrogate}/u.test(text)
  )
}
