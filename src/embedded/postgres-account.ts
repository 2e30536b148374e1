import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { OperatorError } from '../runtime/errors.ts'

const run = promisify(execFile)

/** How Postgres, which refuses to be root, is run. */
export interface Account {
  /** The user and group to switch to, where we are root and can. */
  ids: { uid?: number; gid?: number }
  /** Words before the command. */
  prefix: readonly string[]
  /** Whom the data must belong to. */
  owner: { uid: number; gid: number }
}

/**
 * An ordinary user runs Postgres as itself. Root runs it as `postgres` or `nobody`; where these may not enter
 * the folder or the binaries (a clone in a closed home), in a user namespace: nobody inside, root outside.
 * Each way is tried before it is taken. Throws an `OperatorError` when none works.
 */
export async function chooseAccount(folder: string, program: string): Promise<Account> {
  const uid = process.getuid?.()
  const gid = process.getgid?.()
  if (uid === undefined || gid === undefined) {
    throw new OperatorError('the embedded Postgres needs Linux or macOS: set DATABASE_URL')
  }
  if (uid !== 0) return { ids: {}, prefix: [], owner: { uid, gid } }
  for (const name of ['postgres', 'nobody']) {
    const ids = await idsOf(name)
    if (ids === undefined) continue
    const account = { ids, prefix: [], owner: ids }
    if (await works(account, folder, program)) return account
  }
  const prefix = ['unshare', '--user', '--map-user=65534', '--']
  const inside = { ids: {}, prefix, owner: { uid, gid } }
  if (process.platform === 'linux' && (await works(inside, folder, program))) return inside
  throw new OperatorError(
    `Postgres refuses to run as root, and no other user may enter ${folder} and ${program}: ` +
      'move the project to a folder that others may enter, run it as an ordinary user, or set DATABASE_URL'
  )
}

async function idsOf(name: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async flag => Number((await run('id', [flag, name], { timeout: 5_000 })).stdout))
    )
    return uid === undefined || gid === undefined || uid <= 0 ? undefined : { uid, gid }
  } catch {
    return undefined
  }
}

/** Whether this account can own, enter and write a folder in `folder`, and run the program from there. */
async function works(account: Account, folder: string, program: string): Promise<boolean> {
  const probe = await mkdtemp(join(folder, 'probe-'))
  try {
    await chown(probe, account.owner.uid, account.owner.gid)
    const script = 'cd "$1" && : >written && "$2" --version'
    const words = [...account.prefix, '/bin/sh', '-c', script, 'probe', probe, program]
    await run(words[0] ?? '', words.slice(1), { ...account.ids, cwd: '/', timeout: 10_000 })
    return true
  } catch {
    return false
  } finally {
    await rm(probe, { recursive: true, force: true })
  }
}
