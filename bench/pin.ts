import { spawnSync } from 'node:child_process'

const hasTaskset = spawnSync('taskset', ['--version']).status === 0

/** The measured server runs on one core, everything else on the other. */
export const serverCore = 0
export const loadCore = 1

/** Returns a command line that runs on one core, or the same command line if `taskset` is not installed. */
export function pinCommand(core: number, command: readonly string[]): [string, ...string[]] {
  const [program = '', ...args] = command
  return hasTaskset ? ['taskset', '-c', String(core), program, ...args] : [program, ...args]
}

/** Moves a running process with all its threads to one core. Does nothing if `taskset` is not installed. */
export function pinProcess(core: number, pid: number): void {
  if (hasTaskset) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(pid)])
}
