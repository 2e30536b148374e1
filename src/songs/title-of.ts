import { basename, extname } from 'node:path'

import { cleanLine, longest } from './tag-text.ts'

/** A title for a song of which nothing but its path or URL is known: the name without its ending, else the host. */
export function titleOf(path: string): string {
  if (!/^https?:\/\//i.test(path) || !URL.canParse(path))
    return cleanLine(basename(path, extname(path)), longest.title)
  const url = new URL(path)
  const name = basename(url.pathname, extname(url.pathname))
  try {
    return cleanLine(decodeURIComponent(name), longest.title) || url.host
  } catch {
    return cleanLine(name, longest.title) || url.host
  }
}
