import { fileURLToPath } from 'node:url'

import { builtFile } from '../../src/program-files.ts'

/** The words after `node` that run a program of the build, like `src/server.ts`. */
export function wordsFor(file: string): string[] {
  return ['--enable-source-maps', fileURLToPath(builtFile(file.replace(/\.ts$/, '.js')))]
}
