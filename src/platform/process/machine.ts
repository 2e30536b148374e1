import { readFile } from 'node:fs/promises'
import { cpus, freemem, totalmem } from 'node:os'

/** Ticks since the machine was started. */
export interface CpuTimes {
  readonly total: number
  readonly idle: number
  readonly ioWait: number
  readonly steal: number
}

/** Bytes of memory. Where the system does not tell them, all but total, free and used are 0. */
export interface MemoryUsage {
  readonly total: number
  readonly free: number
  readonly used: number
  readonly buffers: number
  readonly cached: number
  readonly reclaimable: number
  readonly shared: number
  readonly swapTotal: number
  readonly swapFree: number
}

/** Counters since the interface was started, by the names of the kernel. */
export interface NetworkCounters {
  readonly name: string
  readonly received: TrafficCounters
  readonly transmitted: TrafficCounters
}

interface TrafficCounters {
  readonly bytes: number
  readonly [counter: string]: number
}

/** Reads a file of `/proc`; null on other systems than Linux. */
const readProc = (name: string): Promise<string | null> => readFile(`/proc/${name}`, 'utf8').catch(() => null)

/** Reads the times of all CPUs together and of each one. */
export async function readCpuTimes(): Promise<{
  readonly total: CpuTimes
  readonly cores: readonly CpuTimes[]
}> {
  const text = await readProc('stat')
  return text === null ? readPortableCpuTimes() : parseCpuTimes(text)
}

/** Parses `/proc/stat`. */
export function parseCpuTimes(text: string) {
  const lines = text.split('\n').filter(line => line.startsWith('cpu'))
  const [total = noTimes, ...cores] = lines.map(line => {
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are contained in user.
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number)
    const [, , , idle = 0, ioWait = 0, , , steal = 0] = ticks
    return { total: ticks.reduce((sum, each) => sum + each, 0), idle, ioWait, steal }
  })
  return { total, cores }
}

const noTimes: CpuTimes = { total: 0, idle: 0, ioWait: 0, steal: 0 }

function readPortableCpuTimes() {
  const cores = cpus().map(({ times }) => ({
    total: Object.values(times).reduce((sum, each) => sum + each, 0),
    idle: times.idle,
    ioWait: 0,
    steal: 0
  }))
  const sum = (of: 'total' | 'idle') => cores.reduce((all, core) => all + core[of], 0)
  return { total: { ...noTimes, total: sum('total'), idle: sum('idle') }, cores }
}

/** Reads how much memory is used. */
export async function readMemory(): Promise<MemoryUsage> {
  const text = await readProc('meminfo')
  if (text !== null) return parseMemory(text)
  const [total, free] = [totalmem(), freemem()]
  return {
    total,
    free,
    used: total - free,
    buffers: 0,
    cached: 0,
    reclaimable: 0,
    shared: 0,
    swapTotal: 0,
    swapFree: 0
  }
}

/** Parses `/proc/meminfo`. Memory that the kernel frees on demand does not count as used. */
export function parseMemory(text: string): MemoryUsage {
  const values = new Map(
    [...text.matchAll(/^(\w+):\s+(\d+) kB$/gm)].map(([, name, kib]) => [name, Number(kib) * 1_024])
  )
  const read = (name: string) => values.get(name) ?? 0
  const [total, free] = [read('MemTotal'), read('MemFree')]
  const [buffers, cached, reclaimable] = [read('Buffers'), read('Cached'), read('SReclaimable')]
  const shared = read('Shmem')
  return {
    total,
    free,
    used: Math.max(0, total - free - buffers - cached - reclaimable + shared),
    buffers,
    cached,
    reclaimable,
    shared,
    swapTotal: read('SwapTotal'),
    swapFree: read('SwapFree')
  }
}

/** Reads the counters of the network interfaces, without the loopback; none on other systems than Linux. */
export async function readNetworkCounters(): Promise<readonly NetworkCounters[]> {
  return parseNetworkCounters((await readProc('net/dev')) ?? '')
}

const received = ['bytes', 'packets', 'errs', 'drop', 'fifo', 'frame', 'compressed', 'multicast'] as const
const transmitted = ['bytes', 'packets', 'errs', 'drop', 'fifo', 'frame', 'carrier', 'compressed'] as const

/** Parses `/proc/net/dev`. */
export function parseNetworkCounters(text: string): readonly NetworkCounters[] {
  const lines = [...text.matchAll(/^\s*([^\s:]+):\s*(.+)$/gm)]
  return lines.flatMap(([, name = '', rest = '']) => {
    if (name === 'lo') return []
    const counts = rest.trim().split(/\s+/).map(Number)
    const named = (names: readonly string[], from: number): TrafficCounters => ({
      bytes: 0,
      ...Object.fromEntries(names.map((each, index) => [each, counts[from + index] ?? 0]))
    })
    return [{ name, received: named(received, 0), transmitted: named(transmitted, received.length) }]
  })
}
