import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'

import { parsedUrl } from '../outbound/networks.ts'

/** What is known of a song; texts are clean and bounded, '' where nothing is known. */
export interface Tags {
  artist: string
  title: string
  album: string
  genre: string
  isrc: string
  lyrics: string
  /** 0 where the length is not known. */
  durationMs: number
}

/**
 * A song as a station's library has it: its key in the station (real path, URL or catalogue name) and its
 * tags.
 */
export interface ImportedSong extends Tags {
  path: string
  /** The key of its cover in the table of artwork. */
  coverHash: string | null
  sizeBytes: number
  modifiedMs: number
}

/**
 * A title for a song of which nothing but its path or URL is known: the name without its ending, else the
 * host.
 */
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

/** What stands for a text of which nothing is left: the hash of `stationoffline`. */
const nothing = '5a6a865199cf5df73b1417326d2ff24f'

/**
 * The id by which players and web hooks know a song, 32 hex digits: the MD5 of the first 150 code points,
 * without spaces, hyphens, quotes and line breaks, in lower case. Library media and streamed titles get it
 * the same way.
 */
export function songId(text: string): string {
  // No code point is longer than two UTF-16 units, so a huge text is cut before it is taken apart.
  const start = Array.from(text.slice(0, 300)).slice(0, 150).join('')
  const bare = start.replace(/[ \-"'\n\t\r]/g, '')
  if (bare === '' || bare === '0') return nothing
  return createHash('md5').update(bare.toLowerCase()).digest('hex')
}

/** The song id of what is behind an address: two addresses are two songs, whatever they are called. */
export function addressSongId(address: string): string {
  return createHash('md5').update(address).digest('hex')
}

/** `Artist - Title`; a part that is empty is left out together with the hyphen. */
export function songText(artist: string, title: string): string {
  return [artist, title].filter(part => part !== '').join(' - ')
}

/** Code points kept of each text that comes out of a file; the rest is cut off. */
export const longest = { artist: 255, title: 255, album: 200, genre: 255, isrc: 32, lyrics: 8_000 } as const

/**
 * Makes one line out of foreign text: control characters (Postgres refuses NUL) become a space, lone
 * surrogates the replacement character, and at most `limit` code points stay.
 */
export function cleanLine(text: string, limit: number): string {
  return cut(
    text
      .trimStart()
      .slice(0, limit * 4)
      .replace(/\p{Cc}+/gu, ' '),
    limit
  )
}

/** The same for text of several lines: line feeds stay, and a carriage return becomes one. */
export function cleanLines(text: string, limit: number): string {
  const lines = text
    .trimStart()
    .slice(0, limit * 4)
    .replace(/\r\n?/g, '\n')
  return cut(lines.replace(/[^\P{Cc}\n]+/gu, ' '), limit)
}

function cut(text: string, limit: number): string {
  const whole = text.replace(/\p{Cs}/gu, '\uFFFD').trim()
  // Nearly always. A list has thousands of lines, and taking each apart takes its time.
  if (whole.length <= limit) return whole
  return Array.from(whole).slice(0, limit).join('').trimEnd()
}
