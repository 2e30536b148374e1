import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Fills a folder with links to all programs of the system except matching names. Returns the folder, to be
 * used as PATH.
 */
export async function pathWithout(folder: string, hidden: RegExp): Promise<string> {
  await mkdir(folder, { recursive: true })
  const linked = new Set<string>()
  for (const place of ['/usr/bin', '/bin', '/usr/sbin', '/sbin']) {
    for (const name of await readdir(place)) {
      if (hidden.test(name) || linked.has(name)) continue
      linked.add(name)
      await symlink(join(place, name), join(folder, name))
    }
  }
  return folder
}
