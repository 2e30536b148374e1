import { setTimeout as wait } from 'node:timers/promises'

import { memoryOf } from '../cpu.ts'
import { runs } from '../settings.ts'
import type { Receiver } from '../sockets/receivers.ts'
import { number, ratio, spread } from '../statistics.ts'
import { printTable } from '../table.ts'
import { collectGarbage } from './garbage.ts'
import type { PushServer } from './push-servers.ts'

const few = 1_000
const many = 10_000
const warmUp = 100
const settleMs = 2_000

export interface Started {
  readonly servers: readonly PushServer[]
  readonly stop: () => Promise<void>
}

/**
 * Memory of servers at 0, 1,000 and 10,000 idle sockets. Each run has new processes: memory that once held
 * connections is kept for the next ones, and would count as nothing. `start` gives servers and how to end
 * them.
 */
export async function measureMemory(start: () => Promise<Started>, receiver: Receiver): Promise<void> {
  const results = new Map<string, number[][]>()
  for (let each = 0; each < runs; each++) {
    const { servers, stop } = await start()
    try {
      for (const server of servers) {
        await memoryAt(server, warmUp, receiver)
        const found: number[] = []
        for (const count of [0, few, many]) found.push(await memoryAt(server, count, receiver))
        results.set(server.name, [...(results.get(server.name) ?? []), found])
        await receiver.ask({ type: 'open', target: server.target, count: 0 })
      }
    } finally {
      await stop()
    }
  }
  console.log(`\nMemory of the process (PSS), ${runs} runs`)
  const own = perConnection(results.get('Cuewire') ?? [])
  printTable(
    [
      'server',
      'no socket, MB',
      `${number(few)} sockets, MB`,
      `${number(many)} sockets, MB`,
      'bytes per connection',
      'Cuewire: times as much'
    ],
    [...results].map(([name, measured]) => {
      const at = (index: number) => measured.map(each => each[index] ?? Number.NaN)
      const bytes = perConnection(measured)
      const times = name === 'Cuewire' ? '' : ratio(own, bytes)
      return [name, megabytes(at(0)), megabytes(at(1)), megabytes(at(2)), spread(bytes), times]
    })
  )
}

function perConnection(measured: readonly number[][]): number[] {
  return measured.map(([, first = Number.NaN, last = Number.NaN]) => (last - first) / (many - few))
}

async function memoryAt(server: PushServer, count: number, receiver: Receiver): Promise<number> {
  await receiver.ask({ type: 'open', target: server.target, count })
  await wait(settleMs)
  await collectGarbage(server)
  await wait(settleMs / 2)
  return memoryOf(server.pid)
}

const megabytes = (values: readonly number[]) =>
  spread(
    values.map(value => value / 1e6),
    1
  )
