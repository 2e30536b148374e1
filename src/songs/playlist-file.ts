import { cleanLine, longest, songText } from './song.ts'

/**
 * One line of a playlist: a path or URL as written, and what the list says of it (0 and '' where nothing).
 */
export interface PlaylistEntry {
  location: string
  durationMs: number
  artist: string
  title: string
}

/** What a playlist file holds; `problems` are sentences for a person, at most about a hundred. */
export interface PlaylistFile {
  entries: PlaylistEntry[]
  problems: string[]
}

/** The largest playlist file that is read, in bytes. */
export const maxPlaylistBytes = 10 * 1024 * 1024
/** The largest number of entries that is taken from one list. */
export const maxEntries = 50_000
/** More than any list of so many entries needs; what follows would only cost time. */
const maxLines = 300_000
const maxLineLength = 4_096
const tooManyEntries = `only the first ${maxEntries} entries are read`
const tooManyLines = `only the first ${maxLines} lines are read`
const maxProblems = 100
/** A length beyond this (24 days, the range of a 32-bit count of milliseconds) is taken as unknown. */
const maxDurationMs = 2_147_483_647

/**
 * Reads M3U, M3U8 or PLS. Never throws: a file that is no playlist has no entries and one problem that says
 * so. Text is UTF-8 or, by its byte order mark, UTF-16; bytes that are not valid UTF-8 are read as
 * windows-1252.
 */
export function parsePlaylist(bytes: Uint8Array): PlaylistFile {
  if (bytes.length > maxPlaylistBytes) return refuse('it is larger than 10 MiB')
  const text = decode(bytes)
  if (text.trim() === '') return refuse('it is empty')
  if (text.includes('\0')) return refuse('it is no playlist (not a text file)')
  if (/^#EXT-X-/m.test(text)) return refuse('it is an HLS stream, not a list of songs')

  const problems: string[] = []
  const lines = readLines(text, problems)
  const isPls = lines.some(line => /^\[playlist\]$/i.test(line.text) || /^file\d+\s*=/i.test(line.text))
  const entries = isPls ? readPls(lines, problems) : readM3u(lines, problems)
  if (entries.length > maxEntries) problems.unshift(tooManyEntries)
  if (entries.length === 0 && problems.length === 0) problems.push('it has no entries')
  const left = problems.length - maxProblems
  const told = left > 0 ? [...problems.slice(0, maxProblems), `and ${left} more problems`] : problems
  return { entries: entries.slice(0, maxEntries), problems: told }
}

/** Whether a playlist goes on after the last entry that was taken. */
export function isCut({ problems }: PlaylistFile): boolean {
  return problems.includes(tooManyEntries) || problems.includes(tooManyLines)
}

interface Line {
  number: number
  text: string
}

function refuse(problem: string): PlaylistFile {
  return { entries: [], problems: [problem] }
}

function decode(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const latin = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
    return latin.replace(/[\u0080-\u009F]/g, char => windows1252[char.charCodeAt(0) - 0x80] ?? char)
  }
}

/** 0x80 to 0x9F. Node 20 decodes this encoding as Latin-1, where these are control characters. */
const windows1252 =
  '\u20AC\u0081\u201A\u0192\u201E\u2026\u2020\u2021\u02C6\u2030\u0160\u2039\u0152\u008D\u017D\u008F' +
  '\u0090\u2018\u2019\u201C\u201D\u2022\u2013\u2014\u02DC\u2122\u0161\u203A\u0153\u009D\u017E\u0178'

function readLines(text: string, problems: string[]): Line[] {
  const lines: Line[] = []
  let number = 0
  const raws = text.split(/\r\n|\r|\n/, maxLines + 1)
  if (raws.length > maxLines) problems.push(tooManyLines)
  for (const raw of raws.slice(0, maxLines)) {
    number += 1
    if (raw.length > maxLineLength) problems.push(`line ${number} is longer than ${maxLineLength} characters`)
    // Tabs and other control characters have no place in a path that came by way of a text file.
    else if (raw.trim() !== '') lines.push({ number, text: cleanLine(raw, maxLineLength) })
  }
  return lines.filter(line => line.text !== '')
}

/** How a line of a bare list must look, where nothing else tells the list from prose. */
const looksLikeLocation =
  /^[a-z][a-z0-9+.-]*:\/\/\S|\.(mp3|ogg|oga|opus|flac|m4a|mp4|aac|wav|wma|aiff?|ape)$/i

function readM3u(lines: Line[], problems: string[]): PlaylistEntry[] {
  const isExtended = lines.some(line => /^#EXT(M3U|INF)/i.test(line.text))
  const isPlaylist = isExtended || lines.some(line => looksLikeLocation.test(line.text))
  if (!isPlaylist) {
    problems.splice(0, problems.length, 'it is no playlist (no line names an audio file)')
    return []
  }
  const entries: PlaylistEntry[] = []
  let info = { durationMs: 0, artist: '', title: '' }
  for (const { number, text } of lines) {
    if (/^#EXTINF:/i.test(text)) info = readExtInf(text)
    if (text.startsWith('#')) continue
    if (isExtended || looksLikeLocation.test(text)) entries.push({ location: text, ...info })
    else problems.push(`line ${number} names no audio file`)
    info = { durationMs: 0, artist: '', title: '' }
  }
  return entries
}

/** `#EXTINF:<seconds>[ attributes],<Artist - Title>`; attribute values in quotes may hold commas. */
function readExtInf(text: string): Omit<PlaylistEntry, 'location'> {
  const info = text.slice('#EXTINF:'.length)
  const seconds = /^\s*-?[\d.]+/.exec(info)?.[0]
  const comma = info.replace(/"[^"]*"/g, quoted => '_'.repeat(quoted.length)).indexOf(',')
  return { durationMs: toDurationMs(seconds), ...splitTitle(comma < 0 ? '' : info.slice(comma + 1)) }
}

function readPls(lines: Line[], problems: string[]): PlaylistEntry[] {
  const fields = {
    file: new Map<number, string>(),
    title: new Map<number, string>(),
    length: new Map<number, string>()
  }
  for (const { number, text } of lines) {
    const match = /^(file|title|length)(\d{1,9})\s*=\s*(.*)$/i.exec(text)
    const isKnown = /^(\[.*\]|[#;].*|(numberofentries|version)\s*=.*)$/i.test(text)
    if (!match && !isKnown) problems.push(`line ${number} is not understood`)
    const key = match?.[1]?.toLowerCase()
    if (key === 'file' || key === 'title' || key === 'length') {
      fields[key].set(Number(match?.[2]), match?.[3] ?? '')
    }
  }
  return [...fields.file]
    .filter(([, location]) => location !== '')
    .toSorted(([a], [b]) => a - b)
    .map(([index, location]) => ({
      location,
      durationMs: toDurationMs(fields.length.get(index)),
      ...splitTitle(fields.title.get(index) ?? '')
    }))
}

/** Seconds, perhaps with a fraction, as whole milliseconds; 0 for a missing, negative or absurd length. */
function toDurationMs(seconds: string | undefined): number {
  const ms = Math.round(Number(seconds ?? '') * 1_000)
  return ms > 0 && ms <= maxDurationMs ? ms : 0
}

function splitTitle(text: string): { artist: string; title: string } {
  const at = text.indexOf(' - ')
  const [artist, title] = at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + 3)]
  return { artist: cleanLine(artist, longest.artist), title: cleanLine(title, longest.title) }
}

/** One track of a list to be written. */
export interface ListedSong {
  readonly path: string
  readonly artist: string
  readonly title: string
  /** 0 where the length is not known. */
  readonly durationMs: number
}

/** The forms in which a list is written, with their content types. */
export const playlistTypes = { m3u: 'audio/x-mpegurl', pls: 'audio/x-scpls' } as const

export type PlaylistFormat = keyof typeof playlistTypes

/** Writes a list that `parsePlaylist` reads back: the same paths in the same order. */
export function renderPlaylist(format: PlaylistFormat, songs: readonly ListedSong[]): string {
  return `${(format === 'm3u' ? m3uLines(songs) : plsLines(songs)).join('\n')}\n`
}

function m3uLines(songs: readonly ListedSong[]): string[] {
  return [
    '#EXTM3U',
    ...songs.flatMap(song => [`#EXTINF:${seconds(song)},${line(song)}`, locationText(song.path)])
  ]
}

function plsLines(songs: readonly ListedSong[]): string[] {
  const entries = songs.flatMap((song, index) => [
    `File${index + 1}=${locationText(song.path)}`,
    `Title${index + 1}=${line(song)}`,
    `Length${index + 1}=${seconds(song)}`
  ])
  return ['[playlist]', ...entries, `NumberOfEntries=${songs.length}`, 'Version=2']
}

const seconds = ({ durationMs }: ListedSong) => (durationMs === 0 ? -1 : Math.floor(durationMs / 1000))

/** Artist and title as one line, whatever they hold. */
const line = ({ artist, title }: ListedSong) =>
  songText(artist, title)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()

/**
 * A path as a line of a list. One that would be read as something else (a comment, a heading) or come back
 * another one (blanks at its ends, line breaks) is percent-encoded, which readers undo where nothing has that
 * very name.
 */
function locationText(path: string): string {
  const isPlain =
    cleanLine(path, path.length) === path && !/^#|^\[playlist\]$|^file\d+\s*=|[\u2028\u2029]/iu.test(path)
  return isPlain ? path : path.replace(/[%\\:#=[\]\s\p{Cc}]/gu, char => encodeURIComponent(char))
}
