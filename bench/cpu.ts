import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second in /proc/PID/stat: 100 on every Linux that Node supports. */
const ticksPerSecond = 100

/** Returns the CPU seconds of a process and its descendants so far, by role. Linux only. */
export function readCpuByRole(rootPid: number): Record<string, number> {
  const totals: Record<string, number> = {}
  for (const { role, seconds } of readProcessTree(rootPid)) totals[role] = (totals[role] ?? 0) + seconds
  return totals
}

/** Returns the CPU seconds (user and system) of a process and its descendants so far. Linux only. */
export function readCpuSeconds(pid: number): number {
  return readProcessTree(pid).reduce((sum, { seconds }) => sum + seconds, 0)
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
  const found = readProcessTree(rootPid).find(each => each.role === role)
  if (!found) throw new Error(`process ${rootPid} has no ${role} process`)
  return found.pid
}

/** Returns the CPU seconds of the children of this process that have exited. Linux only. */
export function readEndedChildrenCpu(): number {
  const fields = parseFields(readFileSync('/proc/self/stat', 'utf8'))
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}

function readProcessTree(rootPid: number) {
  const processes = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(readProcess)
  const pids = new Set([rootPid])
  for (let size = 0; size !== pids.size;) {
    size = pids.size
    for (const { pid, parent } of processes) if (pids.has(parent)) pids.add(pid)
  }
  return processes.filter(({ pid }) => pids.has(pid))
}

function readOwnMemory(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024
}

function readProcess(pid: string) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    const fields = parseFields(stat)
    const seconds = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
    return [{ pid: Number(pid), parent: Number(fields[1]), role: parseRole(command), seconds }]
  } catch {
    return []
  }
}

/**
 * Splits the fields after the process name, which is in parentheses and may contain spaces and parentheses.
 */
const parseFields = (stat: string) => stat.slice(stat.lastIndexOf(')') + 2).split(' ')

function parseRole(command: string): string {
  if (command.includes('workers/main')) return 'workers'
  if (command.includes('src/server')) return 'server'
  if (/redis-server|valkey-server/.test(command)) return 'Redis'
  if (command.includes('postgres')) return 'Postgres'
  return 'other'
}
