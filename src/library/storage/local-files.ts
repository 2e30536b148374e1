import { constants } from 'node:fs'
import { copyFile, link, mkdir, open, rename, rm, rmdir, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import {
  openInsideRoots,
  OutsideRootsError,
  resolveInsideRoots
} from '../../platform/runtime/contained-files.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { FileExistsError, type FileStore, type StoredFile } from './file-store.ts'

/** Errors of a file system on which a file cannot have a second name. */
const noLinkCodes = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** The files below a local folder, which is a real path. Links that lead out of it are not followed. */
export function openLocalFiles(folder: string): FileStore {
  const locate = async (path: string): Promise<string> => {
    const real = await resolveInsideRoots(join(folder, path), [folder])
    if (real !== null) return real
    const error = await stat(join(folder, path)).then(
      () => null,
      (thrown: unknown) => thrown
    )
    if (errorCodeOf(error) === 'ENAMETOOLONG') throw error
    // A parent of the path is a file.
    throw errorCodeOf(error) === 'ENOTDIR' ? new FileExistsError(path) : new OutsideRootsError(path)
  }
  const prepare = async (path: string): Promise<string> => {
    const file = await locate(path)
    try {
      await mkdir(dirname(file), { recursive: true })
    } catch (error) {
      throw ['EEXIST', 'ENOTDIR'].includes(errorCodeOf(error)) ? new FileExistsError(path) : error
    }
    if ((await stat(file).catch(ignoreMissing))?.isDirectory()) throw new FileExistsError(path)
    return file
  }
  return {
    put: async (source, path, token, { keepsSource = false } = {}) => {
      const file = await prepare(path)
      const partial = join(dirname(file), `.cuewire-${token}`)
      try {
        await rm(partial, { force: true })
        if (keepsSource) await copyWithTime(source, partial)
        else
          await link(source, partial).catch(async (error: unknown) => {
            if (!noLinkCodes.has(errorCodeOf(error))) throw error
            await copyFile(source, partial)
            await sync(partial)
          })
        await rename(partial, file)
      } finally {
        // Still there if it failed, or if both names are of the same file already.
        await rm(partial, { force: true })
      }
      const stored = await describe(file)
      if (stored === null) throw new Error('the stored file vanished')
      return stored
    },
    stat: async path => locate(path).then(describe, ignoreMissing),
    read: async (path, offset, length) => {
      await using handle = await openInsideRoots(await locate(path), [folder])
      const piece = Buffer.allocUnsafe(length)
      const { bytesRead } = await handle.read(piece, 0, length, offset)
      return piece.subarray(0, bytesRead)
    },
    remove: async path => {
      const file = await locate(path)
      const stats = await stat(file).catch(ignoreMissing)
      if (stats?.isDirectory()) throw new FileExistsError(path)
      await rm(file, { force: true })
    },
    move: async (from, to) => {
      const [source, target] = [await locate(from), await prepare(to)]
      if (await describe(target)) throw new FileExistsError(to)
      await rename(source, target)
    },
    makeFolder: async path => {
      const target = await locate(path)
      try {
        await mkdir(target, { recursive: true })
      } catch (error) {
        throw ['EEXIST', 'ENOTDIR'].includes(errorCodeOf(error)) ? new FileExistsError(path) : error
      }
    },
    removeFolder: async path => {
      await rmdir(await locate(path)).catch((error: unknown) => {
        if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCodeOf(error))) throw error
      })
    }
  }
}

/** Shares the blocks of the source until one of them is changed, if the file system can. */
async function copyWithTime(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_FICLONE)
  await sync(target)
  const { atime, mtime } = await stat(source)
  await utimes(target, atime, mtime)
}

async function describe(file: string): Promise<StoredFile | null> {
  const stats = await stat(file).catch(ignoreMissing)
  return stats?.isFile() ? { sizeBytes: stats.size, modifiedMs: Math.floor(stats.mtimeMs) } : null
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}

function ignoreMissing(error: unknown): null {
  if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(errorCodeOf(error))) return null
  throw error
}
