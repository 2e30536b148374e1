import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { builtFile } from '../../src/runtime/program-files.ts'

/**
 * The words after `node` that run a program of the build, like `src/server.ts`, or of that of another release
 * in a folder.
 */
export function wordsFor(file: string, release?: string): string[] {
  const built = file.replace(/\.ts$/, '.js')
  const path = release === undefined ? fileURLToPath(builtFile(built)) : join(release, 'dist', built)
  return ['--enable-source-maps', path]
}
