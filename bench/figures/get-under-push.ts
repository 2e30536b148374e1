import { setTimeout as wait } from 'node:timers/promises'

import { nowMs } from '../clock.ts'
import { readCpuSeconds } from '../cpu.ts'
import { type ProgramOnAir, startProgramOnAir } from '../on-air.ts'
import { pollAtConstantRate } from '../polls.ts'
import { runs, seconds } from '../settings.ts'
import { openReceiver } from '../sockets/receivers.ts'
import { formatNumber, formatSpread, quantile } from '../statistics.ts'
import { printTable } from '../table.ts'
import { subscriberTarget } from './subscribers.ts'

const port = 18_241
const subscribedStation = 1
const polledStation = 2
const sockets = 5_000
const changesPerSecond = 10
const pollsPerSecond = 500
const settleMs = 1_000

interface GetLatency {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly serverCores: number
  readonly frames: number
}

/**
 * Measures GET of one station at a constant rate, alone and while 5,000 sockets receive 10 changes a second.
 */
export async function measureGetUnderPush(): Promise<void> {
  const program = await startProgramOnAir(port, { stations: 10 })
  const receiver = openReceiver({ isLowPriority: true })
  let total = 100_000
  const isChanging = { now: false }
  const alone: GetLatency[] = []
  const duringPush: GetLatency[] = []
  try {
    const target = subscriberTarget(program, [subscribedStation])
    await poll(program)
    for (let run = 0; run < runs; run++) {
      await receiver.run({ type: 'open', target, count: 0 })
      await wait(settleMs)
      alone.push(await measure())
      await receiver.run({ type: 'open', target, count: sockets })
      isChanging.now = true
      const changing = changeListeners()
      await wait(settleMs)
      duringPush.push(await measure())
      isChanging.now = false
      await changing
    }
  } finally {
    await receiver.close()
    await program.stop()
  }
  report(alone, duringPush)

  async function measure(): Promise<GetLatency> {
    await receiver.run({ type: 'count', sampling: { marker: '"offset":', isLast: true, every: sockets } })
    const cpuBefore = readCpuSeconds(program.serverPid())
    const fromMs = nowMs()
    const latencies = await poll(program)
    const elapsedSeconds = (nowMs() - fromMs) / 1_000
    const { frames } = await receiver.run({ type: 'read' })
    return {
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
      max: quantile(latencies, 1),
      serverCores: (readCpuSeconds(program.serverPid()) - cpuBefore) / elapsedSeconds,
      frames: frames / elapsedSeconds
    }
  }

  async function changeListeners(): Promise<void> {
    const running: Promise<void>[] = []
    const fromMs = nowMs()
    for (let each = 0; isChanging.now; each++) {
      await wait(Math.max(0, fromMs + (each * 1_000) / changesPerSecond - nowMs()))
      running.push(program.reportListeners(subscribedStation, ++total))
    }
    await Promise.all(running)
  }
}

function poll({ baseUrl }: ProgramOnAir): Promise<readonly number[]> {
  return pollAtConstantRate(`${baseUrl}/api/nowplaying/${polledStation}`, {
    connections: 16,
    rate: pollsPerSecond
  })
}

function report(alone: readonly GetLatency[], duringPush: readonly GetLatency[]): void {
  console.log(`\nGET of one station at ${pollsPerSecond}/s, ${runs} runs of ${seconds} s`)
  const row = (name: string, measured: readonly GetLatency[]) => {
    const of = (field: keyof GetLatency) => measured.map(each => each[field])
    return [
      name,
      formatSpread(of('p50'), 2),
      formatSpread(of('p99'), 2),
      formatSpread(of('max'), 1),
      formatSpread(of('frames')),
      formatSpread(of('serverCores'), 2)
    ]
  }
  printTable(
    ['', 'p50 ms', 'p99 ms', 'max ms', 'frames/s', 'cores: server'],
    [
      row('alone', alone),
      row(`while ${formatNumber(sockets)} sockets receive ${changesPerSecond} changes/s`, duringPush)
    ]
  )
}
