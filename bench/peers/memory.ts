import { setTimeout as wait } from 'node:timers/promises'

import { readMemoryBytes } from '../cpu.ts'
import { runs } from '../settings.ts'
import type { Receiver } from '../sockets/receivers.ts'
import { formatNumber, formatRatio, formatSpread } from '../statistics.ts'
import { printTable } from '../table.ts'
import { collectGarbage } from './garbage.ts'
import type { PushServer } from './push-servers.ts'

const fewSockets = 1_000
const manySockets = 10_000
const warmUpSockets = 100
const settleMs = 2_000

export interface StartedServers {
  readonly servers: readonly PushServer[]
  readonly stop: () => Promise<void>
}

/**
 * Measures the memory of servers with 0, 1,000 and 10,000 idle sockets. Each run starts new processes,
 * because a process keeps the memory of closed connections and reuses it for new ones.
 */
export async function measureMemory(start: () => Promise<StartedServers>, receiver: Receiver): Promise<void> {
  const results = new Map<string, number[][]>()
  for (let each = 0; each < runs; each++) {
    const { servers, stop } = await start()
    try {
      for (const server of servers) {
        await measureMemoryAt(server, warmUpSockets, receiver)
        const found: number[] = []
        for (const count of [0, fewSockets, manySockets])
          found.push(await measureMemoryAt(server, count, receiver))
        results.set(server.name, [...(results.get(server.name) ?? []), found])
        await receiver.run({ type: 'open', target: server.target, count: 0 })
      }
    } finally {
      await stop()
    }
  }
  console.log(`\nMemory of the process (PSS), ${runs} runs`)
  const own = bytesPerConnection(results.get('Cuewire') ?? [])
  printTable(
    [
      'server',
      'no socket, MB',
      `${formatNumber(fewSockets)} sockets, MB`,
      `${formatNumber(manySockets)} sockets, MB`,
      'bytes per connection',
      'Cuewire / server'
    ],
    [...results].map(([name, measured]) => {
      const at = (index: number) => measured.map(each => each[index] ?? Number.NaN)
      const bytes = bytesPerConnection(measured)
      const ratio = name === 'Cuewire' ? '' : formatRatio(own, bytes)
      return [
        name,
        formatMegabytes(at(0)),
        formatMegabytes(at(1)),
        formatMegabytes(at(2)),
        formatSpread(bytes),
        ratio
      ]
    })
  )
}

function bytesPerConnection(measured: readonly number[][]): number[] {
  return measured.map(
    ([, first = Number.NaN, last = Number.NaN]) => (last - first) / (manySockets - fewSockets)
  )
}

async function measureMemoryAt(server: PushServer, count: number, receiver: Receiver): Promise<number> {
  await receiver.run({ type: 'open', target: server.target, count })
  await wait(settleMs)
  await collectGarbage(server)
  await wait(settleMs / 2)
  return readMemoryBytes(server.pid)
}

const formatMegabytes = (values: readonly number[]) =>
  formatSpread(
    values.map(value => value / 1e6),
    1
  )
