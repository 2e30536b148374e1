import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { builtFileUrl } from '../../src/platform/process/program-files.ts'

/**
 * The arguments of `node` that run a file of the build, such as `src/server.ts`, or of the build of another
 * release in a folder.
 */
export function wordsFor(file: string, release?: string): string[] {
  const built = file.replace(/\.ts$/, '.js')
  const path = release === undefined ? fileURLToPath(builtFileUrl(built)) : join(release, 'dist', built)
  return ['--enable-source-maps', path]
}
