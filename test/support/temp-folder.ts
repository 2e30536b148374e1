import { execFile } from 'node:child_process'
import { chmod, mkdtemp, realpath, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface TempFolder extends AsyncDisposable {
  readonly path: string
}

/**
 * A new folder that is removed on disposal. Accessible to all users by default, because Postgres may run as
 * another user.
 */
export async function openTempFolder(mode = 0o755): Promise<TempFolder> {
  return openFolderIn(tmpdir(), mode)
}

/**
 * A folder for the data of a store, in memory if there is space: a database has about 500 files, and creating
 * them on disk takes twenty times as long.
 */
export async function openStoreFolder(): Promise<TempFolder> {
  const { bavail, bsize } = await statfs(memoryFolder).catch(() => ({ bavail: 0, bsize: 0 }))
  return openFolderIn(bavail * bsize >= neededBytes ? memoryFolder : tmpdir(), 0o755)
}

/** A file system in memory on Linux. */
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

/** With owners and modes. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}
