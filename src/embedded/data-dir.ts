import { chmod, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import * as v from 'valibot'

import { withDeadline } from '../runtime/deadline.ts'
import { OperatorError } from '../runtime/errors.ts'
import { startOf } from './process-identity.ts'

/** Holds DATA_DIR until it is disposed or its process ends. */
export interface DataDirLock extends AsyncDisposable {
  /** The absolute path. */
  readonly folder: string
}

/** Where the services of the running Cuewire are; the URLs hold passwords. */
export interface RunningServices {
  databaseUrl: string
  redisUrl: string
}

const announced = v.object({ owner: v.string(), databaseUrl: v.string(), redisUrl: v.string() })
const attempts = 5

/**
 * Creates DATA_DIR where it is missing and takes it for this process. Every starter puts a claim into
 * `lock/`, an empty file named after its process, and then looks for others: whoever sees a living one
 * withdraws. So of starters at the same moment at most one wins, and the claim of a killed process stops
 * nobody. Throws an `OperatorError` when another one holds the folder, or when it cannot be written.
 * Processes of another machine or container that share the folder are not seen.
 */
export async function lockDataDir(path: string): Promise<DataDirLock> {
  const folder = resolve(path)
  const claims = join(folder, 'lock')
  await writable(folder, async () => {
    // The user that Postgres runs as must be able to pass, whatever the umask is.
    // On some file systems Node asks for the folder for ever.
    const made = await withDeadline(5_000, 'making it', () => mkdir(folder, { recursive: true }))
    if (made !== undefined) await chmod(folder, 0o755)
    await mkdir(claims, { recursive: true })
  })
  const mine = await ownIdentity()
  for (let attempt = 1; ; attempt++) {
    if (!(await claim(folder, join(claims, mine)))) throw heldBy(process.pid, folder)
    const others = (await readdir(claims)).filter(name => name !== mine)
    const living = await asyncFind(others, isAlive)
    if (living === undefined) {
      for (const name of others) await rm(join(claims, name), { force: true })
      break
    }
    await rm(join(claims, mine), { force: true })
    if (attempt === attempts) throw heldBy(pidOf(living), folder)
    // Two starters at the same moment have both withdrawn: the one that comes back first may have it.
    await sleep(10 + Math.random() * 90)
  }
  return {
    folder,
    async [Symbol.asyncDispose]() {
      await rm(join(folder, 'services.json'), { force: true })
      await rm(join(claims, mine), { force: true })
    }
  }
}

/** Writes `services.json` (mode 600) for other commands on this machine. Only for who holds the lock. */
export async function announceServices(path: string, services: RunningServices): Promise<void> {
  const file = join(resolve(path), 'services.json')
  const text = JSON.stringify({ owner: await ownIdentity(), ...services })
  await writable(path, async () => {
    await rm(`${file}.new`, { force: true })
    await writeFile(`${file}.new`, text, { mode: 0o600 })
    await rename(`${file}.new`, file)
  })
}

/** The services of the Cuewire that runs with this DATA_DIR; `undefined` when none does, or not yet. */
export async function findRunningServices(path: string): Promise<RunningServices | undefined> {
  const text = await readFile(join(resolve(path), 'services.json'), 'utf8').catch(() => '{}')
  const found = v.safeParse(v.pipe(v.string(), v.parseJson(), announced), text)
  if (!found.success || !(await isAlive(found.output.owner))) return undefined
  const { databaseUrl, redisUrl } = found.output
  return { databaseUrl, redisUrl }
}

/** `PID-START`: no later process has the same. */
async function ownIdentity(): Promise<string> {
  return `${process.pid}-${(await startOf(process.pid)) ?? '0'}`
}

async function isAlive(identity: string): Promise<boolean> {
  const start = await startOf(pidOf(identity))
  return start !== undefined && identity === `${pidOf(identity)}-${start}`
}

function pidOf(identity: string): number {
  return Number.parseInt(identity, 10) || 0
}

function heldBy(pid: number, folder: string): OperatorError {
  return new OperatorError(
    `another cuewire (pid ${pid}) is using DATA_DIR ${folder}: stop it first, or give this one another DATA_DIR`
  )
}

/** False when this very process has the claim already. */
async function claim(folder: string, file: string): Promise<boolean> {
  return writable(folder, async () => {
    try {
      await writeFile(file, '', { flag: 'wx' })
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    }
  })
}

async function asyncFind(
  names: string[],
  test: (name: string) => Promise<boolean>
): Promise<string | undefined> {
  for (const name of names) if (await test(name)) return name
  return undefined
}

async function writable<Result>(folder: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    throw new OperatorError(
      `DATA_DIR ${folder} cannot be written (${codeOf(error)}): give a folder that this user may write`,
      {
        cause: error
      }
    )
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
