import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** `dist` for a build, the project folder for tests that import TypeScript. */
const programFolder = findProgramFolder()

const buildFolder = import.meta.url.endsWith('.ts') ? new URL('dist/', programFolder) : programFolder

/** The URL of a file that is the same in the project and in a build, like `assets/docs.html`. */
export function projectFileUrl(path: string): URL {
  return new URL(path, programFolder)
}

/** The URL of a file that only a build has: web files, or a program like `src/server.js`. */
export function builtFileUrl(path: string): URL {
  return new URL(path, buildFolder)
}

const manifest: { readonly version: string; readonly commit?: string } = JSON.parse(
  readFileSync(projectFileUrl('package.json'), 'utf8')
)

export const { version } = manifest

/** The version with the commit of the build: `0.3.0+abc1234`; without it if it is unknown. */
export const fullVersion = manifest.commit ? `${version}+${manifest.commit}` : version

/** Returns the closest folder with a package.json. The depth of this module varies in a build. */
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
