import { randomBytes } from 'node:crypto'
import { mkdirSync, openSync, rmSync } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import type { UploadSettings } from './services.ts'
import { uploadFilePath } from './uploads.ts'

/* Content that one request receives and uses, without an upload. It is in the folder of uploads. */

type DataFolder = Pick<UploadSettings, 'DATA_DIR'>

/** Generates the name of content. */
export const generateTransientUploadId = (): string => `${transientPrefix}${randomBytes(16).toString('hex')}`

const transientPrefix = 'received-'
const transientName = new RegExp(`^${transientPrefix}[0-9a-f]{32}$`)
/** Longer than a request may pause. */
const transientTtlMs = 3_600_000

/**
 * Whether a file of the folder is content that a request has left behind, since nothing was written to it for an hour.
 */
export async function isAbandonedTransientFile(config: DataFolder, name: string): Promise<boolean> {
  if (!transientName.test(name)) return false
  try {
    return Date.now() - (await stat(await uploadFilePath(config, name))).mtimeMs > transientTtlMs
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** Opens a file without a name, which is gone when it is closed. */
export async function openNamelessFile(config: DataFolder): Promise<FileHandle> {
  const path = await uploadFilePath(config, randomBytes(16).toString('hex'))
  const file = await open(path, 'wx+', 0o600)
  await rm(path)
  return file
}

/** Like `openNamelessFile`, at once. Returns the descriptor. */
export function openNamelessFileSync({ DATA_DIR }: DataFolder): number {
  const folder = resolve(DATA_DIR, 'uploads')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, generateTransientUploadId())
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
