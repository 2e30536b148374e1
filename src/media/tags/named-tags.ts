import type { IAudioMetadata } from 'music-metadata'

import { cleanLines } from '../../songs/song.ts'

const maxTags = 200
const maxNameLength = 100
const maxValueLength = 8_000

/** The names of tags that formats abbreviate; those of Vorbis comments and APE need only lower case. */
const names: Readonly<Record<string, string>> = {
  TPE1: 'artist',
  TIT2: 'title',
  TALB: 'album',
  TCON: 'genre',
  IART: 'artist',
  INAM: 'title',
  IPRD: 'album',
  IGNR: 'genre',
  '\u00A9ART': 'artist',
  '\u00A9nam': 'title',
  '\u00A9alb': 'album',
  '\u00A9gen': 'genre'
}

/**
 * Reads all texts of a file by the name of their tag, in lower case: `album_artist`, `bpm`, `composer`, `year` and so on,
 * whatever the format calls them; other tags by their own name. Several values of a tag are joined with `; `. At most
 * 200 tags of at most 8,000 code points.
 */
export function readNamedTags(native: IAudioMetadata['native']): ReadonlyMap<string, string> {
  const tags = new Map<string, string>()
  for (const { id, value } of Object.values(native).flat()) {
    if (typeof value !== 'string') continue
    const name = names[id] ?? (id.split(':').at(-1) ?? '').toLowerCase().slice(0, maxNameLength)
    const before = tags.get(name)
    if (before === undefined && tags.size === maxTags) continue
    tags.set(name, cleanLines(before === undefined ? value : `${before}; ${value}`, maxValueLength))
  }
  return tags
}
