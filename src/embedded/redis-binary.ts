import { runCommand } from './run-command.ts'

/** The names of the program, those to be preferred first. */
export const redisNames = ['redis-server', 'valkey-server'] as const
/** The oldest major version that works with BullMQ and sharded pub/sub. */
export const oldestMajor = 7

/** A Redis or Valkey server that runs on this machine. */
export interface RedisBinary {
  /** Absolute. */
  readonly path: string
  /**
   * The words before its arguments: its path, or `env`, the variables that only it may have, and its path.
   */
  readonly command: readonly string[]
  readonly major: number
}

/** Asks a server for its version. Throws an `Error` with the reason when it does not run here. */
export async function openRedisBinary(path: string, libraries: readonly string[] = []): Promise<RedisBinary> {
  const variables = libraries.length === 0 ? [] : [`LD_LIBRARY_PATH=${libraries.join(':')}`]
  const command = [...(variables.length === 0 ? [] : ['/usr/bin/env', ...variables]), path]
  const { stdout } = await runCommand([...command, '--version'], { deadlineMs: 5_000 })
  const major = majorIn(stdout)
  if (major === undefined) throw new Error(`${path} --version: ${stdout.trim()}`)
  return { path, command, major }
}

/** The major version in what `redis-server --version` or `valkey-server --version` writes. */
export function majorIn(text: string): number | undefined {
  const major = /\bv=(\d+)\./.exec(text)?.[1]
  return major === undefined ? undefined : Number(major)
}
