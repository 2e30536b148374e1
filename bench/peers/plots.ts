import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { type Chart, renderChart, type Series } from '../chart.ts'
import { median } from '../statistics.ts'
import type { GetResult } from './get.ts'
import type { PushResult } from './push.ts'

/** Draws two plots per document: requests per second, and latency, by number of connections. */
export async function drawGet(results: readonly GetResult[]): Promise<void> {
  for (const document of new Set(results.map(result => result.document))) {
    const points = results
      .filter(result => result.document === document)
      .map(({ peer, connections, measured }) => ({ peer, at: connections, measured }))
    const name = document === 'one station' ? 'get-one' : 'get-all'
    await draw(`${name}-throughput`, points, {
      title: `GET ${document}: requests per second`,
      x: 'connections',
      y: { label: 'requests per second', isLogarithmic: false },
      lines: [{ suffix: '', of: run => run.perSecond }]
    })
    await draw(`${name}-latency`, points, {
      title: `GET ${document}: latency`,
      x: 'connections',
      y: { label: 'ms', isLogarithmic: true },
      lines: latencies
    })
  }
}

/** Draws the latency of a publication, and the deliveries per second of CPU time, by number of sockets. */
export async function drawPush(results: readonly PushResult[]): Promise<void> {
  const points = results.map(({ peer, sockets, measured }) => ({ peer, at: sockets, measured }))
  await draw('push-throughput', points, {
    title: 'Push: deliveries per second of CPU time',
    x: 'sockets',
    y: { label: 'deliveries per second of CPU time', isLogarithmic: false },
    lines: [{ suffix: '', of: run => 1e6 / run.cpuMicroseconds }]
  })
  await draw('push-latency', points, {
    title: 'Push: latency from the request to the frame',
    x: 'sockets',
    y: { label: 'ms', isLogarithmic: true },
    lines: latencies
  })
}

interface Point<Run> {
  readonly peer: string
  readonly at: number
  readonly measured: readonly Run[]
}

interface Shape<Run> {
  readonly title: string
  readonly x: string
  readonly y: Chart['y']
  readonly lines: readonly { suffix: string; isDashed?: boolean; of: (run: Run) => number }[]
}

const latencies = [
  { suffix: ' p50', of: (run: { p50: number }) => run.p50 },
  { suffix: ' p99', isDashed: true, of: (run: { p99: number }) => run.p99 }
]

async function draw<Run>(name: string, points: readonly Point<Run>[], shape: Shape<Run>): Promise<void> {
  if (points.length === 0) return
  const ticks = [...new Set(points.map(({ at }) => at))]
  const peers = [...new Set(points.map(({ peer }) => peer))]
  const series = peers.flatMap((peer, group) =>
    shape.lines.map(({ suffix, isDashed = false, of }): Series => {
      const values = ticks.map(tick => {
        const point = points.find(each => each.peer === peer && each.at === tick)
        return median(point?.measured.map(of) ?? [])
      })
      return { name: peer + suffix, group, isDashed, values }
    })
  )
  const folder = new URL('../plots/', import.meta.url)
  await mkdir(folder, { recursive: true })
  const chart = { title: shape.title, x: { label: shape.x, ticks }, y: shape.y, series }
  await writeFile(fileURLToPath(new URL(`${name}.svg`, folder)), renderChart(chart))
}
