import { chown, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { runCommand } from './run-command.ts'

/** The user that runs Postgres, which refuses to run as root. */
export interface OsAccount {
  /** The user and group to switch to. Empty for the current user. */
  readonly ids: { uid?: number; gid?: number }
  /** Arguments before the command. */
  readonly prefix: readonly string[]
  /** The owner of the data. */
  readonly owner: { uid: number; gid: number }
}

/**
 * Chooses an account: the current user, or for root `postgres` or `nobody`. If these have no access to the
 * folder or the binaries, as in a private home, a user namespace: `nobody` inside, root outside. Each is
 * probed. Throws an `OperatorError` if none works.
 */
export async function chooseOsAccount(folder: string, program: string): Promise<OsAccount> {
  const uid = process.getuid?.()
  const gid = process.getgid?.()
  if (uid === undefined || gid === undefined)
    throw new OperatorError('the embedded Postgres needs Linux or macOS: set DATABASE_URL')
  if (uid !== 0) return { ids: {}, prefix: [], owner: { uid, gid } }
  for (const name of ['postgres', 'nobody']) {
    const ids = await findIds(name)
    if (ids === undefined) continue
    const account = { ids, prefix: [], owner: ids }
    if (await isUsable(account, folder, program)) return account
  }
  const prefix = ['unshare', '--user', '--map-user=65534', '--']
  const inNamespace = { ids: {}, prefix, owner: { uid, gid } }
  if (process.platform === 'linux' && (await isUsable(inNamespace, folder, program))) return inNamespace
  throw new OperatorError(
    `Postgres refuses to run as root, and no other user has access to ${folder} and ${program}: ` +
      'move the project to a folder that other users may enter, run it as an ordinary user, or set DATABASE_URL'
  )
}

async function findIds(name: string): Promise<{ uid: number; gid: number } | undefined> {
  const readId = async (flag: string) =>
    Number((await runCommand(['id', flag, name], { timeoutMs: 5_000 })).stdout)
  try {
    const [uid, gid] = [await readId('-u'), await readId('-g')]
    return uid > 0 ? { uid, gid } : undefined
  } catch {
    return undefined
  }
}

/** Whether this account can own, enter and write a folder in `folder`, and run the program from there. */
async function isUsable(account: OsAccount, folder: string, program: string): Promise<boolean> {
  const probe = await mkdtemp(join(folder, 'probe-'))
  try {
    await chown(probe, account.owner.uid, account.owner.gid)
    const script = 'cd "$1" && : >written && "$2" --version'
    const command = [...account.prefix, '/bin/sh', '-c', script, 'probe', probe, program]
    await runCommand(command, { ...account.ids, cwd: '/', timeoutMs: 10_000 })
    return true
  } catch {
    return false
  } finally {
    await rm(probe, { recursive: true, force: true })
  }
}
