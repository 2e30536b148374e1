import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import {
  findInstalledRedis,
  minRedisMajor,
  openRedisBinary,
  type RedisBinary,
  redisNames
} from './redis-binary.ts'
import { isInPath } from './run-command.ts'
import { choosePackageUnpacker } from './system-packages.ts'

const abandonedMs = 60 * 60_000
const moveAttempts = 20
const movePauseMs = 50

const installCommands = {
  brew: 'brew install redis',
  'apt-get': 'sudo apt-get install redis-server',
  dnf: 'sudo dnf install valkey',
  pacman: 'sudo pacman -S valkey',
  zypper: 'sudo zypper install valkey',
  apk: 'sudo apk add valkey'
}

/**
 * Finds a Redis or Valkey server of version 7 or later: an installed one, else one that was downloaded
 * before, else downloads one. `folder` is the data folder of the Redis. Throws an `OperatorError` with the
 * command to install one.
 */
export async function findOrDownloadRedis(folder: string, signal?: AbortSignal): Promise<RedisBinary> {
  const installed = await findInstalledRedis()
  const recent = installed.find(({ major }) => major >= minRedisMajor)
  const found = recent ?? (await findDownloaded(folder))
  if (found) return found
  const [old] = installed
  const missing = old ? `${old.path} is version ${old.major}` : 'there is no redis-server'
  try {
    const downloaded = await download(folder, missing, signal)
    if (downloaded) return downloaded
  } catch (error) {
    signal?.throwIfAborted()
    const text = `${missing}, and none could be downloaded (${describeError(error)}): ${await installAdvice()}`
    throw new OperatorError(text, { cause: error })
  }
  throw new OperatorError(`${missing}: ${await installAdvice()}`)
}

async function installAdvice(): Promise<string> {
  const what = `install Redis or Valkey ${minRedisMajor} or later`
  for (const [manager, command] of Object.entries(installCommands)) {
    if (await isInPath(manager)) return `${what} (${command}), or set REDIS_URL`
  }
  return `${what}, or set REDIS_URL`
}

/** Finds a working server that an earlier start of this user downloaded for this release of the system. */
async function findDownloaded(folder: string): Promise<RedisBinary | undefined> {
  const release = await readReleaseName()
  for (const parent of await findTrusted(parentFolders(folder))) {
    const found = await openUnpacked(join(parent, release)).catch(() => undefined)
    if (found) return found
  }
  return undefined
}

/**
 * Downloads a server and its libraries from the package sources of the system into the cache of the user, or
 * into `folder/program` without a cache. It is moved into place once it runs, so interrupted or concurrent
 * starts leave no partial download. Returns undefined without a supported package manager. Throws an `Error`
 * with the reason.
 */
async function download(
  folder: string,
  missing: string,
  signal?: AbortSignal
): Promise<RedisBinary | undefined> {
  const unpack = await choosePackageUnpacker()
  if (!unpack) return undefined
  const parent = await ensureParent(folder)
  process.stderr.write(`cuewire: ${missing}; downloading one into ${parent}\n`)
  await removeAbandoned(parent)
  const workFolder = await mkdtemp(join(parent, 'download-'))
  try {
    const root = join(workFolder, 'root')
    await mkdir(root)
    await unpack(workFolder, signal)
    const { major } = await openUnpacked(root)
    if (major < minRedisMajor) throw new Error(`its version is ${major}`)
    return await moveIntoPlace(root, join(parent, await readReleaseName()), workFolder)
  } finally {
    await rm(workFolder, { recursive: true, force: true })
  }
}

/**
 * Moves a download to its final folder, unless a working one is there. Concurrent starts do the same: a
 * broken download is moved away, checked again, and moved back if another start had replaced it with a
 * working one.
 */
async function moveIntoPlace(root: string, target: string, workFolder: string): Promise<RedisBinary> {
  for (let attempt = 1; ; attempt++) {
    await rename(root, target).catch(ignore('ENOTEMPTY', 'EEXIST', 'ENOENT'))
    try {
      return await openUnpacked(target)
    } catch (error) {
      if (attempt === moveAttempts) throw error
    }
    const taken = join(workFolder, `taken-${attempt}`)
    await rename(target, taken).catch(ignore('ENOENT'))
    const replacement = await openUnpacked(taken).catch(() => undefined)
    if (replacement) await rename(taken, target).catch(ignore('ENOTEMPTY', 'EEXIST'))
    await sleep(movePauseMs)
  }
}

/** Throws an `Error` with the reason if the folder has no server, or it does not run. */
async function openUnpacked(root: string): Promise<RedisBinary> {
  const programs = redisNames.map(name => join(root, 'usr/bin', name))
  const [program] = await findTrusted(programs)
  if (program === undefined) throw new Error(`the packages contain no ${redisNames.join(' or ')}`)
  return openRedisBinary(program, await findLibraryFolders(root))
}

async function findLibraryFolders(root: string): Promise<string[]> {
  const found = []
  for (const name of ['usr/lib', 'usr/lib64', 'lib', 'lib64']) {
    const names = await readdir(join(root, name)).catch(() => [])
    // Debian has a folder per architecture: x86_64-linux-gnu, arm-linux-gnueabihf.
    const folders = [name, ...names.filter(each => each.includes('-linux-')).map(each => join(name, each))]
    for (const each of folders) {
      const files = await readdir(join(root, each)).catch(() => [])
      if (files.some(file => /\.so(\.|$)/.test(file))) found.push(join(root, each))
    }
  }
  return found
}

/** Packages of one release may not run on another, and a home folder may be shared by machines. */
async function readReleaseName(): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const valueOf = (name: string) => new RegExp(`^${name}="?([\\w.-]+)"?$`, 'm').exec(text)?.[1]
  const version = valueOf('VERSION_ID') ?? valueOf('VERSION_CODENAME') ?? 'rolling'
  return `${valueOf('ID') ?? process.platform}-${version}-${process.arch}`
}

/** The cache of the user by the XDG Base Directory Specification, then a folder beside the data. */
function parentFolders(folder: string): string[] {
  const given = process.env['XDG_CACHE_HOME'] ?? ''
  const cache = isAbsolute(given) ? given : join(homeFolder(), '.cache')
  // LD_LIBRARY_PATH cannot contain paths with these characters.
  return [join(cache, 'cuewire', 'redis'), join(folder, 'program')].filter(path => !/[:;$]/.test(path))
}

function homeFolder(): string {
  try {
    return homedir()
  } catch {
    // The user has no HOME and no entry in /etc/passwd.
    return '/nonexistent'
  }
}

/** Returns the first folder that can be created and written and that another user cannot write. */
async function ensureParent(folder: string): Promise<string> {
  const reasons = []
  for (const path of parentFolders(folder)) {
    try {
      await mkdir(path, { recursive: true, mode: 0o700 })
      await access(path, constants.W_OK | constants.X_OK)
      if (await isTrusted(path)) return path
      reasons.push(`${path} belongs to another user`)
    } catch (error) {
      reasons.push(describeError(error))
    }
  }
  throw new Error(reasons.join(', ') || 'no folder is usable')
}

/** The owner of a file or folder decides which program is run. */
async function isTrusted(path: string): Promise<boolean> {
  const { uid } = await stat(path)
  return uid === 0 || uid === process.getuid?.()
}

async function findTrusted(paths: readonly string[]): Promise<string[]> {
  const found = []
  for (const path of paths) {
    if (await isTrusted(path).catch(() => false)) found.push(path)
  }
  return found
}

/** Removes downloads of starts that were killed. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith('download-')) continue
    const { mtimeMs } = await stat(join(parent, name)).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > abandonedMs) await rm(join(parent, name), { recursive: true, force: true })
  }
}

function ignore(...codes: string[]): (error: unknown) => void {
  return error => {
    if (!codes.includes(errorCodeOf(error))) throw error
  }
}
