import { spawnSync } from 'node:child_process'

const canPin = spawnSync('taskset', ['--version']).status === 0

/** The server of a comparison has one core, everything else the other. */
export const serverCore = 0
export const loadCore = 1

/**
 * A command line that keeps to one core, where `taskset` is there (Linux); else the command line as it is.
 */
export function pinned(core: number, command: readonly string[]): [string, ...string[]] {
  const [program = '', ...args] = command
  return canPin ? ['taskset', '-c', String(core), program, ...args] : [program, ...args]
}

/** Moves a running process with all its threads to one core. */
export function pin(core: number, pid: number): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(pid)])
}
