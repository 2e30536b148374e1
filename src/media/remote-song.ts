import { basename, extname } from 'node:path'

import type { Song } from './media-rows.ts'
import type { PlaylistEntry } from './playlist-file.ts'
import { cleanLine, longest } from './tag-text.ts'

/** A song behind a URL: what the playlist says of it, else what is known, else a title out of the address. */
export function remoteSong(entry: PlaylistEntry, known: Song | undefined): Song {
  const path = entry.location
  const old = known ?? { ...unknown, path, title: titleOf(path) }
  const durationMs = entry.durationMs || old.durationMs
  return entry.title === ''
    ? { ...old, durationMs }
    : { ...old, durationMs, artist: entry.artist, title: entry.title }
}

const unknown: Omit<Song, 'path' | 'title'> = {
  artist: '',
  album: '',
  genre: '',
  isrc: '',
  lyrics: '',
  durationMs: 0,
  coverHash: null,
  sizeBytes: 0,
  modifiedMs: 0
}

function titleOf(location: string): string {
  const url = new URL(location)
  const name = basename(url.pathname, extname(url.pathname))
  try {
    return cleanLine(decodeURIComponent(name), longest.title) || url.host
  } catch {
    return cleanLine(name, longest.title) || url.host
  }
}
