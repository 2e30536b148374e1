import { join } from 'node:path'

import { OperatorError } from '../runtime/errors.ts'
import { oldestMajor, openRedisBinary, type RedisBinary, redisNames } from './redis-binary.ts'
import { downloadRedis, findDownloadedRedis } from './redis-download.ts'
import { isExecutable, isInPath } from './run-command.ts'

// Where package managers put it when PATH does not include the folder.
const moreFolders = ['/usr/local/bin', '/usr/sbin', '/opt/homebrew/bin']

/** What the person at the terminal can install a Redis with. */
const installCommands = {
  brew: 'brew install redis',
  'apt-get': 'sudo apt-get install redis-server',
  dnf: 'sudo dnf install valkey',
  pacman: 'sudo pacman -S valkey',
  zypper: 'sudo zypper install valkey',
  apk: 'sudo apk add valkey'
}

/**
 * Finds a Redis or Valkey server of version 7 or later: the system's, else one that was downloaded before,
 * else one that is downloaded now (`redis-download.ts`). `folder` is the data folder of the Redis. Throws an
 * `OperatorError` that says what to install where none can be had.
 */
export async function findRedis(folder: string, signal?: AbortSignal): Promise<RedisBinary> {
  const installed = await findInstalled()
  const recent = installed.find(({ major }) => major >= oldestMajor)
  const found = recent ?? (await findDownloadedRedis(folder))
  if (found) return found
  const [old] = installed
  const missing = old ? `${old.path} is version ${old.major}` : 'there is no redis-server'
  try {
    const downloaded = await downloadRedis(folder, missing, signal)
    if (downloaded) return downloaded
  } catch (error) {
    signal?.throwIfAborted()
    const reason = error instanceof Error ? error.message : String(error)
    const text = `${missing}, and none could be downloaded (${reason}): ${await advice()}`
    throw new OperatorError(text, { cause: error })
  }
  throw new OperatorError(`${missing}: ${await advice()}`)
}

async function findInstalled(): Promise<RedisBinary[]> {
  const folders = [...(process.env['PATH'] ?? '').split(':').filter(Boolean), ...moreFolders]
  const paths = redisNames.flatMap(name => folders.map(folder => join(folder, name)))
  const found: RedisBinary[] = []
  for (const path of new Set(paths)) {
    const binary = (await isExecutable(path)) ? await openRedisBinary(path).catch(() => undefined) : undefined
    if (binary) found.push(binary)
  }
  return found
}

async function advice(): Promise<string> {
  const what = `install Redis or Valkey ${oldestMajor} or later`
  for (const [manager, command] of Object.entries(installCommands)) {
    if (await isInPath(manager)) return `${what} (${command}), or set REDIS_URL`
  }
  return `${what}, or set REDIS_URL`
}
