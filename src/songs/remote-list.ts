import { parsedUrl } from '../outbound/networks.ts'
import { libraryPath } from './library-path.ts'
import { parsePlaylist, type PlaylistEntry } from './playlist-file.ts'
import { type ImportedSong, titleOf } from './song.ts'

/**
 * A list that was fetched: a song for each of its addresses, in its order; or a sentence on why there are
 * none.
 */
export type RemoteList = { readonly songs: readonly ImportedSong[] } | { readonly problem: string }

/** The largest number of entries that is taken from one list. */
const most = 5_000

/**
 * Reads M3U, M3U8 or PLS that was found at `address`, which relative entries start from. An entry that leads
 * to no http(s) address, or to one with a password, is passed over; so is an address that the list has named
 * before.
 */
export function readRemoteList(bytes: Uint8Array, address: string): RemoteList {
  const { entries, problems } = parsePlaylist(bytes)
  if (entries.length === 0) return { problem: `The list cannot be used: ${problems[0]}.` }
  const songs = new Map<string, ImportedSong>()
  for (const entry of entries) {
    if (songs.size === most) break
    const path = resolve(entry.location, address)
    if (path !== null && !songs.has(path))
      songs.set(path, remoteSong({ ...entry, location: path }, undefined))
  }
  if (songs.size === 0) return { problem: 'The list cannot be used: it names no http(s) address.' }
  return { songs: [...songs.values()] }
}

function resolve(location: string, base: string): string | null {
  const url = parsedUrl(location, base)
  const found = url && libraryPath(url.href, null)
  return found && 'path' in found ? found.path : null
}

/** A song behind a URL: what the playlist says of it, else what is known, else a title out of the address. */
export function remoteSong(entry: PlaylistEntry, known: ImportedSong | undefined): ImportedSong {
  const path = entry.location
  const old = known ?? { ...unknown, path, title: titleOf(path) }
  const durationMs = entry.durationMs || old.durationMs
  return entry.title === ''
    ? { ...old, durationMs }
    : { ...old, durationMs, artist: entry.artist, title: entry.title }
}

const unknown: Omit<ImportedSong, 'path' | 'title'> = {
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
