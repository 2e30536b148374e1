import { randomBytes } from 'node:crypto'
import { constants, mkdirSync, openSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, realpath, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { openCache } from '../../platform/runtime/cache.ts'
import { type ApiError, codeOf } from '../../platform/runtime/errors.ts'

interface DataFolder {
  readonly DATA_DIR: string
}

/** How long a folder is assumed to exist: checking it for each step of an upload would cost a tenth of its CPU time. */
const knownFolders = openCache<string, string>({ maxEntries: 10, ttlMs: 5_000 })

/** The folder of unfinished uploads, which is created if necessary. */
export async function uploadsFolder({ DATA_DIR }: DataFolder): Promise<string> {
  const folder = resolve(DATA_DIR, 'uploads')
  return knownFolders.load(folder, async () => {
    await mkdir(folder, { recursive: true })
    return realpath(folder)
  })
}

/** The path of the content of an upload. */
export async function contentPath(config: DataFolder, id: string): Promise<string> {
  return join(await uploadsFolder(config), id)
}

/** The name of content that one request receives and uses, without an upload. */
export const generateTransientId = (): string => `${transientPrefix}${randomBytes(16).toString('hex')}`

const transientPrefix = 'received-'
const transientName = new RegExp(`^${transientPrefix}[0-9a-f]{32}$`)
/** Longer than a request may pause. */
const transientTtlMs = 3_600_000

/**
 * Whether a file of the folder is content that a request has left behind, since nothing was written to it for an hour.
 */
export async function isAbandonedTransient(config: DataFolder, name: string): Promise<boolean> {
  if (!transientName.test(name)) return false
  try {
    return Date.now() - (await stat(await contentPath(config, name))).mtimeMs > transientTtlMs
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** The number of bytes that were received; 0 without any. */
export async function receivedBytes(config: DataFolder, id: string): Promise<number> {
  try {
    return (await stat(await contentPath(config, id))).size
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0
    throw error
  }
}

export async function removeContent(config: DataFolder, id: string): Promise<void> {
  await rm(await contentPath(config, id), { force: true })
}

/** Opens the content of an upload for writing. */
export async function openContent(config: DataFolder, id: string): Promise<FileHandle> {
  const { O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  return open(await contentPath(config, id), O_CREAT | O_NOFOLLOW | O_WRONLY, 0o644)
}

/** Opens a file without a name, which is gone when it is closed. */
export async function openNameless(config: DataFolder): Promise<FileHandle> {
  const path = await contentPath(config, randomBytes(16).toString('hex'))
  const file = await open(path, 'wx+', 0o600)
  await rm(path)
  return file
}

/** Like `openNameless`, at once. Returns the descriptor. */
export function openNamelessNow({ DATA_DIR }: DataFolder): number {
  const folder = resolve(DATA_DIR, 'uploads')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, generateTransientId())
  const file = openSync(path, 'wx+', 0o600)
  rmSync(path)
  return file
}

/** The content of an open file from its beginning to `length`. */
export async function* readPieces(file: FileHandle, length: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < length;) {
    const piece = Buffer.allocUnsafe(Math.min(copiedBytes, length - offset))
    const { bytesRead } = await file.read(piece, 0, piece.length, offset)
    if (bytesRead === 0) throw new Error('the file is shorter than what was written to it')
    yield piece.subarray(0, bytesRead)
    offset += bytesRead
  }
}

const copiedBytes = 256 * 1024

interface WriteOptions {
  readonly offset: number
  /** The most bytes from the offset on. */
  readonly maxBytes: number
  /** The error if there are more. */
  readonly tooLong: () => ApiError
}

/**
 * So that what the system writes later to the disk is little: if it is much, each write to any file waits for the disk.
 */
const syncedBytes = 32 * 1024 * 1024

/**
 * Writes pieces as they come to a file, as fast as the disk takes them. Returns the offset behind them. What was
 * written remains if a piece cannot be read or written.
 */
export async function writePieces(
  file: FileHandle,
  pieces: AsyncIterable<Uint8Array>,
  { offset, maxBytes, tooLong }: WriteOptions
): Promise<number> {
  let end = offset
  let syncAt = offset + syncedBytes
  for await (const piece of pieces) {
    if (end + piece.length > offset + maxBytes) throw tooLong()
    let written = 0
    while (written < piece.length) {
      const { bytesWritten } = await file.write(piece, written, piece.length - written, end + written)
      written += bytesWritten
    }
    end += piece.length
    if (end < syncAt) continue
    await file.datasync()
    syncAt = end + syncedBytes
  }
  return end
}
