import { setTimeout as wait } from 'node:timers/promises'

import { nowMs } from '../clock.ts'
import { readCpuSeconds } from '../cpu.ts'
import { positiveInteger, positiveIntegers, runs, seconds } from '../settings.ts'
import type { Receiver } from '../sockets/receivers.ts'
import { formatNumber, formatRatio, formatSpread, quantile, sortAscending } from '../statistics.ts'
import { printTable } from '../table.ts'
import type { Publication } from './publication.ts'
import type { PushServer } from './push-servers.ts'

export interface PushMeasurement {
  /** Received frames divided by expected frames. */
  readonly delivered: number
  readonly deliveriesPerSecond: number
  readonly cpuMicroseconds: number
  /** The same without the cost of a publication that has no subscribers. */
  readonly netMicroseconds: number
  /** Average number of cores that the server and the receiver use. */
  readonly serverCores: number
  readonly loadCores: number
  /** Milliseconds from the request to the frame. */
  readonly p50: number
  readonly p99: number
}

export interface PushResult {
  readonly peer: string
  readonly sockets: number
  readonly measured: readonly PushMeasurement[]
}

const socketCounts = positiveIntegers('SOCKETS', [1_000, 5_000, 10_000])
/** Publications per second. */
const rate = positiveInteger('RATE', 10)
const firstTotal = 100_000
const sampledSockets = 100
const warmUpPublications = 10
const quietMs = 500
const settleMs = 30_000
const publishingCostSeconds = 3

let lastTotal = firstTotal

/**
 * Publishes at a constant rate with an increasing number of sockets. Each run measures all servers in turn.
 */
export async function measurePush(
  servers: readonly PushServer[],
  publication: Publication,
  receiver: Receiver
): Promise<readonly PushResult[]> {
  const publishingCosts = new Map<PushServer, number>()
  for (const server of servers) publishingCosts.set(server, await measurePublishingCost(server))
  const costs = [...publishingCosts].map(([{ name }, cpu]) => `${name} ${formatNumber(cpu * 1e6)} us`)
  console.log(
    `\nPush: ${formatNumber(publication.bytes)} bytes, ${rate} publications/s, ${runs} runs of ${seconds} s`
  )
  console.log(`CPU time of a publication without subscribers: ${costs.join(', ')}`)
  const results: PushResult[] = []
  for (const sockets of socketCounts) {
    const rows = servers.map(server => ({ server, measured: new Array<PushMeasurement>() }))
    for (let each = 0; each < runs; each++) {
      for (const { server, measured } of rows)
        measured.push(await measurePushRun(server, sockets, receiver, publishingCosts.get(server) ?? 0))
    }
    const measured = rows.map(({ server, measured: own }) => ({ peer: server.name, sockets, measured: own }))
    report(measured)
    results.push(...measured)
  }
  return results
}

/** Returns the CPU seconds of a publication without subscribers. */
async function measurePublishingCost(server: PushServer): Promise<number> {
  await publishFor(server.publish, rate, 1)
  const before = readCpuSeconds(server.pid)
  const sent = await publishFor(server.publish, rate, publishingCostSeconds)
  return (readCpuSeconds(server.pid) - before) / sent.size
}

/** Measures one run with this number of sockets. `publishingCost`: see `PushMeasurement`. */
async function measurePushRun(
  server: PushServer,
  sockets: number,
  receiver: Receiver,
  publishingCost: number
): Promise<PushMeasurement> {
  await receiver.run({ type: 'open', target: server.target, count: sockets })
  await publishFor(server.publish, rate, warmUpPublications / rate)
  await wait(500)
  await receiver.run({
    type: 'count',
    sampling: { marker: server.marker, isLast: false, every: Math.ceil(sockets / sampledSockets) }
  })
  const { cpuSeconds: loadBefore } = await receiver.run({ type: 'read' })
  const before = readCpuSeconds(server.pid)
  const fromMs = nowMs()
  const sent = await publishFor(server.publish, rate, seconds)
  const expected = sent.size * sockets
  await waitForFrames(receiver, expected)
  const cpu = readCpuSeconds(server.pid) - before
  const elapsedSeconds = (nowMs() - fromMs) / 1_000
  const received = await receiver.run({ type: 'read' })
  const loadCpu = received.cpuSeconds - loadBefore
  await receiver.run({ type: 'open', target: server.target, count: 0 })
  const latencies = sortAscending(
    received.samples.flatMap(([, total, atMs]) => {
      const sentMs = sent.get(total)
      return sentMs === undefined ? [] : [atMs - sentMs]
    })
  )
  return {
    delivered: received.frames / expected,
    deliveriesPerSecond: received.frames / elapsedSeconds,
    cpuMicroseconds: (cpu / received.frames) * 1e6,
    netMicroseconds: ((cpu - publishingCost * sent.size) / received.frames) * 1e6,
    serverCores: cpu / elapsedSeconds,
    loadCores: loadCpu / elapsedSeconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99)
  }
}

/** Waits until all frames have arrived, or no more arrive: a server may merge publications. */
export async function waitForFrames(receiver: Receiver, expected: number): Promise<void> {
  const deadline = nowMs() + settleMs
  for (let last = -1; nowMs() < deadline; await wait(quietMs)) {
    const { frames } = await receiver.run({ type: 'read' })
    if (frames >= expected || frames === last) return
    last = frames
  }
}

/**
 * Publishes at a constant rate, regardless of responses. Returns the time of each request, by the listener
 * count.
 */
export async function publishFor(
  publish: (total: number) => Promise<void>,
  perSecond: number,
  forSeconds: number
): Promise<Map<number, number>> {
  const sent = new Map<number, number>()
  const running: Promise<void>[] = []
  const fromMs = nowMs()
  const count = Math.round(forSeconds * perSecond)
  for (let each = 0; each < count; each++) {
    await wait(Math.max(0, fromMs + (each * 1_000) / perSecond - nowMs()))
    const total = ++lastTotal
    sent.set(total, nowMs())
    running.push(publish(total))
  }
  await Promise.all(running)
  return sent
}

function report(results: readonly PushResult[]): void {
  const rows = results.map(({ peer, sockets, measured }) => {
    const of = (field: keyof PushMeasurement) => measured.map(each => each[field])
    const own = results.find(each => each.peer === 'Cuewire' && each.sockets === sockets)?.measured ?? []
    const isOwn = peer === 'Cuewire'
    return [
      formatNumber(sockets),
      peer,
      formatSpread(of('cpuMicroseconds'), 1),
      isOwn
        ? ''
        : formatRatio(
            own.map(each => each.cpuMicroseconds),
            of('cpuMicroseconds')
          ),
      formatSpread(of('netMicroseconds'), 1),
      formatSpread(of('p50'), 1),
      formatSpread(of('p99'), 1),
      formatSpread(
        of('delivered').map(share => share * 100),
        1
      ),
      formatSpread(of('serverCores'), 2),
      formatSpread(of('loadCores'), 2)
    ]
  })
  printTable(
    [
      'sockets',
      'server',
      'CPU per delivery, us',
      'Cuewire / server',
      'CPU per delivery without the cost of publishing, us',
      'p50 ms',
      'p99 ms',
      'delivered %',
      'cores: server',
      'cores: receiver'
    ],
    rows
  )
}
