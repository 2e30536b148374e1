import { execFile } from 'node:child_process'
import { cp, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { inject } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const tsc = join(root, 'node_modules/typescript/bin/tsc')

/**
 * Copies the program to a new folder and puts JavaScript beside each TypeScript file. The tests start it more than a
 * hundred times, and through tsx most of a start is translation. The sources have to be there too: SQL and Lua are
 * read where they lie, and a thread loads TypeScript by itself. Replaces what is in the folder.
 */
export async function compileProgram(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  for (const name of ['src', 'workers', 'web', 'assets', 'package.json', 'tsconfig.json'])
    await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const emit = ['--noEmit', 'false', '--noCheck', '--rewriteRelativeImportExtensions']
  // Stacks name the files of this project.
  const maps = ['--sourceMap', '--rootDir', folder, '--sourceRoot', pathToFileURL(root).href]
  await promisify(execFile)(process.execPath, [tsc, '--project', folder, ...emit, ...maps])
}

/** The words after `node` that run a file of the program, like `src/server.ts`, compiled. */
export function wordsFor(file: string): string[] {
  return ['--enable-source-maps', join(inject('programFolder'), file.replace(/\.ts$/, '.js'))]
}
