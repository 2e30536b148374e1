import { chmod, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import * as v from 'valibot'

import { createDataDir, createDataDirError } from '../../platform/process/create-data-dir.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { readProcessStart } from './process-identity.ts'

const announced = v.object({ owner: v.string(), databaseUrl: v.string(), redisUrl: v.string() })

/** URLs of the stores of the running Cuewire, with passwords. */
export type StoreUrls = Omit<v.InferOutput<typeof announced>, 'owner'>

const attempts = 5

/**
 * Creates DATA_DIR if needed and locks it until the lock is disposed or this process ends. Each process
 * creates a file named after itself in `lock/` and looks for others; if another one is alive, it removes its
 * own file. So at most one process holds the lock, and files of killed processes have no effect. Throws an
 * `OperatorError` if the folder is locked or not writable. Other machines and containers are not detected.
 */
export async function lockDataDir(path: string) {
  const folder = resolve(path)
  const lockFolder = join(folder, 'lock')
  await writeTo(folder, async () => {
    const created = await createDataDir(folder)
    // The user that runs Postgres must be able to enter, whatever the umask is.
    if (created !== undefined) await chmod(folder, 0o755)
    await mkdir(lockFolder, { recursive: true })
  })
  const own = await readOwnIdentity()
  const ownFile = join(lockFolder, own)
  for (let attempt = 1; ; attempt++) {
    await writeTo(folder, () => writeFile(ownFile, '', { flag: 'wx' })).catch((error: Error) => {
      throw errorCodeOf(error.cause) === 'EEXIST' ? lockedError(process.pid, folder) : error
    })
    const others = (await readdir(lockFolder)).filter(name => name !== own)
    const living = await findLiving(others)
    if (living === undefined) {
      for (const name of others) await rm(join(lockFolder, name), { force: true })
      break
    }
    await rm(ownFile, { force: true })
    if (attempt === attempts) throw lockedError(pidOf(living), folder)
    // Two processes that started at the same moment have both withdrawn.
    await sleep(10 + Math.random() * 90)
  }
  return {
    folder,
    async [Symbol.asyncDispose](): Promise<void> {
      await rm(join(folder, 'services.json'), { force: true })
      await rm(ownFile, { force: true })
    }
  }
}

/** Writes `services.json` (mode 600) for other commands on this machine. The caller holds the lock. */
export async function writeRunningServices(path: string, services: StoreUrls): Promise<void> {
  const file = join(resolve(path), 'services.json')
  const text = JSON.stringify({ owner: await readOwnIdentity(), ...services })
  await writeTo(path, async () => {
    await rm(`${file}.new`, { force: true })
    await writeFile(`${file}.new`, text, { mode: 0o600 })
    await rename(`${file}.new`, file)
  })
}

/** Returns the services of the Cuewire that runs with this DATA_DIR; undefined if there is none. */
export async function findRunningServices(path: string): Promise<StoreUrls | undefined> {
  const text = await readFile(join(resolve(path), 'services.json'), 'utf8').catch(() => '{}')
  const found = v.safeParse(v.pipe(v.string(), v.parseJson(), announced), text)
  if (!found.success) return undefined
  const { owner, ...services } = found.output
  return (await findLiving([owner])) === undefined ? undefined : services
}

/** `PID-START`, which is never reused. */
async function readOwnIdentity(): Promise<string> {
  return `${process.pid}-${(await readProcessStart(process.pid)) ?? '0'}`
}

/** Returns the first identity whose process is running. */
async function findLiving(identities: readonly string[]): Promise<string | undefined> {
  for (const identity of identities) {
    const start = await readProcessStart(pidOf(identity))
    if (start !== undefined && identity === `${pidOf(identity)}-${start}`) return identity
  }
  return undefined
}

function pidOf(identity: string): number {
  return Number.parseInt(identity, 10) || 0
}

function lockedError(pid: number, folder: string): OperatorError {
  return new OperatorError(
    `another cuewire (pid ${pid}) is using DATA_DIR ${folder}: stop it first, or set another DATA_DIR`
  )
}

async function writeTo<Result>(folder: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    throw createDataDirError(folder, error)
  }
}
