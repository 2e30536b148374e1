import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second of /proc/PID/stat; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/** CPU seconds of a process and everything below it so far, by role. Linux only. */
export function cpuSeconds(rootPid: number): Record<string, number> {
  const processes = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(readProcess)
  const family = new Set([rootPid])
  for (let size = 0; size !== family.size;) {
    size = family.size
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid)
  }
  const totals: Record<string, number> = {}
  for (const { pid, role, seconds } of processes) {
    if (family.has(pid)) totals[role] = (totals[role] ?? 0) + seconds
  }
  return totals
}

/** CPU seconds of the processes this one started and saw the end of. Linux only. */
export function endedChildrenSeconds(): number {
  const fields = fieldsOf(readFileSync('/proc/self/stat', 'utf8'))
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
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
  if (command.includes('server.ts')) return 'server'
  if (/redis-server|valkey-server/.test(command)) return 'redis'
  if (command.includes('postgres')) return 'postgres'
  return 'other'
}
