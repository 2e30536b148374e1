import { statfs } from 'node:fs/promises'
import { loadavg } from 'node:os'

import { formatSize } from '../../library/storage/size.ts'
import { readCpuTimes, readMemory, readNetworkCounters } from '../../platform/process/machine.ts'
import type { CpuTimes, NetworkCounters } from '../../platform/process/machine.ts'
import { openSingleFlight } from '../../platform/runtime/coalesce.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, exactObject, int64, string } from '../core/schemas.ts'

const fieldsOf = (...names: readonly string[]) =>
  exactObject(Object.fromEntries(names.map(name => [name, string])))

const bytesOf = (...names: readonly string[]) =>
  fieldsOf(...names.flatMap(name => [`${name}_bytes`, `${name}_readable`]))

const cpuSection = fieldsOf('name', 'usage', 'idle', 'io_wait', 'steal')
const speed = ['speed_bytes', 'speed_readable', 'packets', 'errs', 'drop', 'fifo', 'frame'] as const
const interfaceSchema = exactObject({
  interface_name: string,
  received: fieldsOf(...speed, 'compressed', 'multicast'),
  transmitted: fieldsOf(...speed, 'carrier', 'compressed')
})

/** Usage and speeds are measured over this time. */
const sampleMs = 500

const readable = (bytes: number) => formatSize(BigInt(Math.max(0, Math.round(bytes))))

const renderPercent = (part: number, whole: number) => (whole <= 0 ? '0' : ((100 * part) / whole).toFixed(2))

function renderCpu(name: string, before: CpuTimes | undefined, after: CpuTimes) {
  const since = (of: keyof CpuTimes) => after[of] - (before?.[of] ?? 0)
  const total = since('total')
  return {
    name,
    usage: renderPercent(total - since('idle') - since('ioWait') - since('steal'), total),
    idle: renderPercent(since('idle'), total),
    io_wait: renderPercent(since('ioWait'), total),
    steal: renderPercent(since('steal'), total)
  }
}

function renderInterface(before: NetworkCounters | undefined, after: NetworkCounters) {
  const render = (direction: 'received' | 'transmitted', seconds: number) => {
    const { bytes, ...counts } = after[direction]
    const perSecond = Math.max(0, Math.round((bytes - (before?.[direction].bytes ?? bytes)) / seconds))
    const texts = Object.entries(counts).map(([name, count]) => [name, String(count)])
    return {
      speed_bytes: String(perSecond),
      speed_readable: `${readable(perSecond)}/s`,
      ...Object.fromEntries(texts)
    }
  }
  return {
    interface_name: after.name,
    received: render('received', sampleMs / 1_000),
    // The kernel reports collisions in place of damaged frames.
    transmitted: render('transmitted', sampleMs / 1_000)
  }
}

const sample = async () => {
  const [cpu, network] = await Promise.all([readCpuTimes(), readNetworkCounters()])
  return { cpu, network }
}

type Measured = Awaited<ReturnType<typeof measure>>

async function measure(dataDir: string) {
  const before = await sample()
  await new Promise(resolve => setTimeout(resolve, sampleMs))
  const [after, memory, disk] = await Promise.all([
    sample(),
    readMemory(),
    statfs(dataDir).catch(() => statfs('/'))
  ])
  const diskTotal = disk.blocks * disk.bsize
  const diskFree = disk.bavail * disk.bsize
  const cores = after.cpu.cores.map((core, index) =>
    renderCpu(`Core ${index + 1}`, before.cpu.cores[index], core)
  )
  const byName = new Map(before.network.map(each => [each.name, each]))
  return {
    cpu: {
      total: renderCpu('total', before.cpu.total, after.cpu.total),
      cores,
      load: loadavg().map(Math.round)
    },
    memory: {
      total_bytes: String(memory.total),
      total_readable: readable(memory.total),
      free_bytes: String(memory.free),
      free_readable: readable(memory.free),
      buffers_bytes: String(memory.buffers),
      buffers_readable: readable(memory.buffers),
      cached_bytes: String(memory.cached),
      cached_readable: readable(memory.cached),
      sReclaimable_bytes: String(memory.reclaimable),
      sReclaimable_readable: readable(memory.reclaimable),
      shmem_bytes: String(memory.shared),
      shmem_readable: readable(memory.shared),
      used_bytes: String(memory.used),
      used_readable: readable(memory.used)
    },
    swap: renderSpace(memory.swapTotal, memory.swapFree),
    disk: renderSpace(diskTotal, diskFree),
    network: after.network.map(each => renderInterface(byName.get(each.name), each))
  }
}

const renderSpace = (total: number, free: number) => ({
  total_bytes: String(total),
  total_readable: readable(total),
  free_bytes: String(free),
  free_readable: readable(free),
  used_bytes: String(total - free),
  used_readable: readable(total - free)
})

/** Requests at the same time share one measurement. */
const measureOnce = openSingleFlight<Measured>()

/** Measures the machine of this process: CPU, memory, swap, the volume of `dataDir`, and network. */
export const measureMachine = (dataDir: string): Promise<Measured> =>
  measureOnce(() => measure(dataDir), dataDir)

export const serverStatsRoute = apiRoute('GET', '/api/admin/server/stats', 'view administration', {
  id: 'getServerStats',
  tag: 'Status',
  summary: 'CPU, memory, disk and network of the machine of this server; takes half a second',
  response: exactObject({
    cpu: exactObject({
      total: cpuSection,
      cores: arrayOf(cpuSection),
      load: { ...arrayOf(int64), description: 'Of 1, 5 and 15 minutes, rounded.' }
    }),
    memory: bytesOf('total', 'free', 'buffers', 'cached', 'sReclaimable', 'shmem', 'used'),
    swap: bytesOf('total', 'free', 'used'),
    disk: bytesOf('total', 'free', 'used'),
    network: arrayOf(interfaceSchema)
  }),
  handle: async (_, { config }) => jsonReply(await measureMachine(config.DATA_DIR))
})
