import { setTimeout as wait } from 'node:timers/promises'

import { nowMs } from '../clock.ts'
import { cpuOf } from '../cpu.ts'
import { runs, seconds, whole, wholes } from '../settings.ts'
import type { Receiver } from '../sockets/receivers.ts'
import { number, quantile, ratio, sorted, spread } from '../statistics.ts'
import { printTable } from '../table.ts'
import type { Publication } from './publication.ts'
import type { PushServer } from './push-servers.ts'

interface Measured {
  /** Arrived, of those that should have. */
  readonly delivered: number
  readonly deliveriesPerSecond: number
  readonly cpuMicroseconds: number
  /** The same without what a publication costs that nobody receives. */
  readonly netMicroseconds: number
  /** Cores in use: the server's, and the receiver's. */
  readonly serverCores: number
  readonly loadCores: number
  /** Milliseconds from the request to the frame. */
  readonly p50: number
  readonly p99: number
}

export interface PushResult {
  readonly peer: string
  readonly sockets: number
  readonly measured: readonly Measured[]
}

const socketCounts = wholes('SOCKETS', [1_000, 5_000, 10_000])
/** Publications in a second. */
const rate = whole('RATE', 10)
const firstTotal = 100_000
const lookers = 100
const warmUp = 10
const quietMs = 500
const settleMs = 30_000
const aloneSeconds = 3

let lastTotal = firstTotal

/** Publishes at a constant rate to more and more sockets, each server in turn. */
export async function measurePush(
  servers: readonly PushServer[],
  publication: Publication,
  receiver: Receiver
): Promise<readonly PushResult[]> {
  const alone = new Map<PushServer, number>()
  for (const server of servers) alone.set(server, await costAlone(server))
  const costs = [...alone].map(([{ name }, cpu]) => `${name} ${number(cpu * 1e6)} us`)
  console.log(
    `\nPush: ${number(publication.bytes)} bytes, ${rate} publications/s, ${runs} runs of ${seconds} s`
  )
  console.log(`A publication that nobody receives: ${costs.join(', ')} of CPU`)
  const results: PushResult[] = []
  for (const sockets of socketCounts) {
    const rows = servers.map(server => ({ server, measured: new Array<Measured>() }))
    for (let each = 0; each < runs; each++) {
      for (const { server, measured } of rows)
        measured.push(await measure(server, sockets, receiver, alone.get(server) ?? 0))
    }
    const measured = rows.map(({ server, measured: own }) => ({ peer: server.name, sockets, measured: own }))
    report(measured)
    results.push(...measured)
  }
  return results
}

/** CPU seconds of a publication that nobody receives. */
async function costAlone(server: PushServer): Promise<number> {
  await publishFor(server, 1)
  const before = cpuOf(server.pid)
  const sent = await publishFor(server, aloneSeconds)
  return (cpuOf(server.pid) - before) / sent.size
}

async function measure(
  server: PushServer,
  sockets: number,
  receiver: Receiver,
  alone: number
): Promise<Measured> {
  await receiver.ask({ type: 'open', target: server.target, count: sockets })
  await publishFor(server, warmUp / rate)
  await wait(500)
  await receiver.ask({
    type: 'count',
    marks: { marker: server.marker, isLast: false, every: Math.ceil(sockets / lookers) }
  })
  const { cpuSeconds: loadBefore } = await receiver.ask({ type: 'read' })
  const before = cpuOf(server.pid)
  const fromMs = nowMs()
  const sent = await publishFor(server, seconds)
  const expected = sent.size * sockets
  await untilQuiet(receiver, expected)
  const cpu = cpuOf(server.pid) - before
  const tookSeconds = (nowMs() - fromMs) / 1_000
  const answer = await receiver.ask({ type: 'read' })
  const loadCpu = answer.cpuSeconds - loadBefore
  await receiver.ask({ type: 'open', target: server.target, count: 0 })
  const latencies = sorted(
    answer.samples.flatMap(([, total, atMs]) => {
      const sentMs = sent.get(total)
      return sentMs === undefined ? [] : [atMs - sentMs]
    })
  )
  return {
    delivered: answer.frames / expected,
    deliveriesPerSecond: answer.frames / tookSeconds,
    cpuMicroseconds: (cpu / answer.frames) * 1e6,
    netMicroseconds: ((cpu - alone * sent.size) / answer.frames) * 1e6,
    serverCores: cpu / tookSeconds,
    loadCores: loadCpu / tookSeconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99)
  }
}

/** Waits for all frames, or until no more come: a server may join publications. */
async function untilQuiet(receiver: Receiver, expected: number): Promise<void> {
  const deadline = nowMs() + settleMs
  for (let last = -1; nowMs() < deadline; await wait(quietMs)) {
    const { frames } = await receiver.ask({ type: 'read' })
    if (frames >= expected || frames === last) return
    last = frames
  }
}

/**
 * Gives when each publication was asked for, by its count of listeners. Does not wait for one before the
 * next.
 */
async function publishFor(server: PushServer, forSeconds: number): Promise<Map<number, number>> {
  const sent = new Map<number, number>()
  const running: Promise<void>[] = []
  const fromMs = nowMs()
  const count = Math.round(forSeconds * rate)
  for (let each = 0; each < count; each++) {
    await wait(Math.max(0, fromMs + (each * 1_000) / rate - nowMs()))
    const total = ++lastTotal
    sent.set(total, nowMs())
    running.push(server.publish(total))
  }
  await Promise.all(running)
  return sent
}

function report(results: readonly PushResult[]): void {
  const rows = results.map(({ peer, sockets, measured }) => {
    const of = (field: keyof Measured) => measured.map(each => each[field])
    const own = results.find(each => each.peer === 'Cuewire' && each.sockets === sockets)?.measured ?? []
    const isOwn = peer === 'Cuewire'
    return [
      number(sockets),
      peer,
      spread(of('cpuMicroseconds'), 1),
      isOwn
        ? ''
        : ratio(
            own.map(each => each.cpuMicroseconds),
            of('cpuMicroseconds')
          ),
      spread(of('netMicroseconds'), 1),
      spread(of('p50'), 1),
      spread(of('p99'), 1),
      spread(
        of('delivered').map(share => share * 100),
        1
      ),
      spread(of('serverCores'), 2),
      spread(of('loadCores'), 2)
    ]
  })
  printTable(
    [
      'sockets',
      'server',
      'CPU per delivery, us',
      'Cuewire: times as much',
      'us without the publication itself',
      'p50 ms',
      'p99 ms',
      'delivered %',
      'cores: server',
      'cores: receiver'
    ],
    rows
  )
}
