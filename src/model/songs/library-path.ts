import { posix } from 'node:path'

import { isWebUrl, parseUrl } from '../../platform/outbound/networks.ts'
import { unstorablePattern } from '../../platform/text/foreign-text.ts'
import { maxNameBytes } from '../../platform/text/unicode-names.ts'

/** A normalized path or URL, or what is wrong with it. */
export type PathOrProblem = { readonly path: string } | { readonly problem: string }

/** Paths are indexed, and a Postgres index entry has at most about 2,700 bytes. */
export const maxPathBytes = 2_000

/**
 * Parses an http(s) URL without a password, a path relative to the media folder, or an absolute path below
 * it. Rejects other URL schemes, because a playout may treat them as commands.
 */
export function parseLibraryPath(text: string, mediaFolder: string | null): PathOrProblem {
  if (Buffer.byteLength(text) > maxPathBytes) return { problem: `must have at most ${maxPathBytes} bytes.` }
  if (/\p{Cc}/u.test(text) || unstorablePattern.test(text))
    return { problem: 'contains characters that are not allowed.' }
  if (isWebUrl(text)) return parseUrlPath(text)
  if (/^[a-z][a-z0-9+.-]*:/i.test(text))
    return { problem: 'must be a path, or a URL that begins with http:// or https://.' }
  if (text.endsWith('/') || text.split('/').includes('..'))
    return { problem: 'must be a path below the media folder.' }
  const path = posix.normalize(text)
  const isBelow = !path.startsWith('/') || (mediaFolder !== null && path.startsWith(`${mediaFolder}/`))
  if (!isBelow || path === '.') return { problem: 'must be a path below the media folder.' }
  return { path }
}

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * Returns the path with a number after the name of its file, `a (2).mp3`, for one that is taken. The name is
 * shortened by whole characters to what a file system can store.
 */
export function addNumberToPath(path: string, number: number): string {
  const { dir, name, ext } = posix.parse(path)
  const end = ` (${number})${ext}`
  let room = maxNameBytes - Buffer.byteLength(end)
  let kept = ''
  for (const { segment } of characters.segment(name)) {
    room -= Buffer.byteLength(segment)
    if (room < 0) break
    kept += segment
  }
  return posix.join(dir, kept.trimEnd() + end)
}

/** Parses the path of a file that is to be stored: relative to the media folder, without hidden names. */
export function parseUploadPath(text: string): PathOrProblem {
  if (text.trim() === '') return { problem: 'must not be empty.' }
  if (/^https?:/i.test(text)) return { problem: 'must be a path below the media folder.' }
  const parsed = parseLibraryPath(text, null)
  if ('problem' in parsed) return parsed
  for (const name of parsed.path.split('/')) {
    if (name.startsWith('.')) return { problem: 'must not contain names that begin with a dot.' }
    if (Buffer.byteLength(name) > maxNameBytes)
      return { problem: `must not contain names of more than ${maxNameBytes} bytes.` }
  }
  return parsed
}

function parseUrlPath(text: string): PathOrProblem {
  const url = parseUrl(text)
  if (!url) return { problem: 'is not a valid URL.' }
  const { href, username, password } = url
  if (username !== '' || password !== '') return { problem: 'must not contain a user name or password.' }
  if (Buffer.byteLength(href) > maxPathBytes) return { problem: `must have at most ${maxPathBytes} bytes.` }
  return { path: href }
}
