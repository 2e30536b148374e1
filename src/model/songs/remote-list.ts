import { parseUrl } from '../../platform/outbound/networks.ts'
import { noCuePoints } from './cue-points.ts'
import { parseLibraryPath } from './library-path.ts'
import { parsePlaylist, type PlaylistEntry } from './playlist-file.ts'
import { type ImportedSong, titleFromPath } from './song.ts'

/** The songs of a fetched list in order, or why there are none. */
export type RemoteList = { readonly songs: readonly ImportedSong[] } | { readonly problem: string }

const maxEntries = 5_000

/**
 * Parses an M3U, M3U8 or PLS file from a URL, which relative entries refer to. Skips repeated URLs, and
 * entries that are not http(s) URLs or contain a password.
 */
export function parseRemoteList(
  bytes: Uint8Array,
  address: string,
  charset: string | null = null
): RemoteList {
  const { entries, problems } = parsePlaylist(bytes, charset)
  if (entries.length === 0) return { problem: `The list cannot be used: ${problems[0]}.` }
  const songs = new Map<string, ImportedSong>()
  for (const entry of entries) {
    if (songs.size === maxEntries) break
    const path = resolve(entry.location, address)
    if (path !== null && !songs.has(path))
      songs.set(path, buildRemoteSong({ ...entry, location: path }, undefined))
  }
  if (songs.size === 0) return { problem: 'The list cannot be used: it contains no http(s) URL.' }
  return { songs: [...songs.values()] }
}

function resolve(location: string, base: string): string | null {
  const url = parseUrl(location, base)
  const found = url && parseLibraryPath(url.href, null)
  return found && 'path' in found ? found.path : null
}

/** A song at a URL, with tags from the playlist, else the known ones, else a title from the URL. */
export function buildRemoteSong(entry: PlaylistEntry, known: ImportedSong | undefined): ImportedSong {
  const path = entry.location
  const old = known ?? { ...noTags, path, title: titleFromPath(path) }
  const durationMs = entry.durationMs || old.durationMs
  return entry.title === ''
    ? { ...old, durationMs }
    : { ...old, durationMs, artist: entry.artist, artists: [], title: entry.title }
}

const noTags: Omit<ImportedSong, 'path' | 'title'> = {
  artist: '',
  artists: [],
  album: '',
  genre: '',
  isrc: '',
  lyrics: '',
  durationMs: 0,
  tags: null,
  cues: noCuePoints,
  coverHash: null,
  sizeBytes: 0,
  modifiedMs: 0
}
