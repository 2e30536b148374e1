import type { Dirent } from 'node:fs'
import { access, constants, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'

import { resolveEntryLocation } from '../../model/songs/entry-location.ts'
import { maxPathBytes } from '../../model/songs/library-path.ts'
import { maxPlaylistBytes, parsePlaylist, type PlaylistEntry } from '../../model/songs/playlist-file.ts'
import { isInsideRoots, openInsideRoots } from '../../platform/runtime/contained-files.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import { listUnicodeForms } from '../../platform/text/unicode-names.ts'

/**
 * An audio file by its real path, a URL from a playlist, or an item that cannot be imported. `occurrence` is how often
 * its playlist file has named it so far; 1 outside of one.
 */
export type ScannedItem =
  | { type: 'file'; path: string; occurrence: number; sizeBytes: number; modifiedMs: number }
  | { type: 'remote'; path: string; occurrence: number; entry: PlaylistEntry }
  | { type: 'unusable'; path: string; reason: string }

type Items = AsyncGenerator<ScannedItem>

const audioExtensions = new Set(['.mp3', '.ogg', '.oga', '.opus', '.flac', '.m4a', '.mp4', '.wav'])
const playlistExtensions = new Set(['.m3u', '.m3u8', '.pls'])
const byName = new Intl.Collator('en', { numeric: true })

export const outsideFoldersMessage =
  'it is outside the folders of this import (name its folder as a PATH, or with --allow)'
const missingReason = 'it does not exist'

const unusable = (path: string, reason: string): ScannedItem => ({ type: 'unusable', path, reason })
const tooLong = (path: string) => unusable(path, `its path is longer than ${maxPathBytes} bytes`)

/** Throws an `OperatorError` unless every path is a file or folder that can be read. */
export async function assertPathsReadable(paths: string[]): Promise<void> {
  for (const path of paths) {
    const name = JSON.stringify(path)
    try {
      const stats = await stat(path)
      await access(path, constants.R_OK)
      if (stats.isFile() || stats.isDirectory()) continue
    } catch (error) {
      throw new OperatorError(`cannot read ${name}: ${describeFileError(error)}`, { cause: error })
    }
    throw new OperatorError(`cannot read ${name}: it is neither a file nor a folder`)
  }
}

/** Returns the real folders in which files must be: those in `paths`, those of its files, and `allowed`. */
export async function resolveRootFolders(
  paths: readonly string[],
  allowed: readonly string[]
): Promise<string[]> {
  const roots = paths.map(async path => {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : dirname(real)
  })
  return Promise.all([...roots, ...allowed.map(folder => realpath(folder))])
}

/**
 * Scans files, folders (recursively, sorted, without hidden names) and playlist files. Playlist files inside
 * folders are ignored: they would repeat what is there. A file may be returned more than once. Links and
 * playlist entries outside `roots`, which are real paths, are unusable and not opened.
 */
export async function* scanMedia(paths: string[], roots: readonly string[]): Items {
  const visited = new Set<string>()
  for (const path of paths) {
    if ((await stat(path)).isDirectory()) yield* scanFolder(path, visited, roots)
    else if (playlistExtensions.has(readExtension(path))) yield* scanPlaylist(path, roots)
    else if (audioExtensions.has(readExtension(path))) yield await inspectFile(path, roots)
    else yield unusable(path, 'its name has no extension of an audio file or playlist')
  }
}

/** Counts the items of a scan, for a progress bar; stops early if the signal is aborted. */
export async function countScannedItems(paths: string[], allowed: readonly string[], signal: AbortSignal) {
  let count = 0
  for await (const _ of scanMedia(paths, await resolveRootFolders(paths, allowed))) {
    count += 1
    if (signal.aborted) break
  }
  return count
}

async function* scanFolder(folder: string, visited: Set<string>, roots: readonly string[]): Items {
  let entries: Dirent[]
  try {
    const real = await realpath(folder)
    // A link to a parent folder would be followed endlessly.
    if (visited.has(real)) return
    visited.add(real)
    if (!isInsideRoots(real, roots)) {
      yield unusable(folder, outsideFoldersMessage)
      return
    }
    entries = await readdir(real, { withFileTypes: true })
  } catch (error) {
    yield unusable(folder, describeFileError(error))
    return
  }
  const visible = entries.filter(entry => !entry.name.startsWith('.'))
  for (const entry of visible.toSorted((a, b) => byName.compare(a.name, b.name))) {
    const path = join(folder, entry.name)
    if (await isFolder(entry, path)) yield* scanFolder(path, visited, roots)
    else if (audioExtensions.has(readExtension(path))) yield await inspectFile(path, roots)
  }
}

async function isFolder(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory()
  return (await stat(path).catch(() => null))?.isDirectory() ?? false
}

async function* scanPlaylist(path: string, roots: readonly string[]): Items {
  const { entries, problems } = parsePlaylist(await readPlaylist(path, roots))
  for (const reason of problems) yield unusable(path, reason)
  const folder = dirname(await realpath(path))
  const counts = new Map<string, number>()
  for (const entry of entries) {
    const item = await resolveEntry(entry, folder, roots)
    if (item.type === 'unusable') {
      yield item
      continue
    }
    const occurrence = (counts.get(item.path) ?? 0) + 1
    counts.set(item.path, occurrence)
    yield { ...item, occurrence }
  }
}

async function readPlaylist(path: string, roots: readonly string[]): Promise<Uint8Array> {
  await using file = await openInsideRoots(path, roots)
  const isTooLarge = (await file.stat()).size > maxPlaylistBytes
  return isTooLarge ? new Uint8Array(maxPlaylistBytes + 1) : await file.readFile()
}

async function resolveEntry(
  entry: PlaylistEntry,
  folder: string,
  roots: readonly string[]
): Promise<ScannedItem> {
  const location = resolveEntryLocation(entry.location, folder)
  switch (location.type) {
    case 'unusable':
      return unusable(entry.location, location.reason)
    case 'remote':
      if (Buffer.byteLength(location.url) > maxPathBytes) return tooLong(location.url)
      return {
        type: 'remote',
        path: location.url,
        occurrence: 1,
        entry: { ...entry, location: location.url }
      }
    case 'file': {
      const found = await findFirstFile(location.paths.flatMap(listUnicodeForms), roots)
      if (found?.type !== 'file') return found ?? unusable(entry.location, missingReason)
      if (audioExtensions.has(readExtension(found.path))) return found
      return unusable(entry.location, 'its name has no extension of an audio file')
    }
    default:
      return location satisfies never
  }
}

/** Inspects paths until one is a file; otherwise returns the first. */
async function findFirstFile(
  paths: readonly string[],
  roots: readonly string[]
): Promise<ScannedItem | undefined> {
  let first: ScannedItem | undefined
  for (const path of paths) {
    const item = await inspectFile(path, roots)
    if (item.type === 'file') return item
    first ??= item
  }
  return first
}

/** Inspects a file without opening it, since a FIFO would block. Links are followed. */
async function inspectFile(path: string, roots: readonly string[]): Promise<ScannedItem> {
  try {
    const real = await realpath(path)
    if (!isInsideRoots(real, roots)) return unusable(path, outsideFoldersMessage)
    const stats = await stat(real)
    if (stats.isDirectory()) return unusable(path, 'it is a folder')
    if (!stats.isFile()) return unusable(path, 'it is not a regular file')
    if (Buffer.byteLength(real) > maxPathBytes) return tooLong(path)
    return {
      type: 'file',
      path: real,
      occurrence: 1,
      sizeBytes: stats.size,
      modifiedMs: Math.floor(stats.mtimeMs)
    }
  } catch (error) {
    // A name that is not UTF-8 was decoded with replacements and is not found.
    const isInvalid = basename(path).includes('\uFFFD')
    return unusable(path, isInvalid ? 'its name is not valid UTF-8' : describeFileError(error))
  }
}

const readExtension = (path: string) => extname(path).toLowerCase()

const reasons: Readonly<Record<string, string>> = {
  ENOENT: missingReason,
  ENOTDIR: missingReason,
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its links form a loop',
  ENAMETOOLONG: 'its path is too long'
}

/** Why a file cannot be read. */
export function describeFileError(error: unknown): string {
  return reasons[errorCodeOf(error)] ?? describeError(error)
}
