import { execFile } from 'node:child_process'
import { mkdir, open, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { openStoreFolder } from '../support/temp-folder.ts'

const run = promisify(execFile)

/** The disk on which the stores keep their data. */
export interface Disk extends AsyncDisposable {
  readonly path: string
  /**
   * Fills the disk and returns a function that frees the space; null if the disk is not a separate small one.
   */
  readonly fill: (() => Promise<() => Promise<void>>) | null
}

const sizeMb = 384
const leftBytes = 8 * 1024 ** 2
const pieceBytes = 4_096
const prefix = 'cuewire-chaos-'

/**
 * Mounts a small disk in memory if `isSmall` and this process is root; otherwise returns a folder on a disk
 * without a limit of its own.
 */
export async function openDisk(isSmall: boolean): Promise<Disk> {
  if (!isSmall || process.getuid?.() !== 0) return { ...(await openStoreFolder()), fill: null }
  await removeLeftovers()
  const path = join(tmpdir(), `${prefix}${process.pid}`)
  await mkdir(path, { recursive: true })
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0755`, 'cuewire-chaos', path])
  } catch {
    await rm(path, { recursive: true, force: true })
    return { ...(await openStoreFolder()), fill: null }
  }
  const filler = join(path, 'filler')
  return {
    path,
    fill: async () => {
      const { bavail, bsize } = await statfs(path)
      // The stores keep writing, so most of it is filled at once and the rest piece by piece.
      await run('fallocate', ['-l', String(Math.max(0, bavail * bsize - leftBytes)), filler])
      await appendUntilFull(filler)
      return async () => rm(filler, { force: true })
    },
    [Symbol.asyncDispose]: async () => unmount(path)
  }
}

async function appendUntilFull(path: string): Promise<void> {
  const file = await open(path, 'a')
  try {
    for (let written = 0; written < 2 * leftBytes; written += pieceBytes)
      await file.write(Buffer.alloc(pieceBytes))
  } catch {
    // No space left on device.
  } finally {
    await file.close()
  }
}

async function unmount(path: string): Promise<void> {
  await run('umount', ['-l', path]).catch(() => {})
  await rm(path, { recursive: true, force: true })
}

/** Unmounts disks of killed runs. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : 0
    if (pid > 0 && !isRunning(pid)) await unmount(join(tmpdir(), name))
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
