import { join } from 'node:path'

import { isExecutable, pathFolders, runCommand } from './run-command.ts'

/** Names of the server, preferred first. */
export const redisNames = ['redis-server', 'valkey-server'] as const
/** The oldest major version that supports BullMQ and sharded pub/sub. */
export const minRedisMajor = 7

/** A Redis or Valkey server that runs on this machine. */
export type RedisBinary = Awaited<ReturnType<typeof openRedisBinary>>

/**
 * Reads the version of the server at an absolute path. `command` sets `LD_LIBRARY_PATH` if it needs its own
 * libraries. Throws an `Error` with the reason if it does not run here.
 */
export async function openRedisBinary(path: string, libraries: readonly string[] = []) {
  const env = libraries.length === 0 ? [] : ['/usr/bin/env', `LD_LIBRARY_PATH=${libraries.join(':')}`]
  const command = [...env, path]
  const { stdout } = await runCommand([...command, '--version'], { timeoutMs: 5_000 })
  const major = parseRedisMajor(stdout)
  if (major === undefined) throw new Error(`${path} --version: ${stdout.trim()}`)
  return { path, command, major }
}

/** The major version in the output of `redis-server --version` or `valkey-server --version`. */
export function parseRedisMajor(text: string): number | undefined {
  const major = /\bv=(\d+)\./.exec(text)?.[1]
  return major === undefined ? undefined : Number(major)
}

// Folders of package managers that may be missing in PATH.
const moreFolders = ['/usr/local/bin', '/usr/sbin', '/opt/homebrew/bin']

/** Finds all servers that are installed on this machine. */
export async function findInstalledRedis(): Promise<RedisBinary[]> {
  const folders = [...pathFolders(), ...moreFolders]
  const paths = redisNames.flatMap(name => folders.map(folder => join(folder, name)))
  const found: RedisBinary[] = []
  for (const path of new Set(paths)) {
    const binary = (await isExecutable(path)) ? await openRedisBinary(path).catch(() => undefined) : undefined
    if (binary) found.push(binary)
  }
  return found
}
