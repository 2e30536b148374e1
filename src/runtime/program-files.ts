import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the program that runs: `dist` of a build, the project where tests import TypeScript. */
const programFolder = findProgramFolder()

/** The folder of a build is `dist`, also for tests that import TypeScript. */
const buildFolder = import.meta.url.endsWith('.ts') ? new URL('dist/', programFolder) : programFolder

/** The URL of a file that is the same in the project and in a build, like `assets/docs.html`. */
export function programFile(path: string): URL {
  return new URL(path, programFolder)
}

/** The URL of a file that only a build has: what browsers load, or a program like `src/server.js`. */
export function builtFile(path: string): URL {
  return new URL(path, buildFolder)
}

/**
 * A build joins modules, so the depth of this one is not known: the folder is the one with `package.json`.
 */
function findProgramFolder(): URL {
  let folder = new URL('.', import.meta.url)
  while (!existsSync(new URL('package.json', folder))) {
    const parent = new URL('..', folder)
    if (parent.href === folder.href)
      throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`)
    folder = parent
  }
  return folder
}
