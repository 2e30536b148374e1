import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second of /proc/PID/stat; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/** CPU seconds of a process and everything below it so far, by role. Linux only. */
export function cpuSeconds(rootPid: number): Record<string, number> {
  const totals: Record<string, number> = {}
  for (const { role, seconds } of family(rootPid)) totals[role] = (totals[role] ?? 0) + seconds
  return totals
}

/** CPU seconds, user and system, of a process and everything below it so far. Linux only. */
export function cpuOf(pid: number): number {
  return family(pid).reduce((sum, { seconds }) => sum + seconds, 0)
}

/**
 * Bytes of memory of a process and everything below it, shared pages counted once. What the kernel keeps for
 * a connection is not in it. Linux only.
 */
export function memoryOf(pid: number): number {
  return family(pid).reduce((sum, each) => sum + ownMemory(each.pid), 0)
}

/** Below a process, the one that plays a role. Throws if there is none. */
export function pidOf(rootPid: number, role: string): number {
  const found = family(rootPid).find(each => each.role === role)
  if (!found) throw new Error(`there is no process ${role}`)
  return found.pid
}

/** CPU seconds of the processes this one started and saw the end of. Linux only. */
export function endedChildrenSeconds(): number {
  const fields = fieldsOf(readFileSync('/proc/self/stat', 'utf8'))
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}

function family(rootPid: number) {
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

function ownMemory(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024
}

function readProcess(pid: string) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    const fields = fieldsOf(stat)
    const seconds = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
    return [{ pid: Number(pid), parent: Number(fields[1]), role: roleOf(command), seconds }]
  } catch {
    return []
  }
}

/** The fields after the name, which stands in parentheses and may itself hold blanks and parentheses. */
const fieldsOf = (stat: string) => stat.slice(stat.lastIndexOf(')') + 2).split(' ')

function roleOf(command: string): string {
  if (command.includes('workers/main')) return 'workers'
  if (command.includes('src/server')) return 'server'
  if (/redis-server|valkey-server/.test(command)) return 'redis'
  if (command.includes('postgres')) return 'postgres'
  return 'other'
}
