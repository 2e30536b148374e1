import { execFileSync } from 'node:child_process'

import { openTempFolder } from './temp-folder.ts'

/** Mounts a volume of some megabytes in memory; null where that is not allowed. */
export async function mountVolume(megabytes: number) {
  const folder = await openTempFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder.path], {
      stdio: 'ignore'
    })
  } catch {
    await folder[Symbol.asyncDispose]()
    return null
  }
  return {
    path: folder.path,
    async [Symbol.asyncDispose]() {
      execFileSync('umount', [folder.path])
      await folder[Symbol.asyncDispose]()
    }
  }
}
