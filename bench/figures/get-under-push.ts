import { setTimeout as wait } from 'node:timers/promises'

import { nowMs } from '../clock.ts'
import { cpuOf } from '../cpu.ts'
import { type OnAir, startOnAir } from '../on-air.ts'
import { pollSteadily } from '../polls.ts'
import { runs, seconds } from '../settings.ts'
import { openReceiver } from '../sockets/receivers.ts'
import { number, quantile, spread } from '../statistics.ts'
import { printTable } from '../table.ts'
import { followers } from './followers.ts'

const port = 18_241
const followed = 1
const polled = 2
const sockets = 5_000
const changesPerSecond = 10
const pollsPerSecond = 500
const settleMs = 1_000

interface Measured {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly serverCores: number
  readonly frames: number
}

/** GET of one station at a constant rate, alone and while 5,000 sockets receive 10 changes a second. */
export async function measureGetUnderPush(): Promise<void> {
  const program = await startOnAir(port, { stations: 10 })
  const receiver = openReceiver({ yields: true })
  let total = 100_000
  const isChanging = { now: false }
  const alone: Measured[] = []
  const under: Measured[] = []
  try {
    const target = followers(program, [followed])
    await poll(program)
    for (let run = 0; run < runs; run++) {
      await receiver.ask({ type: 'open', target, count: 0 })
      await wait(settleMs)
      alone.push(await measure())
      await receiver.ask({ type: 'open', target, count: sockets })
      isChanging.now = true
      const changing = change()
      await wait(settleMs)
      under.push(await measure())
      isChanging.now = false
      await changing
    }
  } finally {
    await receiver.close()
    await program.stop()
  }
  report(alone, under)

  async function measure(): Promise<Measured> {
    await receiver.ask({ type: 'count', marks: { marker: '"offset":', isLast: true, every: sockets } })
    const cpuBefore = cpuOf(program.serverPid())
    const fromMs = nowMs()
    const latencies = await poll(program)
    const tookSeconds = (nowMs() - fromMs) / 1_000
    const { frames } = await receiver.ask({ type: 'read' })
    return {
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
      max: quantile(latencies, 1),
      serverCores: (cpuOf(program.serverPid()) - cpuBefore) / tookSeconds,
      frames: frames / tookSeconds
    }
  }

  async function change(): Promise<void> {
    const running: Promise<void>[] = []
    const fromMs = nowMs()
    for (let each = 0; isChanging.now; each++) {
      await wait(Math.max(0, fromMs + (each * 1_000) / changesPerSecond - nowMs()))
      running.push(program.reportListeners(followed, ++total))
    }
    await Promise.all(running)
  }
}

function poll({ baseUrl }: OnAir): Promise<readonly number[]> {
  return pollSteadily(`${baseUrl}/api/nowplaying/${polled}`, { connections: 16, rate: pollsPerSecond })
}

function report(alone: readonly Measured[], under: readonly Measured[]): void {
  console.log(`\nGET of one station at ${pollsPerSecond}/s, ${runs} runs of ${seconds} s`)
  const row = (name: string, measured: readonly Measured[]) => {
    const of = (field: keyof Measured) => measured.map(each => each[field])
    return [
      name,
      spread(of('p50'), 2),
      spread(of('p99'), 2),
      spread(of('max'), 1),
      spread(of('frames')),
      spread(of('serverCores'), 2)
    ]
  }
  printTable(
    ['', 'p50 ms', 'p99 ms', 'max ms', 'frames/s', 'cores: server'],
    [
      row('alone', alone),
      row(`while ${number(sockets)} sockets receive ${changesPerSecond} changes/s`, under)
    ]
  )
}
