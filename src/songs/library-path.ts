import { posix } from 'node:path'

import { parsedUrl } from '../outbound/networks.ts'

/** A path or URL in the form in which a library keeps it, or a sentence on what is wrong with it. */
export type LibraryPath = { readonly path: string } | { readonly problem: string }

/** The key of a song is indexed; an index entry of Postgres ends at about 2,700 bytes. */
export const maxPathBytes = 2_000

/**
 * Understands what a new song may be called by: an http(s) address without a password, a path relative to the
 * media folder, or an absolute one below it where the folder is known. Other schemes are refused: to a
 * playout they may be commands.
 */
export function libraryPath(text: string, mediaFolder: string | null): LibraryPath {
  if (Buffer.byteLength(text) > maxPathBytes) return { problem: `must have at most ${maxPathBytes} bytes.` }
  if (/\p{Cc}|\p{Surrogate}/u.test(text)) return { problem: 'holds characters that are not allowed.' }
  if (/^https?:\/\//i.test(text)) return webPath(text)
  if (/^[a-z][a-z0-9+.-]*:/i.test(text))
    return { problem: 'must be a path, or an address that begins with http:// or https://.' }
  if (text.endsWith('/') || text.split('/').includes('..'))
    return { problem: 'must name a file below the media folder.' }
  const path = posix.normalize(text)
  const isBelow = !path.startsWith('/') || (mediaFolder !== null && path.startsWith(`${mediaFolder}/`))
  if (!isBelow || path === '.') return { problem: 'must name a file below the media folder.' }
  return { path }
}

function webPath(text: string): LibraryPath {
  const url = parsedUrl(text)
  if (!url) return { problem: 'is not a valid address.' }
  const { href, username, password } = url
  if (username !== '' || password !== '') return { problem: 'must not hold a user name or password.' }
  if (Buffer.byteLength(href) > maxPathBytes) return { problem: `must have at most ${maxPathBytes} bytes.` }
  return { path: href }
}
