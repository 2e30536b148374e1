import { randomBytes } from 'node:crypto'
import { chown, lchown, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { OperatorError } from '../errors.ts'
import { inOneLine, startGuarded } from './guard.ts'
import type { Account } from './postgres-account.ts'

/** The one role of the embedded Postgres; its password is in the file `password` beside the data. */
export const role = 'cuewire'

const initMs = 120_000

/**
 * Sees to it that `folder/data` is a complete database cluster which the account can use, and returns the
 * password. A cluster is made in a folder of its own and moved into place when it is whole, so that being killed
 * half-way costs nothing.
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

/** Gives the data to the account; the folder itself last, so that being killed half-way is noticed next time. */
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
