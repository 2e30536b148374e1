import { songText } from './song-id.ts'
import { cleanLine } from './tag-text.ts'

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
 * A path as a line of a list. One that would be read as something else (a comment, a heading) or come back another
 * one (blanks at its ends, line breaks) is percent-encoded, which readers undo where nothing has that very name.
 */
export function locationText(path: string): string {
  const isPlain =
    cleanLine(path, path.length) === path && !/^#|^\[playlist\]$|^file\d+\s*=|[\u2028\u2029]/iu.test(path)
  return isPlain ? path : path.replace(/[%\\:#=[\]\s\p{Cc}]/gu, char => encodeURIComponent(char))
}
