import { runInTimeSlices } from '../../platform/runtime/time-slices.ts'
import { decodeForeignLines } from '../../platform/text/foreign-text.ts'
import { cleanLine, maxTagLengths, formatSongText, type SongTags, toDurationMs } from './song.ts'

/** An entry of a playlist: a path or URL as written, and its tags (0 or empty: unknown). */
export interface PlaylistEntry extends Pick<SongTags, 'durationMs' | 'artist' | 'title'> {
  location: string
}

/** A parsed playlist file. `problems` are messages for people, at most 101. */
export interface ParsedPlaylist {
  entries: PlaylistEntry[]
  problems: string[]
}

export const maxPlaylistBytes = 10 * 1024 * 1024
export const maxPlaylistEntries = 50_000
/** More than a list of `maxPlaylistEntries` needs. */
const maxLines = 300_000
const maxLineLength = 4_096
const tooManyEntries = `only the first ${maxPlaylistEntries} entries are read`
const tooManyLines = `only the first ${maxLines} lines are read`
const maxProblems = 100

/**
 * Parses M3U, M3U8 or PLS in any encoding that `decodeForeignLines` detects, also in several. Never throws: a file that
 * is not a playlist has no entries and one problem.
 */
export function parsePlaylist(bytes: Uint8Array, charset: string | null = null): ParsedPlaylist {
  if (bytes.length > maxPlaylistBytes) return reject('it is larger than 10 MiB')
  const steps = parseSteps(decodeForeignLines(bytes, charset))
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Parses the text of a playlist as `parsePlaylist` does, and yields to the event loop between slices. */
export async function parsePlaylistInSlices(text: string): Promise<ParsedPlaylist> {
  const steps = parseSteps(text)
  let parsed = reject('it is empty')
  await runInTimeSlices(sliceMs, () => {
    const { done, value } = steps.next()
    if (done) parsed = value
    return !done
  })
  return parsed
}

const sliceMs = 8
/** How many lines are read before it yields to the event loop. */
const linesPerStep = 100

function* parseSteps(text: string): Generator<undefined, ParsedPlaylist> {
  if (text.includes('\0')) return reject('it is not a playlist (not a text file)')

  const problems: string[] = []
  const lines = yield* readLines(text, problems)
  if (lines.length === 0 && problems.length === 0) return reject('it is empty')
  if (yield* someLine(lines, each => each.startsWith('#EXT-X-')))
    return reject('it is an HLS stream, not a list of songs')
  const isPls = yield* someLine(lines, each => /^\[playlist\]$/i.test(each) || /^file\d+\s*=/i.test(each))
  const entries = yield* isPls ? readPls(lines, problems) : readM3u(lines, problems)
  if (entries.length > maxPlaylistEntries) problems.unshift(tooManyEntries)
  if (entries.length === 0 && problems.length === 0) problems.push('it has no entries')
  const left = problems.length - maxProblems
  const reported = left > 0 ? [...problems.slice(0, maxProblems), `and ${left} more problems`] : problems
  return { entries: entries.slice(0, maxPlaylistEntries), problems: reported }
}

/** Whether entries were omitted because the playlist is too long. */
export function isPlaylistTruncated({ problems }: ParsedPlaylist): boolean {
  return problems.includes(tooManyEntries) || problems.includes(tooManyLines)
}

interface Line {
  number: number
  text: string
}

const reject = (problem: string): ParsedPlaylist => ({ entries: [], problems: [problem] })

function* readLines(text: string, problems: string[]): Generator<undefined, Line[]> {
  const lines: Line[] = []
  let number = 0
  // Searching for one character is many times as fast as an expression in lines of megabytes.
  let [nextLf, nextCr] = [text.indexOf('\n'), text.indexOf('\r')]
  for (let at = 0; at <= text.length;) {
    if (nextLf !== -1 && nextLf < at) nextLf = text.indexOf('\n', at)
    if (nextCr !== -1 && nextCr < at) nextCr = text.indexOf('\r', at)
    const ends = [nextLf, nextCr].filter(end => end !== -1)
    const end = ends.length === 0 ? text.length : Math.min(...ends)
    const raw = text.slice(at, end)
    at = end + (end === nextCr && nextLf === end + 1 ? 2 : 1)
    number += 1
    if (number % linesPerStep === 0) yield
    if (number > maxLines) {
      problems.push(tooManyLines)
      break
    }
    const isTooLong = raw.length > maxLineLength
    if (isTooLong) problems.push(`line ${number} is longer than ${maxLineLength} characters`)
    const line = isTooLong || raw.trim() === '' ? '' : cleanLine(raw, maxLineLength)
    if (line !== '') lines.push({ number, text: line })
  }
  return lines
}

function* someLine(lines: readonly Line[], test: (text: string) => boolean): Generator<undefined, boolean> {
  for (const [index, { text }] of lines.entries()) {
    if (index % linesPerStep === 0) yield
    if (test(text)) return true
  }
  return false
}

/** The form of the lines of a list without a header, to distinguish it from other text. */
const looksLikeLocation =
  /^[a-z][a-z0-9+.-]*:\/\/\S|\.(mp3|ogg|oga|opus|flac|m4a|mp4|aac|wav|wma|aiff?|ape)$/i

function* readM3u(lines: Line[], problems: string[]): Generator<undefined, PlaylistEntry[]> {
  const isExtended = yield* someLine(lines, each => /^#EXT(M3U|INF)/i.test(each))
  const isPlaylist = isExtended || (yield* someLine(lines, each => looksLikeLocation.test(each)))
  if (!isPlaylist) {
    problems.splice(0, problems.length, 'it is not a playlist (no line names an audio file)')
    return []
  }
  const entries: PlaylistEntry[] = []
  let info = { durationMs: 0, artist: '', title: '' }
  for (const [index, { number, text }] of lines.entries()) {
    if (index % linesPerStep === 0) yield
    if (/^#EXTINF:/i.test(text)) info = readExtInf(text)
    if (text.startsWith('#')) continue
    if (isExtended || looksLikeLocation.test(text)) entries.push({ location: text, ...info })
    else problems.push(`line ${number} names no audio file`)
    info = { durationMs: 0, artist: '', title: '' }
  }
  return entries
}

/** `#EXTINF:<seconds>[ attributes],<Artist - Title>`; quoted attribute values may contain commas. */
function readExtInf(text: string): Omit<PlaylistEntry, 'location'> {
  const info = text.slice('#EXTINF:'.length)
  const seconds = /^\s*-?[\d.]+/.exec(info)?.[0]
  const comma = info.replace(/"[^"]*"/g, quoted => '_'.repeat(quoted.length)).indexOf(',')
  return { durationMs: toDurationMs(Number(seconds)), ...splitTitle(comma < 0 ? '' : info.slice(comma + 1)) }
}

function* readPls(lines: Line[], problems: string[]): Generator<undefined, PlaylistEntry[]> {
  const fields = {
    file: new Map<number, string>(),
    title: new Map<number, string>(),
    artist: new Map<number, string>(),
    length: new Map<number, string>()
  }
  for (const [index, { number, text }] of lines.entries()) {
    if (index % linesPerStep === 0) yield
    const match = /^(file|title|artist|length)(\d{1,9})\s*=\s*(.*)$/i.exec(text)
    const isKnown = /^(\[.*\]|[#;].*|(numberofentries|version)\s*=.*)$/i.test(text)
    if (!match && !isKnown) problems.push(`line ${number} is not a PLS line`)
    const key = match?.[1]?.toLowerCase()
    // One more shows that there are too many.
    if (key === 'file' && fields.file.size > maxPlaylistEntries) break
    if (key === 'file' || key === 'title' || key === 'artist' || key === 'length') {
      fields[key].set(Number(match?.[2]), match?.[3] ?? '')
    }
  }
  const files = [...fields.file].filter(([, location]) => location !== '').toSorted(([a], [b]) => a - b)
  const entries: PlaylistEntry[] = []
  for (const [index, location] of files) {
    if (entries.length % linesPerStep === 0) yield
    const durationMs = toDurationMs(Number(fields.length.get(index)))
    const names = withArtist(fields.artist.get(index) ?? '', fields.title.get(index) ?? '')
    entries.push({ location, durationMs, ...names })
  }
  return entries
}

/** Some programs write the artist as `Artist1`, a few of them also in the title. */
function withArtist(artist: string, title: string): Pick<PlaylistEntry, 'artist' | 'title'> {
  const named = cleanLine(artist, maxTagLengths.artist)
  if (named === '') return splitTitle(title)
  const start = `${named} - `
  const rest = title.toLowerCase().startsWith(start.toLowerCase()) ? title.slice(start.length) : title
  return { artist: named, title: cleanLine(rest, maxTagLengths.title) }
}

function splitTitle(text: string): { artist: string; title: string } {
  const at = text.indexOf(' - ')
  const [artist, title] = at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + 3)]
  return { artist: cleanLine(artist, maxTagLengths.artist), title: cleanLine(title, maxTagLengths.title) }
}

/** A track of a playlist to be rendered. */
export interface ListedSong extends Readonly<Omit<PlaylistEntry, 'location'>> {
  readonly path: string
}

/** The formats of playlists, with their content types. */
export const playlistMimeTypes = { m3u: 'audio/x-mpegurl', pls: 'audio/x-scpls' } as const

export type PlaylistFileFormat = keyof typeof playlistMimeTypes

/** Renders a playlist. `parsePlaylist` returns the same paths in the same order. */
export function renderPlaylistFile(format: PlaylistFileFormat, songs: readonly ListedSong[]): string {
  return `${(format === 'm3u' ? m3uLines(songs) : plsLines(songs)).join('\n')}\n`
}

const m3uLines = (songs: readonly ListedSong[]) => [
  '#EXTM3U',
  ...songs.flatMap(song => [`#EXTINF:${seconds(song)},${line(song)}`, locationText(song.path)])
]

const plsLines = (songs: readonly ListedSong[]) => [
  '[playlist]',
  ...songs.flatMap((song, index) => [
    `File${index + 1}=${locationText(song.path)}`,
    `Title${index + 1}=${line(song)}`,
    `Length${index + 1}=${seconds(song)}`
  ]),
  `NumberOfEntries=${songs.length}`,
  'Version=2'
]

const seconds = ({ durationMs }: ListedSong) => (durationMs === 0 ? -1 : Math.floor(durationMs / 1000))

const line = ({ artist, title }: ListedSong) =>
  formatSongText(artist, title)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()

/**
 * Renders a path as a line. Percent-encodes a path that would be parsed as a comment or header, or changed.
 * Readers decode it if no file has the encoded name.
 */
function locationText(path: string): string {
  const isPlain =
    cleanLine(path, path.length) === path &&
    !/^#|^\[playlist\]$|^file\d+\s*=|[\u2028\u2029\uFFFD]/iu.test(path)
  return isPlain ? path : path.replace(/[%\\:#=[\]\s\p{Cc}\uFFFD]/gu, char => encodeURIComponent(char))
}
