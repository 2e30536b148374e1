import { readFileSync } from 'node:fs'
import { cpus, loadavg, release } from 'node:os'

/** Clock ticks per second of /proc; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100
const quietCores = 0.1

/**
 * Prints what a result has to be read with: date, machine, and whether it is idle. Linux only. The function
 * it gives prints, once all processes of the bench have ended, how much of the machine others used meanwhile.
 */
export function describeMachine(command: string): () => void {
  const [cpu] = cpus()
  const load = loadavg()[0] ?? 0
  console.log(
    `${command}, ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores (${cpu?.model.trim()}), Linux ${release()}, Node ${process.versions.node}, load ${load.toFixed(2)} before`
  )
  const before = readSeconds()
  const fromMs = Date.now()
  return () => {
    const after = readSeconds()
    const elapsed = (Date.now() - fromMs) / 1_000
    // The clock of /proc ticks too slowly for less.
    if (elapsed < 1) return
    const others = (after.busy - before.busy - (after.own - before.own)) / elapsed
    const stolen = (after.stolen - before.stolen) / elapsed
    const isQuiet = others + stolen < quietCores
    console.log(
      `Others used ${Math.max(0, others).toFixed(2)} cores meanwhile, and ${stolen.toFixed(2)} were not given to this machine${isQuiet ? '' : ': READ THE RESULTS AS INDICATIONS'}`
    )
  }
}

/** CPU seconds of all processes, of this one and those it saw the end of, and those the host kept back. */
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
