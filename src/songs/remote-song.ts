import type { PlaylistEntry } from './playlist-file.ts'
import type { Song } from './song.ts'
import { titleOf } from './title-of.ts'

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
