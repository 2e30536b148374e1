import { execFile } from 'node:child_process'
import { chmod, mkdtemp, realpath, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface TempFolder extends AsyncDisposable {
  readonly path: string
}

/**
 * A new folder that is removed when it is disposed. Open to all users by default: Postgres may run as
 * another.
 */
export async function openTempFolder(mode = 0o755): Promise<TempFolder> {
  return openFolderIn(tmpdir(), mode)
}

/**
 * The same for the data of a store, in memory where there is room: a database has some 500 files, and to
 * create them on a disk takes twenty times as long.
 */
export async function openStoreFolder(): Promise<TempFolder> {
  const { bavail, bsize } = await statfs(memoryFolder).catch(() => ({ bavail: 0, bsize: 0 }))
  return openFolderIn(bavail * bsize >= neededBytes ? memoryFolder : tmpdir(), 0o755)
}

/** Linux keeps what is here in memory. */
const memoryFolder = '/dev/shm'
const neededBytes = 4 * 1024 ** 3

async function openFolderIn(parent: string, mode: number): Promise<TempFolder> {
  const path = await mkdtemp(join(await realpath(parent), 'cuewire-test-'))
  await chmod(path, mode)
  return {
    path,
    [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Owners and modes included. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}
