import { createHash, randomBytes } from 'node:crypto'
import { basename, extname } from 'node:path'

import { isWebUrl, parseUrl } from '../../platform/outbound/networks.ts'
import { withoutLostCharacters } from '../../platform/text/foreign-text.ts'
import { decodePercent } from '../../platform/text/percent-encoding.ts'
import type { CuePoints } from './cue-points.ts'

/** The tags of a song. Texts are clean and truncated; empty: unknown. */
export interface SongTags {
  /** The displayed text. */
  artist: string
  /**
   * All artists of the song as its file lists them, clean, without repeats, at most 20. Empty: the file lists none, or
   * one text; then `artist` is the text.
   */
  artists: readonly string[]
  title: string
  album: string
  genre: string
  isrc: string
  lyrics: string
  /** 0: unknown. */
  durationMs: number
}

/** A song of a station's library. Its key is `path`: a real path, URL or catalog name. */
export interface ImportedSong extends SongTags {
  path: string
  /** All texts of its file by the lower-case name of their tag; null if it was not read from a file. */
  tags: ReadonlyMap<string, string> | null
  cues: CuePoints
  /** The key of its cover in the artwork table. */
  coverHash: string | null
  sizeBytes: number
  modifiedMs: number
}

/** Longer durations (24 days, the range of 32-bit milliseconds) are treated as unknown. */
const maxDurationMs = 2_147_483_647

/** Converts seconds to whole milliseconds; 0 if missing, negative or too large. */
export function toDurationMs(seconds = 0): number {
  const ms = Math.round(seconds * 1_000)
  return ms > 0 && ms <= maxDurationMs ? ms : 0
}

/** The unique id of a song, 24 hexadecimal digits. Routes take it in place of the id. */
export const uniqueIdPattern = /^[0-9a-f]{24}$/

export const generateUniqueId = (): string => randomBytes(12).toString('hex')

/** A title from a path or URL: the file name without extension, or the host. */
export function titleFromPath(path: string): string {
  const url = isWebUrl(path) ? parseUrl(path) : null
  if (!url) return cleanLine(basename(path, extname(path)), maxTagLengths.title)
  const name = basename(url.pathname, extname(url.pathname))
  return cleanLine(decodePercent(name) ?? name, maxTagLengths.title) || url.host
}

/** The id of an empty text: the MD5 of `stationoffline`. */
const emptyTextId = '5a6a865199cf5df73b1417326d2ff24f'

/**
 * The id of a song for players and web hooks: the MD5 (32 hex digits) of the first 150 code points of its
 * text, in lower case, without spaces, hyphens, quotes and line breaks.
 */
export function computeSongId(text: string): string {
  // A code point has at most two UTF-16 units.
  const start = Array.from(text.slice(0, 300)).slice(0, 150).join('')
  const bare = start.replace(/[ \-"'\n\t\r]/g, '')
  if (bare === '' || bare === '0') return emptyTextId
  return createHash('md5').update(bare.toLowerCase()).digest('hex')
}

/** The song id of a URL. Different URLs are different songs, regardless of title. */
export const computeAddressSongId = (address: string): string =>
  createHash('md5').update(address).digest('hex')

/** `Artist - Title`; an empty part is omitted with the hyphen. */
export function formatSongText(artist: string, title: string): string {
  return [artist, title].filter(part => part !== '').join(' - ')
}

/** Maximum lengths of tags, in code points. */
export const maxTagLengths = {
  artist: 255,
  title: 255,
  album: 200,
  genre: 255,
  isrc: 32,
  lyrics: 8_000
} as const

/**
 * Replaces control characters (Postgres rejects NUL), removes U+FFFD and lone surrogates, and truncates to code points.
 */
export function cleanLine(text: string, limit: number): string {
  const start = text.trimStart().slice(0, limit * 4)
  return truncateField(start.replace(/\p{Cc}+/gu, ' '), limit)
}

/** Like `cleanLine`, but keeps line feeds; carriage returns become line feeds. */
export function cleanLines(text: string, limit: number): string {
  const start = text.trimStart().slice(0, limit * 4)
  return truncateField(start.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n]+/gu, ' '), limit)
}

function truncateField(text: string, limit: number): string {
  const whole = withoutLostCharacters(text).trim()
  // Fast path: splitting into code points is slow.
  if (whole.length <= limit) return whole
  return Array.from(whole).slice(0, limit).join('').trimEnd()
}
