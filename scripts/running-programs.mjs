/**
 * The Cuewire programs that run on this machine for this user, so that other commands find them without settings. Each
 * `npm start` has a file in the cache folder.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** The folder depends on the environment, so that tests have their own. */
const folderOf = env => join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cuewire', 'running')

/** Adds this process. The result removes it again. A folder that is not writable is ignored. */
export async function registerProgram({ url, dataDir }, env = process.env) {
  const file = join(folderOf(env), `${process.pid}.json`)
  try {
    await mkdir(folderOf(env), { recursive: true, mode: 0o700 })
    await writeFile(file, JSON.stringify({ url, dataDir }), { mode: 0o600 })
  } catch {
    // Commands then need DATA_DIR and CUEWIRE_URL.
  }
  return () => rm(file, { force: true }).catch(() => {})
}

/** Returns the programs whose processes are alive, the oldest first, and removes the files of others. */
export async function findPrograms(env = process.env) {
  const names = await readdir(folderOf(env)).catch(() => [])
  const found = await Promise.all(names.map(name => readProgram(join(folderOf(env), name))))
  return found.filter(program => program !== null).toSorted((one, other) => one.pid - other.pid)
}

async function readProgram(file) {
  const pid = Number(/(\d+)\.json$/.exec(file)?.[1])
  try {
    const { url, dataDir } = JSON.parse(await readFile(file, 'utf8'))
    if (isAlive(pid) && typeof url === 'string' && typeof dataDir === 'string') return { pid, url, dataDir }
    await rm(file, { force: true })
  } catch {
    // It has just ended.
  }
  return null
}

/** Whether a process runs. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/**
 * Chooses the program to work with: that of `DATA_DIR` or `CUEWIRE_URL` if they are set, else the only one that runs.
 * Returns null if none runs. Throws if several run.
 */
export async function chooseProgram(env = process.env) {
  const programs = await findPrograms(env)
  const { DATA_DIR: dataDir, CUEWIRE_URL: url } = env
  const wantedUrl = url?.replace(/\/+$/, '').replace('//localhost:', '//127.0.0.1:')
  const matching = programs.filter(
    each => (!dataDir || each.dataDir === resolve(dataDir)) && (!url || each.url === wantedUrl)
  )
  if (matching.length < 2) return matching[0] ?? null
  const list = matching.map(each => `DATA_DIR=${each.dataDir} (${each.url})`).join(', ')
  throw new Error(`several Cuewire run on this machine; choose one: ${list}`)
}
