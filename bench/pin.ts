import { spawnSync } from 'node:child_process'

const canPin = spawnSync('taskset', ['--version']).status === 0

/** A command line that keeps to one core, where `taskset` is there (Linux); else the command line as it is. */
export function pinned(core: number, command: readonly string[]): [string, ...string[]] {
  const [program = '', ...args] = command
  return canPin ? ['taskset', '-c', String(core), program, ...args] : [program, ...args]
}
