import { basename, extname } from 'node:path'

import { parsedUrl } from '../parsed-url.ts'
import { cleanLine, longest } from './tag-text.ts'

/** A title for a song of which nothing but its path or URL is known: the name without its ending, else the host. */
export function titleOf(path: string): string {
  const url = /^https?:\/\//i.test(path) ? parsedUrl(path) : null
  if (!url) return cleanLine(basename(path, extname(path)), longest.title)
  const name = basename(url.pathname, extname(url.pathname))
  try {
    return cleanLine(decodeURIComponent(name), longest.title) || url.host
  } catch {
    return cleanLine(name, longest.title) || url.host
  }
}
