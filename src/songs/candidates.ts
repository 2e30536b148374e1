import { posix } from 'node:path'

import { libraryPath } from './library-path.ts'
import { resolveLocation } from './location.ts'

/** Under what a library may have the song that a list names; best first. */
export interface Candidates {
  readonly paths: readonly string[]
  /** File names that tell the song where only one has them. */
  readonly names: readonly string[]
  /** The address as a library keeps it, where the song is behind one. */
  readonly url: string | null
}

/**
 * Where a list's entry may be found. What is literally written comes first; `mediaFolder` is the folder of the
 * station where it is known.
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
