import { basename, extname } from 'node:path'

import { cleanLine, cleanLines, maxTagLengths, type SongTags } from '../../../model/songs/song.ts'
import { pickSongArtists } from './artists.ts'
import { splitGenres } from './genres.ts'
import type { TagTexts } from './named-tags.ts'

const maxGenres = 20

/** The tags of a song from those of its file, the most important block first. `path` titles a song without title. */
export function toSongTags(
  blocks: readonly TagTexts[],
  merged: TagTexts,
  path: string
): Omit<SongTags, 'durationMs'> {
  // The last of several, as earlier releases did: the id of a song is derived from its title.
  const last = (name: string) => merged.get(name)?.at(-1) ?? ''
  const genres = new Set((merged.get('genre') ?? []).flatMap(splitGenres))
  return {
    ...pickSongArtists(blocks),
    title:
      cleanLine(last('title'), maxTagLengths.title) ||
      cleanLine(basename(path, extname(path)), maxTagLengths.title),
    album: cleanLine(last('album'), maxTagLengths.album),
    genre: cleanLine([...genres].slice(0, maxGenres).join(', '), maxTagLengths.genre),
    // Taggers join several with a slash or semicolon.
    isrc: cleanLine(merged.get('isrc')?.[0]?.split(/[/;]/)[0] ?? '', maxTagLengths.isrc),
    lyrics: readLyrics(merged.get('unsynchronised_lyric') ?? [])
  }
}

/** Returns plain text. Line times are removed, whether they are data or a prefix like `[01:23.45]`. */
function readLyrics(texts: readonly string[]): string {
  const text = texts.find(candidate => candidate.trim() !== '') ?? ''
  const plain = text.slice(0, maxTagLengths.lyrics * 8).replace(/^(\[\d{1,3}:\d\d(\.\d{1,3})?\] ?)+/gm, '')
  return cleanLines(plain, maxTagLengths.lyrics)
}
