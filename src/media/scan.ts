import type { Dirent } from 'node:fs'
import { access, constants, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'

import { isInsideRoots, openInside } from '../runtime/contained-files.ts'
import { OperatorError } from '../runtime/errors.ts'
import { maxPathBytes } from '../songs/library-path.ts'
import { resolveLocation } from '../songs/location.ts'
import { maxPlaylistBytes, parsePlaylist, type PlaylistEntry } from '../songs/playlist-file.ts'
import { outsideReason } from './file-tokenizer.ts'

/** One thing found: an audio file by its real path, a URL out of a playlist, or what had to be left out. */
export type Found =
  | { type: 'file'; path: string; sizeBytes: number; modifiedMs: number }
  | { type: 'remote'; path: string; entry: PlaylistEntry }
  | { type: 'unusable'; path: string; reason: string }

const audioExtensions = new Set(['.mp3', '.ogg', '.oga', '.opus', '.flac', '.m4a', '.mp4', '.wav'])
const playlistExtensions = new Set(['.m3u', '.m3u8', '.pls'])
const byName = new Intl.Collator('en', { numeric: true })

/**
 * Makes sure that every argument of an import is a file or folder that can be read; throws an
 * `OperatorError`.
 */
export async function checkPaths(paths: string[]): Promise<void> {
  for (const path of paths) {
    const shown = JSON.stringify(path)
    try {
      const stats = await stat(path)
      await access(path, constants.R_OK)
      if (stats.isFile() || stats.isDirectory()) continue
    } catch (error) {
      throw new OperatorError(`cannot read ${shown}: ${reasonOf(error)}`, { cause: error })
    }
    throw new OperatorError(`cannot read ${shown}: it is neither a file nor a folder`)
  }
}

/**
 * The real paths of the folders in which the files of an import must lie: each folder of `paths`, the folder
 * of each file of them, and `allowed`. What is a link itself counts as the place to which it leads.
 */
export async function rootsOf(paths: readonly string[], allowed: readonly string[]): Promise<string[]> {
  const named = paths.map(async path => {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : dirname(real)
  })
  return Promise.all([...named, ...allowed.map(folder => realpath(folder))])
}

/**
 * Walks files, folders (all the way down, sorted, without hidden names) and playlist files, and gives what
 * can be imported in that order. Playlist files inside folders are left alone: they would repeat what is
 * there. Nothing but one folder's names is held in memory. The same file may come more than once. Links and
 * entries of playlist files that lead out of `realRoots` are unusable, and not opened.
 */
export async function* scan(paths: string[], realRoots: readonly string[]): AsyncGenerator<Found> {
  const visited = new Set<string>()
  for (const path of paths) {
    const stats = await stat(path)
    if (stats.isDirectory()) yield* scanFolder(path, visited, realRoots)
    else if (playlistExtensions.has(extensionOf(path))) yield* scanPlaylist(path, realRoots)
    else if (audioExtensions.has(extensionOf(path))) yield await lookAt(path, realRoots)
    else yield { type: 'unusable', path, reason: 'its name has no ending of an audio file or playlist' }
  }
}

/** How many things `scan` would give, for a progress bar; what changes meanwhile is not seen. */
export async function countFound(
  paths: string[],
  allowed: readonly string[],
  signal: AbortSignal
): Promise<number> {
  let count = 0
  for await (const _ of scan(paths, await rootsOf(paths, allowed))) {
    count += 1
    if (signal.aborted) break
  }
  return count
}

async function* scanFolder(
  folder: string,
  visited: Set<string>,
  realRoots: readonly string[]
): AsyncGenerator<Found> {
  let entries: Dirent[]
  try {
    const real = await realpath(folder)
    // A link back up would lead round in circles.
    if (visited.has(real)) return
    visited.add(real)
    if (!isInsideRoots(real, realRoots)) {
      yield { type: 'unusable', path: folder, reason: outsideReason }
      return
    }
    entries = await readdir(real, { withFileTypes: true })
  } catch (error) {
    yield { type: 'unusable', path: folder, reason: reasonOf(error) }
    return
  }
  const visible = entries.filter(entry => !entry.name.startsWith('.'))
  for (const entry of visible.toSorted((a, b) => byName.compare(a.name, b.name))) {
    const path = join(folder, entry.name)
    if (await isFolder(entry, path)) yield* scanFolder(path, visited, realRoots)
    else if (audioExtensions.has(extensionOf(path))) yield await lookAt(path, realRoots)
  }
}

async function isFolder(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory()
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

async function* scanPlaylist(path: string, realRoots: readonly string[]): AsyncGenerator<Found> {
  const { entries, problems } = parsePlaylist(await readPlaylist(path, realRoots))
  for (const reason of problems) yield { type: 'unusable', path, reason }
  const folder = dirname(await realpath(path))
  for (const entry of entries) yield await resolveEntry(entry, folder, realRoots)
}

async function readPlaylist(path: string, realRoots: readonly string[]): Promise<Uint8Array> {
  await using file = await openInside(path, realRoots)
  const isTooLarge = (await file.stat()).size > maxPlaylistBytes
  return isTooLarge ? new Uint8Array(maxPlaylistBytes + 1) : await file.readFile()
}

async function resolveEntry(
  entry: PlaylistEntry,
  folder: string,
  realRoots: readonly string[]
): Promise<Found> {
  const location = resolveLocation(entry.location, folder)
  switch (location.type) {
    case 'unusable':
      return { type: 'unusable', path: entry.location, reason: location.reason }
    case 'remote':
      if (Buffer.byteLength(location.url) > maxPathBytes) return tooLong(location.url)
      return { type: 'remote', path: location.url, entry: { ...entry, location: location.url } }
    case 'file': {
      const looks = await Promise.all(location.paths.map(async path => lookAt(path, realRoots)))
      const found = looks.find(look => look.type === 'file') ?? looks[0]
      if (found?.type !== 'file' || audioExtensions.has(extensionOf(found.path))) return found ?? gone(entry)
      return { type: 'unusable', path: entry.location, reason: 'its name has no ending of an audio file' }
    }
    default:
      return location satisfies never
  }
}

/** Looks at a file without opening it: a FIFO or device is told from a file, links are followed. */
async function lookAt(path: string, realRoots: readonly string[]): Promise<Found> {
  try {
    const real = await realpath(path)
    if (!isInsideRoots(real, realRoots)) return { type: 'unusable', path, reason: outsideReason }
    const stats = await stat(real)
    if (stats.isDirectory()) return { type: 'unusable', path, reason: 'it is a folder' }
    if (!stats.isFile()) return { type: 'unusable', path, reason: 'it is not a regular file' }
    if (Buffer.byteLength(real) > maxPathBytes) return tooLong(path)
    return { type: 'file', path: real, sizeBytes: stats.size, modifiedMs: Math.floor(stats.mtimeMs) }
  } catch (error) {
    // Bytes that are not UTF-8 arrive as replacement characters, which then name no file.
    const isBadName = basename(path).includes('\uFFFD')
    return { type: 'unusable', path, reason: isBadName ? 'its name is not valid UTF-8' : reasonOf(error) }
  }
}

function tooLong(path: string): Found {
  return { type: 'unusable', path, reason: `its path is longer than ${maxPathBytes} bytes` }
}

function gone(entry: PlaylistEntry): Found {
  return { type: 'unusable', path: entry.location, reason: 'it does not exist' }
}

function extensionOf(path: string): string {
  return extname(path).toLowerCase()
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'it does not exist'
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied'
  if (code === 'ELOOP') return 'its links lead round in circles'
  if (code === 'ENAMETOOLONG') return 'its path is too long'
  return error instanceof Error ? error.message : String(error)
}
