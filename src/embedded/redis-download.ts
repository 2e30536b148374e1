import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { unpackByApt } from './apt-packages.ts'
import { unpackByDnf } from './dnf-packages.ts'
import { oldestMajor, openRedisBinary, type RedisBinary, redisNames } from './redis-binary.ts'
import { isInPath } from './run-command.ts'

const staleMs = 60 * 60_000
const placeAttempts = 20
const placePauseMs = 50

/**
 * Ways to unpack a Redis from the system's packages into `root` in the working folder; without rights, and
 * without a trace elsewhere.
 */
const unpackers = [
  { programs: ['apt-get', 'apt-cache', 'dpkg-deb'], unpack: unpackByApt },
  { programs: ['dnf', 'rpm2cpio', 'cpio'], unpack: unpackByDnf }
]

/**
 * Finds the Redis that an earlier start downloaded for this release of the system; `undefined` if there is
 * none, or it does not run, or somebody else could have put it there.
 */
export async function findDownloadedRedis(folder: string): Promise<RedisBinary | undefined> {
  const release = await releaseName()
  for (const parent of await existing(parentFolders(folder))) {
    const found = await openUnpacked(join(parent, release)).catch(() => undefined)
    if (found) return found
  }
  return undefined
}

/**
 * Downloads a Redis with the libraries it needs from the system's package sources into the user's cache, or
 * into `folder/program` where the user has none. It is unpacked in a folder of its own and moved into place
 * when it runs, so that neither a killed start nor several at the same moment leave half of one. Returns
 * `undefined` where the system has no package manager that can do this. Throws an `Error` with the reason
 * when it fails.
 */
export async function downloadRedis(
  folder: string,
  missing: string,
  signal?: AbortSignal
): Promise<RedisBinary | undefined> {
  const unpack = await chooseUnpacker()
  if (!unpack) return undefined
  const parent = await makeParent(folder)
  process.stderr.write(`cuewire: ${missing}; downloading one into ${parent}\n`)
  await removeStale(parent)
  const workshop = await mkdtemp(join(parent, 'download-'))
  try {
    const root = join(workshop, 'root')
    await mkdir(root)
    await unpack(workshop, signal)
    const { major } = await openUnpacked(root)
    if (major < oldestMajor) throw new Error(`its version is ${major}`)
    return await moveIntoPlace(root, join(parent, await releaseName()), workshop)
  } finally {
    await rm(workshop, { recursive: true, force: true })
  }
}

async function chooseUnpacker(): Promise<(typeof unpackers)[number]['unpack'] | undefined> {
  for (const { programs, unpack } of unpackers) {
    const found = await Promise.all(programs.map(isInPath))
    if (found.every(Boolean)) return unpack
  }
  return undefined
}

/**
 * Moves a download to its final folder, unless a working one is there. Concurrent starts may do the same at
 * any moment: a broken download is moved away, checked once more, and moved back if another start had
 * replaced it with a working one.
 */
async function moveIntoPlace(root: string, place: string, workshop: string): Promise<RedisBinary> {
  for (let attempt = 1; ; attempt++) {
    await rename(root, place).catch(ignore('ENOTEMPTY', 'EEXIST', 'ENOENT'))
    try {
      return await openUnpacked(place)
    } catch (error) {
      if (attempt === placeAttempts) throw error
    }
    const taken = join(workshop, `taken-${attempt}`)
    await rename(place, taken).catch(ignore('ENOENT'))
    const isGood = await openUnpacked(taken).then(
      () => true,
      () => false
    )
    if (isGood) await rename(taken, place).catch(ignore('ENOTEMPTY', 'EEXIST'))
    await sleep(placePauseMs)
  }
}

/** Throws an `Error` with the reason when there is no server in the folder, or it does not run. */
async function openUnpacked(root: string): Promise<RedisBinary> {
  const programs = redisNames.map(name => join(root, 'usr/bin', name))
  const [program] = await existing(programs)
  if (program === undefined) throw new Error(`the packages hold no ${redisNames.join(' or ')}`)
  return openRedisBinary(program, await libraryFolders(root))
}

async function libraryFolders(root: string): Promise<string[]> {
  const found = []
  for (const name of ['usr/lib', 'usr/lib64', 'lib', 'lib64']) {
    const names = await readdir(join(root, name)).catch(() => [])
    // Debian has a folder for each architecture: x86_64-linux-gnu, arm-linux-gnueabihf.
    const folders = [name, ...names.filter(each => each.includes('-linux-')).map(each => join(name, each))]
    for (const each of folders) {
      const files = await readdir(join(root, each)).catch(() => [])
      if (files.some(file => /\.so(\.|$)/.test(file))) found.push(join(root, each))
    }
  }
  return found
}

/** Packages of one release do not run on every other one, and a home folder may be shared by machines. */
async function releaseName(): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const valueOf = (name: string) => new RegExp(`^${name}="?([\\w.-]+)"?$`, 'm').exec(text)?.[1]
  const version = valueOf('VERSION_ID') ?? valueOf('VERSION_CODENAME') ?? 'rolling'
  return `${valueOf('ID') ?? process.platform}-${version}-${process.arch}`
}

/** The user's cache by the XDG Base Directory Specification, then a folder beside the data. */
function parentFolders(folder: string): string[] {
  const given = process.env['XDG_CACHE_HOME'] ?? ''
  const cache = isAbsolute(given) ? given : join(homeFolder(), '.cache')
  // Such a path cannot be a part of LD_LIBRARY_PATH.
  return [join(cache, 'cuewire', 'redis'), join(folder, 'program')].filter(path => !/[:;$]/.test(path))
}

function homeFolder(): string {
  try {
    return homedir()
  } catch {
    // A user without HOME and without an entry in /etc/passwd.
    return '/nonexistent'
  }
}

/** The first folder that can be made, is ours and can be written. */
async function makeParent(folder: string): Promise<string> {
  const reasons = []
  for (const path of parentFolders(folder)) {
    try {
      await mkdir(path, { recursive: true, mode: 0o700 })
      await access(path, constants.W_OK | constants.X_OK)
      if (await isTrusted(path)) return path
      reasons.push(`${path} belongs to another user`)
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new Error(reasons.join(', ') || 'no folder can hold it')
}

/** What is run from a folder is up to its owner. */
async function isTrusted(path: string): Promise<boolean> {
  const { uid } = await stat(path)
  return uid === 0 || uid === process.getuid?.()
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found = []
  for (const path of paths) {
    if (await isTrusted(path).catch(() => false)) found.push(path)
  }
  return found
}

/** Removes what starts that were killed have left. */
async function removeStale(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith('download-')) continue
    const { mtimeMs } = await stat(join(parent, name)).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > staleMs) await rm(join(parent, name), { recursive: true, force: true })
  }
}

function ignore(...codes: string[]): (error: unknown) => void {
  return error => {
    if (!(error instanceof Error && 'code' in error && codes.includes(String(error.code)))) throw error
  }
}
