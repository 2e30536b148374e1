import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second in /proc/PID/stat: 100 on every Linux that Node supports. */
const ticksPerSecond = 100

export interface RunningProcess {
  readonly pid: number
  readonly parent: number
  /** The words of the command line, each ended by NUL. */
  readonly command: string
  /** User and system time so far, in seconds. */
  readonly seconds: number
  /** That of its ended children. */
  readonly endedSeconds: number
}

/** Returns a process and its descendants. Linux only. */
export function readProcessTree(root: number): readonly RunningProcess[] {
  const processes = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(readProcess)
  const pids = new Set([root])
  for (let size = 0; size !== pids.size;) {
    size = pids.size
    for (const { pid, parent } of processes) if (pids.has(parent)) pids.add(pid)
  }
  return processes.filter(({ pid }) => pids.has(pid))
}

/** Returns a process; none if it has ended. */
export function readProcess(pid: string): RunningProcess[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    // The name of the program, in parentheses, may contain anything.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [, parent = 0] = fields
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15)
    const seconds = (user + system) / ticksPerSecond
    const endedSeconds = (endedUser + endedSystem) / ticksPerSecond
    return [{ pid: Number(pid), parent, command, seconds, endedSeconds }]
  } catch {
    return []
  }
}
