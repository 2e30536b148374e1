import { readFileSync } from 'node:fs'
import { cpus, loadavg, release } from 'node:os'

/** Clock ticks per second in /proc: 100 on every Linux that Node supports. */
const ticksPerSecond = 100
const quietCores = 0.1

/**
 * Prints the date, the machine and its load. Linux only. The returned function prints how many cores other
 * processes used since then; call it when all processes of the benchmark have exited.
 */
export function printMachine(command: string): () => void {
  const [cpu] = cpus()
  const load = loadavg()[0] ?? 0
  console.log(
    `${command}, ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores (${cpu?.model.trim()}), Linux ${release()}, Node ${process.versions.node}, load average ${load.toFixed(2)}`
  )
  const before = readSeconds()
  const fromMs = Date.now()
  return () => {
    const after = readSeconds()
    const elapsed = (Date.now() - fromMs) / 1_000
    // The ticks of /proc are too coarse for shorter times.
    if (elapsed < 1) return
    const others = (after.busy - before.busy - (after.own - before.own)) / elapsed
    const stolen = (after.stolen - before.stolen) / elapsed
    const isQuiet = others + stolen < quietCores
    console.log(
      `other processes used ${Math.max(0, others).toFixed(2)} cores, other virtual machines ${stolen.toFixed(2)} (steal time)${isQuiet ? '' : `; the sum is ${quietCores} or more: RESULTS ARE NOT COMPARABLE`}`
    )
  }
}

/** CPU seconds of all processes, of this process with its exited children, and of steal time. */
function readSeconds() {
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0, stolen = 0] = readFileSync(
    '/proc/stat',
    'utf8'
  )
    .split('\n', 1)
    .join('')
    .split(/\s+/)
    .slice(1)
    .map(ticks => Number(ticks) / ticksPerSecond)
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const own = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) / ticksPerSecond, 0)
  return { busy: user + nice + system + interrupts + soft, own, stolen }
}
