import { readFileSync } from 'node:fs'

import { readProcess, readProcessTree } from '../test/support/process-tree.ts'

/**
 * Returns the CPU seconds of a process and its descendants so far, by role. One that has ended has that of its parent.
 * Linux only.
 */
export function readCpuByRole(rootPid: number): Record<string, number> {
  const totals: Record<string, number> = {}
  for (const { command, seconds, endedSeconds } of readProcessTree(rootPid)) {
    const role = parseRole(command)
    totals[role] = (totals[role] ?? 0) + seconds + endedSeconds
  }
  return totals
}

/** Returns the CPU seconds (user and system) of a process and its descendants so far. Linux only. */
export function readCpuSeconds(pid: number): number {
  return readProcessTree(pid).reduce((sum, { seconds, endedSeconds }) => sum + seconds + endedSeconds, 0)
}

/**
 * Returns the memory of a process and its descendants in bytes (PSS: shared pages are counted once). Kernel
 * memory, such as socket buffers, is not included. Linux only.
 */
export function readMemoryBytes(pid: number): number {
  return readProcessTree(pid).reduce((sum, each) => sum + readOwnMemory(each.pid), 0)
}

/** Finds the descendant of a process that has a role. Throws if there is none. */
export function findPid(rootPid: number, role: string): number {
  const found = readProcessTree(rootPid).find(({ command }) => parseRole(command) === role)
  if (!found) throw new Error(`process ${rootPid} has no ${role} process`)
  return found.pid
}

/** Returns the CPU seconds of the children of this process that have exited. Linux only. */
export function readEndedChildrenCpu(): number {
  return readProcess('self').reduce((sum, { endedSeconds }) => sum + endedSeconds, 0)
}

function readOwnMemory(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024
}

function parseRole(command: string): string {
  if (command.includes('workers/main')) return 'workers'
  if (command.includes('src/server')) return 'server'
  if (/redis-server|valkey-server/.test(command)) return 'Redis'
  if (command.includes('postgres')) return 'Postgres'
  return 'other'
}
